package core

import (
	"sort"
)

// bins are the mass bins of one label. Edges are in units of mass.
type bins struct {
	edges []float64
	grid  grid
	first []int32 // per cell of the grid: the lowest bin that one of its masses can fall into
}

// makeBins returns the bins that a configuration asks for.
func makeBins[T Float](sel *selection[T], cfg *Config) (*bins, error) {
	var edges []float64
	switch cfg.Binning {
	case Quantile:
		var err error
		if edges, err = quantileEdges(sel, cfg.Bins); err != nil {
			return nil, err
		}
	case Uniform:
		if cfg.Bins > sel.n {
			return nil, errorOf(ErrNoEvents, "too few events: %d selected events cannot fill bins = %d uniform bins: "+
				"use fewer bins or larger batches", sel.n, cfg.Bins)
		}
		edges = uniformEdges(sel.massLo, sel.massHi, cfg.Bins)
	case GivenEdges:
		edges = append(edges, cfg.Edges...)
	}
	for b := 1; b < len(edges)-1; b++ {
		if !(edges[b] > edges[b-1]) {
			return nil, errorOf(ErrOption, "bins = %d: mass range [%v, %v] is too narrow for so many bins in double precision",
				len(edges)-1, edges[0], edges[len(edges)-1])
		}
	}
	return newBins(edges), nil
}

// uniformEdges returns numpy.linspace(lo, hi, n+1), to the last bit.
func uniformEdges(lo, hi float64, n int) []float64 {
	edges := make([]float64, n+1)
	width := (hi - lo) / float64(n)
	for k := range edges {
		edges[k] = float64(float64(k)*width) + lo
	}
	edges[n] = hi
	return edges
}

func newBins(edges []float64) *bins {
	b := &bins{edges: edges}
	b.grid = newGrid(edges[0], edges[len(edges)-1], min(1<<13, 32*b.count()))
	b.first = make([]int32, b.grid.cells+1)
	// An edge in a cell below c lies below every mass of cell c.
	bin := 0
	for c := range b.first {
		for bin+1 < b.count() && b.grid.cell(edges[bin+1]) < c {
			bin++
		}
		b.first[c] = int32(bin)
	}
	return b
}

func (b *bins) count() int { return len(b.edges) - 1 }

// of returns the bin of a mass inside the range: lower edge <= m < upper edge,
// the last bin with its upper edge.
func (b *bins) of(m float64) int {
	c := b.grid.cell(m)
	lo, hi := int(b.first[c]), int(b.first[c+1])
	if lo == hi {
		return lo
	}
	return b.between(lo, hi, m)
}

// between returns the bin of a mass that lies in one of the bins lo..hi.
func (b *bins) between(lo, hi int, m float64) int {
	if hi == lo+1 {
		if m >= b.edges[hi] {
			return hi
		}
		return lo
	}
	return lo + sort.Search(hi-lo, func(k int) bool { return b.edges[lo+k+1] > m })
}
