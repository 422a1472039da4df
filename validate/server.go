package validate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// startServer starts a process that computes for programs of kind [Server], and returns the name of its socket. The
// server runs on the CPU of the programs, and ends with this process. It is of machine code, since a server in Go would
// compute for longer than its rounds take: the runtime's threads wake up meanwhile, on the same CPU.
func (p *programs) startServer(ctx context.Context) (name string, end func(), err error) {
	name = fmt.Sprintf("@chronoscope-%d-%d", os.Getpid(), time.Now().UnixNano())
	path := filepath.Join(p.folder, "server")
	if err = os.WriteFile(path, programFile(p.code.machine, servingCode(p.code, name)), 0o700); err != nil {
		return "", nil, err
	}
	c, err := startChild(p.cpu, exec.CommandContext(ctx, path))
	if err != nil {
		return "", nil, fmt.Errorf("validate: the server that computes for programs could not be started: %w", err)
	}
	for range 500 { // for at most a second
		if err = askServer(name); err == nil {
			return name, c.close, nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	c.close()
	return "", nil, fmt.Errorf("validate: the server that computes for programs did not answer within a second: %w", err)
}

// askServer is a client that asks for no rounds.
func askServer(name string) error {
	conn, err := net.Dial("unix", name)
	if err != nil {
		return err
	}
	for range turns {
		var rounds [8]byte
		_, err := conn.Write(rounds[:])
		if err == nil {
			_, err = conn.Read(rounds[:])
		}
		if err != nil {
			return errors.Join(err, conn.Close())
		}
	}
	return conn.Close()
}
