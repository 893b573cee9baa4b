module holdfast.dev/lab/spoke

go 1.22
