package validate

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// startServer starts a process that computes for programs of kind [Server], and returns the name of
// its socket. The server runs on the CPU cpu, and ends with this process.
func startServer(ctx context.Context, cpu int) (name string, end func(), err error) {
	name = fmt.Sprintf("@chronoscope-%d-%d", os.Getpid(), time.Now().UnixNano())
	c, err := startRole(ctx, cpu, name, "GOMAXPROCS=1", "GOGC=off")
	if err != nil {
		return "", nil, fmt.Errorf("validate: the server that computes for programs could not be started: %w", err)
	}
	for range 500 { // for at most a second
		if conn, err := net.Dial("unix", name); err == nil {
			_ = conn.Close()
			return name, c.close, nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	c.close()
	return "", nil, fmt.Errorf("validate: the server that computes for programs did not answer within a second")
}

// serveClients listens at the socket with the given name and serves one client after the other. A
// request is a number of rounds of the chain, in eight bytes; the server sends it back when the rounds
// are done.
func serveClients(name string) error {
	go func() { // the pipe ends when the process that started this one ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	listener, err := net.Listen("unix", name)
	if err != nil {
		return fmt.Errorf("validate: the server's socket: %w", err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return fmt.Errorf("validate: the server's next client: %w", err)
		}
		var request [8]byte
		for {
			if _, err := io.ReadFull(conn, request[:]); err != nil {
				break
			}
			Chain.do(int(binary.LittleEndian.Uint64(request[:])))
			if _, err := conn.Write(request[:]); err != nil {
				break
			}
		}
		_ = conn.Close()
	}
}
