package core

import (
	"sort"
)

// bins are the mass bins of one label. Edges are in units of mass.
type bins struct {
	edges []float64
	grid  grid
	first []int32 // per cell of the grid: the lowest bin of its masses, complemented where there are more
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
	return newBins(edges, binCellsFor(sel.n, len(edges)-1)), nil
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

// binCellsFor returns a number of cells with which few of n events fall into a
// cell that holds an edge, if that is worth its time.
func binCellsFor(n, bins int) int { return powerOfTwo(max(8*bins, n/8), 64, 1<<13) }

func newBins(edges []float64, cells int) *bins {
	b := &bins{edges: edges, grid: newGrid(edges[0], edges[len(edges)-1], cells)}
	b.first = make([]int32, cells)
	// An edge in a cell below c lies below every mass of cell c.
	bin, last := int32(0), int32(b.count()-1)
	for c := range b.first {
		b.first[c] = bin
		for bin < last && b.grid.cell(edges[bin+1]) <= c {
			bin++
		}
		if b.first[c] != bin {
			b.first[c] = ^b.first[c]
		}
	}
	return b
}

func (b *bins) count() int { return len(b.edges) - 1 }

// of returns the bin of a mass inside the range: lower edge <= m < upper edge,
// the last bin with its upper edge.
func (b *bins) of(m float64) int {
	bin := int(b.first[b.grid.cell(m)])
	if bin >= 0 {
		return bin
	}
	return b.from(^bin, m)
}

// from returns the bin of a mass that is at least in a given bin.
func (b *bins) from(bin int, m float64) int {
	upper := b.edges[bin+1 : len(b.edges)-1]
	if len(upper) < 2 || m < upper[1] {
		if m >= upper[0] {
			return bin + 1
		}
		return bin
	}
	return bin + sort.Search(len(upper), func(k int) bool { return upper[k] > m })
}
