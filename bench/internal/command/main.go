// Package command has what the commands of this module have in common.
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

// Main runs an experiment until it ends, or until the user ends it. It prints an error after the command's
// name, and exits with status 1. If the process was started as a competitor, it runs as one instead.
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
