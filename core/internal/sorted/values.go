package sorted

import (
	"math"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// Values returns the places of values in increasing order, without those of NaNs. It uses the memory of the scratch.
func Values[T lanes.Float](values []T, sc *par.Scratch) []uint32 {
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if x := float64(v); x == x {
			lowest, highest = min(lowest, x), max(highest, x)
		}
	}
	order := par.Unset[uint32](&sc.Arena, len(values))[:0]
	if lowest > highest {
		return order
	}
	defer sc.Arena.Release(sc.Arena.Mark())
	la, words := newLayout[T](lowest, highest, len(values), 1), par.Unset[uint64](&sc.Arena, len(values))
	pack(words, la, values, par.Unset[uint32](&sc.Arena, len(values)), 0, 0)
	kept := words[:0]
	for i, v := range values {
		if v == v {
			kept = append(kept, words[i])
		}
	}
	sortCells(kept, []uint32{0, uint32(len(kept))}, &la, values)
	for _, record := range kept {
		order = append(order, uint32(la.Index(record)))
	}
	return order
}

// ForTies calls f for each run lo..hi-1 of two or more equal values. The values are in order.
func ForTies(values []float64, f func(lo, hi int)) {
	for lo := lanes.FirstTie(values); lo < len(values)-1; {
		hi := lo + 2
		for hi < len(values) && values[hi] == values[lo] {
			hi++
		}
		f(lo, hi)
		if lo = hi; lo < len(values) {
			lo += lanes.FirstTie(values[lo:])
		}
	}
}
