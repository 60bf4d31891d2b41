package events

import (
	"math"
	"math/bits"
	"slices"

	"github.com/libmode/libmode/core/internal/lanes"
)

// sampleSize is the size of the sample from which cells are made, and sampleTail the number of its values on either side
// that may be outliers.
const (
	sampleSize = 1 << 7
	sampleTail = 4
)

// sampled is the number of values from which on a sample costs little.
const sampled = 1 << 12

// newCells returns cells for values inside [lo, hi]. They span this range. If there are many values or the range is infinite,
// they span most of a sample of the values, and a margin on either side: this fraction of the span.
func newCells[T Float](values []T, lo, hi float64, count int, margin float64) lanes.Cells[T] {
	if len(values) >= sampled || math.IsInf(hi-lo, 0) {
		lo, hi = sampleRange(values, lo, hi, margin)
	}
	scale := T(float64(count) / (hi - lo))
	if scale == 0 || !IsFinite(float64(scale)) {
		lo, scale = 0, 0 // the range is too narrow or infinite: one cell holds all
	}
	return lanes.Cells[T]{Lo: T(lo), Scale: scale, Last: T(count - 1)}
}

// sampleRange returns the range of most values inside [lo, hi], with a margin if there are many.
func sampleRange[T Float](values []T, lo, hi, margin float64) (from, to float64) {
	var room [sampleSize]float64
	sample, stride := room[:0], max(1, len(values)/sampleSize)
	for i := 0; i < len(values) && len(sample) < sampleSize; i += stride {
		if v := float64(values[i]); v >= lo && v <= hi && IsFinite(v) {
			sample = append(sample, v)
		}
	}
	if len(sample) == 0 {
		return lo, hi
	}
	if len(values) < sampled {
		return slices.Min(sample), slices.Max(sample)
	}
	slices.Sort(sample)
	for _, tail := range []int{min(sampleTail, len(sample)/4), 0} { // without outliers, or else with them
		if from, to = sample[tail], sample[len(sample)-1-tail]; from < to {
			break
		}
	}
	return max(lo, from-margin*(to-from)), min(hi, to+margin*(to-from))
}

// powerOfTwo returns the smallest power of two that is at least n, within limits.
func powerOfTwo(n, lowest, highest int) int {
	return min(max(1<<bits.Len(uint(n-1)), lowest), highest)
}
