// Package log is the one function of a host.
package log

import (
	"runtime"
	"unsafe"
)

//go:wasmimport crisol:stage/log@0.1.0 log
func hostLog(level uint32, text uintptr, length uint32)

// Write writes a line to the host's log.
func Write(level uint32, text string) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	data := unsafe.Pointer(unsafe.StringData(text))
	if data != nil {
		pinner.Pin(data)
	}
	hostLog(level, uintptr(data), uint32(len(text)))
}
