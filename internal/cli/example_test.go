package cli_test

import (
	"errors"
	"fmt"

	"chronoscope/internal/cli"
)

// The process ends with 0 where all went well, and with 1 where something could not be measured.
func ExampleExitStatus() {
	fmt.Println(cli.ExitStatus(nil), cli.ExitStatus(errors.New("it could not be measured")))
	// Output: 0 1
}
