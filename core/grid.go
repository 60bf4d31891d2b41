package core

import (
	"math"
	"math/bits"
	"slices"
)

// grid divides an interval into cells. What lies outside falls into the first or the
// last cell. The cell of a number never decreases as the number grows, whatever
// rounding does.
type grid[T Float] struct {
	lo, scale T // of cells of equal width
	last      T // index of the last cell
	cells     int
	uneven    *unevenGrid // nil: cells have equal widths
}

func newGrid[T Float](lo, hi float64, cells int) grid[T] {
	scale := T(float64(cells) / (hi - lo))
	if scale == 0 || !finite(float64(scale)) {
		lo, scale = 0, 0 // an interval of denormal, no or infinite width: one cell for all
	}
	return grid[T]{lo: T(lo), scale: scale, last: T(cells - 1), cells: cells}
}

// cell returns the cell of x in a grid of equal widths.
func (g *grid[T]) cell(x T) int {
	c := (x - g.lo) * g.scale
	if c < g.last {
		if c > 0 {
			return int(c)
		}
		return 0
	}
	return g.cells - 1
}

// anyCell is cell for every grid.
func (g *grid[T]) anyCell(x T) int {
	if g.uneven != nil {
		return g.uneven.cell(scoreKey(float64(x)))
	}
	return g.cell(x)
}

// sampledGrid returns a grid of equal widths over the interval [lo, hi] or, where
// that is infinite, over that of some of the values. Where these values crowd
// together in few cells, as with outliers or over many decades, it returns an uneven
// grid.
func sampledGrid[T Float](values []T, lo, hi float64, cells int) grid[T] {
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
	g := newGrid[T](sampleLo, sampleHi, cells)
	if len(values) < crowdedFrom {
		return g
	}
	if uneven := g.evened(values, T(lo), T(hi)); uneven != nil {
		return grid[T]{cells: uneven.cells, uneven: uneven}
	}
	return g
}

// crowdedFrom is a number of values below which it costs little that most share a cell.
const crowdedFrom = 1 << 12

// evened returns an uneven grid made of a sample of the values inside [lo, hi], if these
// crowd together in few cells of g.
func (g *grid[T]) evened(values []T, lo, hi T) *unevenGrid {
	const look = 256 // so many values are looked at first
	var seen [look]int
	found, stride := seen[:0], max(1, len(values)/look)
	for i := 0; i < len(values) && len(found) < look; i += stride {
		if v := values[i]; v >= lo && v <= hi {
			found = append(found, g.cell(v))
		}
	}
	slices.Sort(found)
	if len(found) == 0 || len(slices.Compact(found)) >= look/4 {
		return nil
	}
	const size = 1 << 12
	sample := make([]uint64, 0, size)
	for i := range size {
		if v := values[i*(len(values)/size)]; v >= lo && v <= hi && v-v == 0 {
			sample = append(sample, scoreKey(float64(v)))
		}
	}
	slices.Sort(sample)
	distinct := len(slices.Compact(slices.Clone(sample)))
	if distinct < look/4 {
		return nil // they are few, not crowded
	}
	return newUnevenGrid(sample)
}

// unevenGrid divides keys, see scoreKey, into coarse cells of equal width, and each of
// these into as many cells of equal width as a sample has keys there, and more. In keys
// 300 decades are as near as one, and clusters far from each other have cells of their own.
type unevenGrid struct {
	coarse []coarseCell
	lo     uint64
	shift  uint
	cells  int
}

type coarseCell struct {
	lo    uint64 // where its cells begin
	shift uint
	first int // number of its first cell
	last  int // number of its last cell
}

// newUnevenGrid makes at most 2^15 cells of a sorted sample of at most 2^12 keys.
func newUnevenGrid(sample []uint64) *unevenGrid {
	const coarse = 1 << 10
	lo := sample[0]
	g := &unevenGrid{lo: lo, shift: shiftTo(sample[len(sample)-1]-lo, coarse)}
	for len(sample) > 0 {
		c := (sample[0] - lo) >> g.shift
		k := 1
		for k < len(sample) && (sample[k]-lo)>>g.shift == c {
			k++
		}
		for len(g.coarse) < int(c) { // nothing of the sample
			g.coarse = append(g.coarse, coarseCell{first: g.cells, last: g.cells})
			g.cells++
		}
		cells := powerOfTwo(2*k, 4, 1<<14)
		g.coarse = append(g.coarse, coarseCell{
			lo: sample[0], shift: shiftTo(sample[k-1]-sample[0], cells), first: g.cells, last: g.cells + cells - 1,
		})
		g.cells += cells
		sample = sample[k:]
	}
	return g
}

// shiftTo returns by how much numbers up to most are to be shifted to be below limit, a
// power of two.
func shiftTo(most uint64, limit int) uint {
	return uint(max(0, bits.Len64(most)-bits.Len64(uint64(limit-1))))
}

func (g *unevenGrid) cell(key uint64) int {
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
