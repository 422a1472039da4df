// Chronoscope answers one question: how fast does X run on machine Y, and how
// far can the number be trusted?
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"chronoscope/internal/cli"
	"chronoscope/internal/load"
	"chronoscope/validate"
)

func main() {
	load.Serve() // this program once more may be a competitor
	validate.Serve()
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // which nohup does
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	err := cli.Run(ctx, os.Args[1:], cli.Streams{Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(cli.ExitStatus(err))
}
