package cli

import (
	"context"
	"errors"
	"io"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/report"
)

// reportCard is the command without a subcommand.
func reportCard(ctx context.Context, f *flags, s Streams) error {
	set, err := f.check()
	if err != nil {
		return err
	}
	if set.format == report.CSV {
		return usagef("--format: the report card is no table: use text or json, or csv with a subcommand")
	}
	header := record.NewHeader("", machine.Identify(), set.seed)
	ranking, err := measureClocks(ctx, set, s, &header, nil)
	if err != nil && !errors.Is(err, errInterrupted) {
		return err
	}
	d := record.NewCard(header, ranking)
	if written := set.write(s.Out, func(w io.Writer, style report.Style) error {
		if set.format == report.JSON {
			return report.WriteJSON(w, d)
		}
		report.Card(w, d, style)
		return nil
	}); written != nil {
		return written
	}
	if err != nil {
		return err
	}
	return set.met(verdicts(d.Clocks))
}
