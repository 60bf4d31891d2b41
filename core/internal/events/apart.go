package events

import (
	"unsafe"

	"github.com/libmode/libmode/core/internal/errs"
)

// Array is the memory of an argument, with its name in errors.
type Array struct {
	name      string
	low, high uintptr
}

// ArrayOf returns the memory of a slice.
func ArrayOf[E any](name string, slice []E) Array {
	low := uintptr(unsafe.Pointer(unsafe.SliceData(slice)))
	return Array{name, low, low + uintptr(len(slice))*unsafe.Sizeof(*new(E))}
}

// CheckApart returns an error for the first output that shares memory with an input or with an output before it: a call would read
// what it has just written, or overwrite what belongs to its caller.
func CheckApart(inputs []Array, outputs ...Array) error {
	known := inputs[:len(inputs):len(inputs)]
	for _, out := range outputs {
		for _, other := range known {
			if max(out.low, other.low) < min(out.high, other.high) {
				return errs.Of(errs.ErrLength, "%s overlaps %s in memory: give it an array of its own", out.name, other.name)
			}
		}
		known = append(known, out)
	}
	return nil
}

// Arrays returns the memory of the events.
func (ev *Events[T]) Arrays() []Array {
	all := []Array{ArrayOf("score", ev.Score), ArrayOf("weight", ev.Weight)}
	for _, mass := range ev.Variables() {
		all = append(all, ArrayOf("mass", mass))
	}
	if ev.Label != nil {
		all = append(all, ev.Label.array("label"))
	}
	if ev.Category != nil {
		all = append(all, ev.Category.array("category"))
	}
	return all
}
