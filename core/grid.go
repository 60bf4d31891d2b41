package core

import "math"

// grid divides an interval into cells of equal width. What lies outside falls
// into the first or the last cell. The cell of a number never decreases as the
// number grows, whatever rounding does.
type grid[T Float] struct {
	lo, scale T
	last      T // index of the last cell
	cells     int
}

func newGrid[T Float](lo, hi float64, cells int) grid[T] {
	scale := T(float64(cells) / (hi - lo))
	if scale == 0 || !finite(float64(scale)) {
		lo, scale = 0, 0 // an interval of denormal, no or infinite width: one cell for all
	}
	return grid[T]{T(lo), scale, T(cells - 1), cells}
}

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

// sampledGrid returns a grid over the interval [lo, hi] or, where that is
// infinite, over that of some of the values: enough to spread all of them.
func sampledGrid[T Float](values []T, lo, hi float64, cells int) grid[T] {
	if !math.IsInf(hi-lo, 0) {
		return newGrid[T](lo, hi, cells)
	}
	lo, hi = math.Inf(1), math.Inf(-1)
	stride := max(1, len(values)/1024)
	for i := 0; i < len(values); i += stride {
		if v := float64(values[i]); finite(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return newGrid[T](lo, hi, cells)
}

// powerOfTwo returns the smallest power of two that is at least n, within limits.
func powerOfTwo(n, lowest, highest int) int {
	p := lowest
	for p < n && p < highest {
		p *= 2
	}
	return p
}
