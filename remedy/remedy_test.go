package remedy_test

import (
	"fmt"
	"time"

	"chronoscope/remedy"
)

// A program that has flags sets Words to name them.
func ExampleOf() {
	fmt.Println("allow more:", remedy.Of(remedy.MaxTime, 2*time.Minute))
	library := remedy.Words
	defer func() { remedy.Words = library }()
	remedy.Words = func(remedy.Code) string { return "--max-time" }
	fmt.Println("allow more:", remedy.Of(remedy.MaxTime, 2*time.Minute))
	// Output:
	// allow more: MaxTime 2m0s
	// allow more: --max-time 2m0s
}
