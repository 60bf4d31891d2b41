package bins

import (
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
)

// uniformEdges returns numpy.linspace(lo, hi, n+1), to the last bit.
func uniformEdges(lo, hi float64, n int) ([]float64, error) {
	edges := make([]float64, n+1)
	width := (hi - lo) / float64(n)
	for k := range edges {
		edges[k] = float64(float64(k)*width) + lo
	}
	edges[n] = hi
	for b := range n {
		if !(edges[b+1] > edges[b]) {
			return nil, errs.Of(errs.ErrOption, "bins = %d: mass range [%v, %v] is too narrow for so many bins in double precision", n, lo, hi)
		}
	}
	return edges, nil
}

// assignBins replaces the cells of the masses by their bins. If no edge lies in the cell of a mass, the cell has the bin.
func assignBins[T events.Float](sel *events.Selection[T], edges []float64, sc *par.Scratch) {
	inner := edges[1 : len(edges)-1]
	cells := sel.MassCells.Count()
	table := par.Make[uint32](&sc.Arena, cells+1) // the bin of the lowest masses of each cell
	next := 0
	for bin, edge := range inner {
		c := int(sel.MassCells.Of(T(edge)))
		for ; next <= c; next++ {
			table[next] = uint32(bin)
		}
	}
	for ; next < len(table); next++ {
		table[next] = uint32(len(inner))
	}
	sc.Blocks(len(sel.Pairs), eventsAtATime, func(lo, hi int) {
		pairs := sel.Pairs[lo:hi]
		for i, pair := range pairs {
			c := pair & events.BinMask
			if int(c) >= cells {
				continue // it takes no part
			}
			bin, last := table[c], table[c+1]
			for bin < last { // edges lie in the cell: by binary search
				if mid := (bin + last) >> 1; inner[mid] <= float64(sel.Mass[lo+i]) {
					bin = mid + 1
				} else {
					last = mid
				}
			}
			pairs[i] = pair&^events.BinMask | bin
		}
	})
}

// eventsAtATime is the number of events that a goroutine handles at a time.
const eventsAtATime = 1 << 14
