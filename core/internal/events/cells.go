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
	if scale == 0 || !IsFinite(float64(scale)) {
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
			if v := float64(values[i]); IsFinite(v) {
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

// sampleSize is how many values are looked at.
const sampleSize = 1 << 8

// keyedFor returns cells of keys if the values inside [lo, hi] crowd together in few of these cells, and have more values
// than that.
func (ce *Cells[T]) keyedFor(values []T, lo, hi T) *keyCells {
	if !ce.areCrowded(values, lo, hi) {
		return nil
	}
	keys := make([]uint64, 0, sampleSize)
	for i := range sampleSize {
		if v := values[len(values)/sampleSize*i]; v >= lo && v <= hi && v-v == 0 {
			keys = append(keys, radix.Key(float64(v)))
		}
	}
	slices.Sort(keys)
	if len(slices.Compact(slices.Clone(keys))) < sampleSize/4 {
		return nil
	}
	outside := min(sampleSize/64, len(keys)/4) // so many of the sample on either side do not count
	from, to := keys[outside], keys[len(keys)-1-outside]
	return &keyCells{lo: from, shift: shiftTo(to-from, ce.Count), last: uint64(ce.Count - 1)}
}

// areCrowded reports whether the sample lies in few cells.
func (ce *Cells[T]) areCrowded(values []T, lo, hi T) bool {
	var seen [1 << 15 / 64]uint64
	filled := 0
	for i := range sampleSize {
		if v := values[len(values)/sampleSize*i]; v >= lo && v <= hi {
			c := ce.Of(v)
			filled += int(^seen[c/64] >> (c % 64) & 1)
			if seen[c/64] |= 1 << (c % 64); filled >= sampleSize/4 {
				return false
			}
		}
	}
	return true
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
