package cli_test

import (
	"errors"
	"fmt"

	"chronoscope/internal/cli"
)

// The process exits with 0 if all went well, and with 1 if something could not be measured.
func ExampleExitStatus() {
	fmt.Println(cli.ExitStatus(nil), cli.ExitStatus(errors.New("it could not be measured")))
	// Output: 0 1
}
