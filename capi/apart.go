package main

import "unsafe"

// memory is the memory of an argument, with its name in errors.
type memory struct {
	name      string
	low, high uintptr
}

// memoryOf returns the memory of a slice.
func memoryOf[E any](name string, slice []E) memory {
	low := uintptr(unsafe.Pointer(unsafe.SliceData(slice)))
	return memory{name, low, low + uintptr(len(slice))*unsafe.Sizeof(*new(E))}
}

// one returns the memory of one number or struct; nil: none.
func one[E any](name string, p *E) memory {
	if p == nil {
		return memory{}
	}
	return memoryOf(name, unsafe.Slice(p, 1))
}

// checkApart returns an error for the first output that shares memory with an input or with an output before it: a call would read
// what it has just written, or overwrite what belongs to its caller.
func checkApart(inputs []memory, outputs ...memory) error {
	known := inputs[:len(inputs):len(inputs)]
	for _, out := range outputs {
		for _, other := range known {
			if max(out.low, other.low) < min(out.high, other.high) {
				return argumentError("%s overlaps %s in memory: give it an array of its own", out.name, other.name)
			}
		}
		known = append(known, out)
	}
	return nil
}
