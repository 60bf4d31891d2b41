package events

import (
	"math"
	"math/bits"
	"slices"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/radix"
)

// Cells divide an interval. What lies outside falls into the first or the last cell. The cell of a number never
// decreases as the number grows, whatever rounding does.
type Cells[T Float] struct {
	lanes.Cells[T] // of equal width
	Count          int
	keyed          *keyCells // nil: cells have equal widths
}

func equalCells[T Float](lo, hi float64, count int) Cells[T] {
	scale := T(float64(count) / (hi - lo))
	if scale == 0 || !isFinite(float64(scale)) {
		lo, scale = 0, 0 // an interval of denormal, no or infinite width: one cell for all
	}
	return Cells[T]{Cells: lanes.Cells[T]{Lo: T(lo), Scale: scale, Last: T(count - 1)}, Count: count}
}

// oneCell returns a cell that has all numbers.
func oneCell[T Float]() Cells[T] { return Cells[T]{Count: 1} }

// Cell returns the cell of x.
func (ce *Cells[T]) Cell(x T) int {
	if ce.keyed != nil {
		return ce.keyed.of(radix.Key(float64(x)))
	}
	return int(ce.Of(x))
}

// cellsFor returns count cells, at most 2^15, over the interval [lo, hi] or, where that is infinite, over that of some of
// the values. The cells have equal widths, unless values crowd together in few of them, as with outliers or over many
// decades: then keys have.
func cellsFor[T Float](values []T, lo, hi float64, count int) Cells[T] {
	sampleLo, sampleHi := lo, hi
	if math.IsInf(hi-lo, 0) {
		sampleLo, sampleHi = math.Inf(1), math.Inf(-1)
		stride := max(1, len(values)/1024)
		for i := 0; i < len(values); i += stride {
			if v := float64(values[i]); isFinite(v) {
				sampleLo, sampleHi = min(sampleLo, v), max(sampleHi, v)
			}
		}
	}
	ce := equalCells[T](sampleLo, sampleHi, count)
	if len(values) < crowdedFrom {
		return ce
	}
	if keyed := ce.keyedFor(values, T(lo), T(hi)); keyed != nil {
		return Cells[T]{Count: count, keyed: keyed}
	}
	return ce
}

// crowdedFrom is a number of values below which it costs little that most share a cell.
const crowdedFrom = 1 << 12

// keyedFor returns cells of keys if the values inside [lo, hi] crowd together in few of these cells, and have more values
// than that.
func (ce *Cells[T]) keyedFor(values []T, lo, hi T) *keyCells {
	const size = 1 << 8 // of the sample
	filled, keys := map[uint32]bool{}, make([]uint64, 0, size)
	for i := range size {
		if v := values[len(values)/size*i]; v >= lo && v <= hi && v-v == 0 {
			filled[ce.Of(v)] = true
			keys = append(keys, radix.Key(float64(v)))
		}
	}
	slices.Sort(keys)
	distinct := len(slices.Compact(slices.Clone(keys)))
	if distinct < size/4 || len(filled) >= size/4 {
		return nil
	}
	const outside = size / 64 // so many of the sample on either side do not count
	from, to := keys[min(outside, len(keys)/4)], keys[len(keys)-1-min(outside, len(keys)/4)]
	return &keyCells{lo: from, shift: shiftTo(to-from, ce.Count), last: uint64(ce.Count - 1)}
}

// keyCells divide keys, see radix.Key: cells of a few binary digits, from the highest to the lowest power of two.
type keyCells struct {
	lo    uint64
	shift uint
	last  uint64
}

func (kc *keyCells) of(key uint64) int {
	if key < kc.lo {
		return 0
	}
	return int(min((key-kc.lo)>>(kc.shift&63), kc.last))
}

// shiftTo returns by how much numbers up to most are to be shifted to be below limit, a
// power of two.
func shiftTo(most uint64, limit int) uint {
	return uint(max(0, bits.Len64(most)-bits.Len64(uint64(limit-1))))
}

// PowerOfTwo returns the smallest power of two that is at least n, within limits.
func PowerOfTwo(n, lowest, highest int) int {
	p := lowest
	for p < n && p < highest {
		p *= 2
	}
	return p
}
