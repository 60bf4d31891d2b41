package radix

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/lanes"
)

// SortValues returns records of the values, in increasing order, and their layout: Layout.Index is the place of a value.
// NaNs have no record. The records use the memory of words.
func SortValues[T lanes.Float](words []uint64, values []T) ([]uint64, Layout) {
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if x := float64(v); x < lowest {
			lowest = x
		}
		if x := float64(v); x > highest {
			highest = x
		}
	}
	words = slices.Grow(words[:0], len(values))
	if lowest > highest {
		return words, Layout{}
	}
	la := NewLayout[T](lowest, highest, len(values), 1)
	for i, v := range values {
		if v == v {
			words = append(words, Pack(&la, v, i))
		}
	}
	Sort(words, []uint32{0, uint32(len(words))}, &la, values)
	return words, la
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
