package radix

import (
	"math"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// Sorted are the records of values, in increasing order. NaNs have no record.
type Sorted struct {
	Layout // its Index is the place of a value
	Words  []uint64
}

// SortValues sorts values. It uses the memory of the scratch.
func SortValues[T lanes.Float](values []T, sc *par.Scratch) (so Sorted) {
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if x := float64(v); x == x {
			lowest, highest = min(lowest, x), max(highest, x)
		}
	}
	words := par.Make[uint64](&sc.Arena, len(values))
	if lowest > highest {
		return so
	}
	so.Layout = NewLayout[T](lowest, highest, len(values), 1)
	Records(words, &so.Layout, values, par.Make[uint32](&sc.Arena, len(values)), 0, 0)
	so.Words = words[:0]
	for i, v := range values {
		if v == v {
			so.Words = append(so.Words, words[i])
		}
	}
	Sort(so.Words, []uint32{0, uint32(len(so.Words))}, &so.Layout, values)
	return so
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
