// Package memory says how much memory a process may still have.
package memory

import (
	"runtime/debug"
	"runtime/metrics"
)

// Room is memory that there is, and what limits it.
type Room struct {
	Bytes uint64
	Limit string // as a user knows it
}

// Enough reports whether there is memory for so many bytes, as far as that can be known, and if not what there is. What the
// runtime keeps for later is given back before there is said to be none.
func Enough(bytes uint64) (Room, bool) {
	if room, known := free(); !known || bytes <= room.Bytes {
		return room, true
	}
	debug.FreeOSMemory()
	room, known := free()
	return room, !known || bytes <= room.Bytes
}

// idle is the address space that the runtime has and does not use.
func idle() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() + samples[1].Value.Uint64()
}
