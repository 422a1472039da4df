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

// serve starts the server that computes for programs of kind [Server], unless it runs: it ends if a client is killed, as
// is a run that takes too long. The server runs on the CPU of the programs, and ends with this process. It is of machine
// code, since a server in Go would compute for longer than its rounds take: the runtime's threads wake up meanwhile, on
// the same CPU.
func (p *programs) serve(ctx context.Context) error {
	if p.serving != nil && askServer(p.server) == nil {
		return nil
	}
	p.endServer()
	path := filepath.Join(p.folder, "server")
	if err := os.WriteFile(path, programFile(p.code.machine, servingCode(p.code, p.server)), 0o700); err != nil {
		return fmt.Errorf("validate: the server that computes for programs: %w", err)
	}
	var err error
	if p.serving, err = startChild(p.cpu, exec.CommandContext(ctx, path)); err != nil {
		return fmt.Errorf("validate: the server that computes for programs could not be started: %w", err)
	}
	for range 500 { // for at most a second
		if err = askServer(p.server); err == nil {
			return nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	p.endServer()
	return fmt.Errorf("validate: the server that computes for programs did not answer within a second: %w", err)
}

// endServer ends the server, if it was started.
func (p *programs) endServer() {
	if p.serving != nil {
		p.serving.close()
		p.serving = nil
	}
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
