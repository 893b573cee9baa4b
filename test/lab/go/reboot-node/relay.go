package main

import (
	"fmt"
	"io"
	"net"
	"os"
)

// The node has a network of its own with nothing but a loopback interface: no packet of it can go anywhere. Sockets in a
// folder that both sides see carry single ports across, under the same number on both loopback addresses.

func relayOnMachine(s settings) error {
	for _, port := range s.ToMachine {
		if err := relay("unix", s.socket("to-machine", port), "tcp", loopback(port)); err != nil {
			return err
		}
	}
	for _, port := range s.ToNode {
		if err := relay("tcp", loopback(port), "unix", s.socket("to-node", port)); err != nil {
			return err
		}
	}
	return nil
}

func relayOnNode(s settings) error {
	for _, port := range s.ToMachine {
		if err := relay("tcp", loopback(port), "unix", s.socket("to-machine", port)); err != nil {
			return err
		}
	}
	for _, port := range s.ToNode {
		if err := relay("unix", s.socket("to-node", port), "tcp", loopback(port)); err != nil {
			return err
		}
	}
	return nil
}

func (s settings) socket(direction string, port int) string {
	return s.shared(fmt.Sprintf("%s-%d.sock", direction, port))
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

func relay(network, address, toNetwork, to string) error {
	if network == "unix" {
		if err := os.Remove(address); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go carry(from, toNetwork, to)
		}
	}()
	return nil
}

// carry copies both ways and passes on the end of each.
func carry(from net.Conn, network, address string) {
	defer from.Close()
	to, err := net.Dial(network, address)
	if err != nil {
		return
	}
	defer to.Close()
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			io.Copy(pair[1], pair[0])
			pair[1].(interface{ CloseWrite() error }).CloseWrite()
			done <- struct{}{}
		}()
	}
	<-done
	<-done
}
