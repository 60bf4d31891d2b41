package core

import (
	"math"
	"math/bits"
	"slices"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/radix"
)

// cells divide an interval. What lies outside falls into the first or the
// last cell. The cell of a number never decreases as the number grows, whatever
// rounding does.
type cells[T Float] struct {
	lanes.Cells[T] // of equal width
	count          int
	uneven         *unevenCells // nil: cells have equal widths
}

func equalCells[T Float](lo, hi float64, count int) cells[T] {
	scale := T(float64(count) / (hi - lo))
	if scale == 0 || !finite(float64(scale)) {
		lo, scale = 0, 0 // an interval of denormal, no or infinite width: one cell for all
	}
	return cells[T]{Cells: lanes.Cells[T]{Lo: T(lo), Scale: scale, Last: T(count - 1)}, count: count}
}

// oneCell returns a cell that has all numbers.
func oneCell[T Float]() cells[T] { return cells[T]{count: 1} }

// of returns the cell of x.
func (ce *cells[T]) of(x T) int {
	if ce.uneven != nil {
		return ce.uneven.of(radix.Key(float64(x)))
	}
	return int(ce.Of(x))
}

// cellsFor returns so many cells, at most 2^15, of equal width over the interval [lo, hi] or, where
// that is infinite, over that of some of the values. Where these values crowd
// together in few cells, as with outliers or over many decades, it returns uneven ones.
func cellsFor[T Float](values []T, lo, hi float64, count int) cells[T] {
	sampleLo, sampleHi := lo, hi
	if math.IsInf(hi-lo, 0) {
		sampleLo, sampleHi = math.Inf(1), math.Inf(-1)
		stride := max(1, len(values)/1024)
		for i := 0; i < len(values); i += stride {
			if v := float64(values[i]); finite(v) {
				sampleLo, sampleHi = min(sampleLo, v), max(sampleHi, v)
			}
		}
	}
	ce := equalCells[T](sampleLo, sampleHi, count)
	if len(values) < crowdedFrom {
		return ce
	}
	if uneven := ce.evened(values, T(lo), T(hi)); uneven != nil {
		return cells[T]{count: uneven.count, uneven: uneven}
	}
	return ce
}

// crowdedFrom is a number of values below which it costs little that most share a cell.
const crowdedFrom = 1 << 12

// evened returns uneven cells made of a sample of the values inside [lo, hi], if these
// crowd together in few of these cells.
func (ce *cells[T]) evened(values []T, lo, hi T) *unevenCells {
	const look = 256 // so many values are looked at first
	var seen [1 << 15 / 64]uint64
	found, distinct, stride := 0, 0, max(1, len(values)/look)
	for i := 0; i < len(values) && found < look; i += stride {
		if v := values[i]; v >= lo && v <= hi {
			c := ce.Of(v)
			found++
			distinct += int(^seen[c/64] >> (c % 64) & 1)
			seen[c/64] |= 1 << (c % 64)
		}
	}
	if found == 0 || distinct >= look/4 {
		return nil
	}
	const size = 1 << 12
	sample := make([]uint64, 0, size)
	for i := range size {
		if v := values[i*(len(values)/size)]; v >= lo && v <= hi && v-v == 0 {
			sample = append(sample, radix.Key(float64(v)))
		}
	}
	slices.Sort(sample)
	if len(slices.Compact(slices.Clone(sample))) < look/4 {
		return nil // they are few, not crowded
	}
	return newUnevenCells(sample)
}

// unevenCells divide keys, see radix.Key, into coarse cells of equal width, and each of
// these into as many cells of equal width as a sample has keys there, and more. In keys
// 300 decades are as near as one, and clusters far from each other have cells of their own.
type unevenCells struct {
	coarse []coarseCell
	lo     uint64
	shift  uint
	count  int
}

type coarseCell struct {
	lo    uint64 // where its cells begin
	shift uint
	first int // number of its first cell
	last  int // number of its last cell
}

// newUnevenCells makes at most 2^15 cells of a sorted sample of at most 2^12 keys.
func newUnevenCells(sample []uint64) *unevenCells {
	const coarse = 1 << 10
	lo := sample[0]
	g := &unevenCells{lo: lo, shift: shiftTo(sample[len(sample)-1]-lo, coarse)}
	for len(sample) > 0 {
		c := (sample[0] - lo) >> g.shift
		k := 1
		for k < len(sample) && (sample[k]-lo)>>g.shift == c {
			k++
		}
		for len(g.coarse) < int(c) { // nothing of the sample
			g.coarse = append(g.coarse, coarseCell{first: g.count, last: g.count})
			g.count++
		}
		cells := powerOfTwo(2*k, 4, 1<<14)
		g.coarse = append(g.coarse, coarseCell{
			lo: sample[0], shift: shiftTo(sample[k-1]-sample[0], cells), first: g.count, last: g.count + cells - 1,
		})
		g.count += cells
		sample = sample[k:]
	}
	return g
}

// shiftTo returns by how much numbers up to most are to be shifted to be below limit, a
// power of two.
func shiftTo(most uint64, limit int) uint {
	return uint(max(0, bits.Len64(most)-bits.Len64(uint64(limit-1))))
}

func (g *unevenCells) of(key uint64) int {
	c := g.coarse[min(less(key, g.lo)>>(g.shift&63), uint64(len(g.coarse)-1))]
	return int(min(uint64(c.first)+less(key, c.lo)>>(c.shift&63), uint64(c.last)))
}

// less returns x - y, or 0 if y is larger.
func less(x, y uint64) uint64 {
	if x < y {
		return 0
	}
	return x - y
}

// powerOfTwo returns the smallest power of two that is at least n, within limits.
func powerOfTwo(n, lowest, highest int) int {
	p := lowest
	for p < n && p < highest {
		p *= 2
	}
	return p
}
