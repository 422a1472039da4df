// Package command is the frame of a command of this module.
package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"chronoscope/internal/load"
)

// Main runs an experiment until it ends, or until the user ends it. An error is printed after the command's
// name and makes the exit status 1. A process that was started as a competitor is one instead.
func Main(name string, run func(ctx context.Context, args []string, stdout io.Writer) error) {
	load.Serve()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}
