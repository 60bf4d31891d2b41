package main

import (
	"unsafe"

	"github.com/libmode/libmode/core"
)

// region is the memory of an array.
type region struct {
	name      string
	low, high uintptr
}

func regionOf[E any](name string, array []E) region {
	low := uintptr(unsafe.Pointer(unsafe.SliceData(array)))
	return region{name, low, low + uintptr(len(array))*unsafe.Sizeof(*new(E))}
}

// inputs returns the memory of scores, masses and weights.
func inputs[F core.Float](ev core.Events[F]) []region {
	regions := []region{regionOf("score", ev.Score), regionOf("mass", ev.Mass), regionOf("weight", ev.Weight)}
	for _, mass := range ev.Masses {
		regions = append(regions, regionOf("mass", mass))
	}
	return regions
}

// apart returns an error for the first output that overlaps an input or an output before it: the call would read what it has
// just written.
func apart(known []region, outputs ...region) error {
	for _, out := range outputs {
		for _, other := range known {
			if out.low < other.high && other.low < out.high {
				return argumentError("%s overlaps %s in memory: give it an array of its own", out.name, other.name)
			}
		}
		known = append(known, out)
	}
	return nil
}
