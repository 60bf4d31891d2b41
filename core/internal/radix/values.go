package radix

import (
	"math"
	"math/bits"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// limits returns the lowest and the highest value that is a number; +Inf and -Inf if none is.
func limits[T lanes.Float](values []T) (lowest, highest float64) {
	lowest, highest = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if x := float64(v); x < lowest {
			lowest = x
		}
		if x := float64(v); x > highest {
			highest = x
		}
	}
	return lowest, highest
}

// Sorted are the records of values, in increasing order. NaNs have no record.
type Sorted[T lanes.Float] struct {
	Layout // its Index is the place of a value
	Words  []uint64
	Cells  []uint32 // the starts of cells of records, and the end; equal values are in one cell
	shift  uint
}

// Many values are sorted in cells, which goroutines share. Blocks of sortBlock values are counted by cell.
const (
	cellBits  = 10
	sortBlock = 1 << 16
	cellsEach = 1 << 3 // that a goroutine sorts at a time
)

// CellOf returns the cell of a value that is a number.
func (so *Sorted[T]) CellOf(value T) int {
	if so.shift == 64 { // one cell: no key is needed
		return 0
	}
	return so.cellOf(Pack(&so.Layout, value, 0))
}

// cellOf returns the cell of a record.
func (so *Sorted[T]) cellOf(record uint64) int { return int(record >> so.shift) }

// SortValues sorts values. It uses the memory of the scratch.
func SortValues[T lanes.Float](values []T, sc *par.Scratch) (so Sorted[T]) {
	n := len(values)
	lowest, highest := limits(values)
	so.Words, so.Cells, so.shift = par.Unset[uint64](&sc.Arena, n)[:0], par.Make[uint32](&sc.Arena, 2), 64
	if lowest > highest {
		return so
	}
	so.Layout = NewLayout[T](lowest, highest, n, 1)
	if n < par.AloneCall {
		for i, v := range values {
			if v == v {
				so.Words = append(so.Words, Pack(&so.Layout, v, i))
			}
		}
		so.Cells[1] = uint32(len(so.Words))
		Sort(so.Words, so.Cells, &so.Layout, values)
		return so
	}
	so.share(values, highest, sc)
	return so
}

// share sorts many values in cells.
func (so *Sorted[T]) share(values []T, highest float64, sc *par.Scratch) {
	n := len(values)
	so.shift = max(so.keyShift, uint(max(0, bits.Len64(Pack(&so.Layout, T(highest), 0))-cellBits)))
	cells := so.CellOf(T(highest)) + 1
	next := make([][]uint32, (n+sortBlock-1)/sortBlock) // where the next record of each block and cell goes
	for k := range next {
		next[k] = par.Make[uint32](&sc.Arena, cells)
	}
	sc.Team.Blocks(n, sortBlock, func(lo, hi int) {
		counts := next[lo/sortBlock]
		for _, v := range values[lo:hi] {
			if v == v {
				counts[so.CellOf(v)]++
			}
		}
	})
	so.Cells = par.Unset[uint32](&sc.Arena, cells+1)
	Starts(so.Cells, next)
	so.Words = so.Words[:so.Cells[cells]]
	sc.Team.Blocks(n, sortBlock, func(lo, hi int) {
		slots := next[lo/sortBlock]
		for i, v := range values[lo:hi] {
			if v == v {
				word := Pack(&so.Layout, v, lo+i)
				slot := &slots[so.cellOf(word)]
				so.Words[*slot] = word
				*slot++
			}
		}
	})
	sc.Team.Blocks(cells, cellsEach, func(lo, hi int) { Sort(so.Words, so.Cells[lo:hi+1], &so.Layout, values) })
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
