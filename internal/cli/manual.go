package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newManual returns the command that writes manual pages, for package maintainers.
func newManual() *cobra.Command {
	return &cobra.Command{
		Use:     "manual DIRECTORY",
		Short:   "Write manual pages, one a command, in the form of man(7)",
		Example: "  chronoscope manual /usr/local/share/man/man1",
		Hidden:  true,
		Args:    takes(1, 1, "%[1]q needs the directory that the pages go to, and got %[3]q"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("making the directory of the manual pages: %w: choose another one", err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // no line about the generator and the date
			setTables(root)
			header := &doc.GenManHeader{Section: "1", Source: "chronoscope", Manual: "Chronoscope"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return fmt.Errorf("writing the manual pages: %w: choose a directory that can be written", err)
			}
			return nil
		},
	}
}

// setTables marks the tables in all commands' texts as code blocks. The pages are made from
// Markdown, which would otherwise join a table's lines to a paragraph.
func setTables(cmd *cobra.Command) {
	cmd.Long = withTables(cmd.Long)
	for _, sub := range cmd.Commands() {
		setTables(sub)
	}
}

// withTables makes a code block of lines that are indented by two spaces.
func withTables(text string) string {
	var all []string
	before := false
	for line := range strings.SplitSeq(text, "\n") {
		table := strings.HasPrefix(line, "  ")
		if table != before {
			all = append(all, "")
		}
		if table {
			line = "  " + line
		}
		all = append(all, line)
		before = table
	}
	return strings.Join(all, "\n")
}
