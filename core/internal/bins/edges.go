package bins

import (
	"slices"

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

// maxValues is the highest number of bins of the kind Values.
const maxValues = 1 << 12

// valueEdges returns edges between all masses that occur, so that each has a bin.
func valueEdges[T events.Float](sel *events.Selection[T]) ([]float64, error) {
	var values []T // in order
	for i, m := range sel.Mass {
		if !sel.TakesPart(i) {
			continue
		}
		at, found := slices.BinarySearch(values, m)
		if found {
			continue
		}
		if len(values) == maxValues {
			return nil, errs.Of(errs.ErrOption, "binning = values makes a bin of each distinct mass, and there are more than %d: "+
				"use it for masses with few values, such as years or groups", maxValues)
		}
		values = slices.Insert(values, at, m)
	}
	edges := make([]float64, 0, len(values)+1)
	edges = append(edges, sel.MassLo)
	for k := range len(values) - 1 {
		edges = append(edges, midpoint(float64(values[k]), float64(values[k+1])))
	}
	return append(edges, sel.MassHi), nil
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
	sc.Team.Blocks(len(sel.Pairs), eventsAtATime, func(lo, hi int) {
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
