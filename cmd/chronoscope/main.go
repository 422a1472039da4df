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
	"chronoscope/internal/stops"
	"chronoscope/validate"
)

func main() {
	load.Serve() // if this process was started as a competitor, it does not return
	validate.Serve()
	stops.PassOn()
	// Without this, SIGPIPE kills the process when the reader of standard output is gone, before records are kept and
	// --cleanup has run. It is not ignored, because programs that are started would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), cli.Interruptions()...)
	err := cli.Run(ctx, os.Args[1:], cli.Streams{Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(cli.ExitStatus(err))
}
