module holdfast.dev/lab/reboot-node

go 1.24
