package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

func probe(args []string) int {
	if len(args) != 1 {
		return refuse("probe takes one URL")
	}
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "spoke: "+err.Error())
		return 1
	}
	defer response.Body.Close()
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		fmt.Fprintln(os.Stderr, "spoke: "+err.Error())
		return 1
	}
	if response.StatusCode/100 != 2 {
		fmt.Fprintln(os.Stderr, "spoke: "+response.Status)
		return 1
	}
	return 0
}

func cat(args []string) int {
	if len(args) != 1 {
		return refuse("cat takes one file")
	}
	content, err := os.ReadFile(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "spoke: "+err.Error())
		return 1
	}
	os.Stdout.Write(content)
	return 0
}

func sleep(args []string) int {
	if len(args) != 1 {
		return refuse("sleep takes a number of seconds")
	}
	seconds, err := strconv.ParseFloat(args[0], 64)
	if err != nil {
		return refuse("sleep takes a number of seconds, not %q", args[0])
	}
	// The first process of a container gets no default action for signals: without this it could only be killed.
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	select {
	case <-time.After(time.Duration(seconds * float64(time.Second))):
	case <-stop:
	}
	return 0
}
