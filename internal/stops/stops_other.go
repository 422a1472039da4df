//go:build !unix

package stops

import "time"

func watch() {}

func settle(time.Duration) {}
