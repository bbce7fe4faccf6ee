//go:build !wasip1

// Package log is the one function of a host.
package log

import (
	"fmt"
	"os"
)

// Write writes a line to standard error: there is no host in a test.
func Write(level uint32, text string) { fmt.Fprintf(os.Stderr, "log %d: %s\n", level, text) }
