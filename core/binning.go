package core

import (
	"math"
	"sort"
)

// bins are the mass bins of one label. Edges are in units of mass.
type bins struct {
	edges []float64
	grid  grid
	first []int32 // per cell of the grid: the lowest bin that one of its masses can fall into
}

// grid divides a range of masses into cells of equal width; the cell of a mass
// never decreases as the mass grows, whatever rounding does.
type grid struct {
	lo, scale float64
	cells     int
}

func newGrid(lo, hi float64, cells int) grid {
	scale := float64(cells) / (hi - lo)
	if math.IsInf(scale, 0) || math.IsNaN(scale) {
		scale = 0 // a range as narrow as a denormal number: one cell for all
	}
	return grid{lo, scale, cells}
}

func (g *grid) cell(m float64) int {
	return min(int((m-g.lo)*g.scale), g.cells-1)
}

// makeBins returns the bins that a configuration asks for.
func makeBins[T Float](sel *selection[T], cfg *Config, sc *scratch) (*bins, error) {
	var edges []float64
	switch cfg.Binning {
	case Quantile:
		var err error
		if edges, err = quantileEdges(sel, cfg.Bins, sc); err != nil {
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
	b.grid = newGrid(edges[0], edges[len(edges)-1], min(1<<14, 64*b.count()))
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
	if hi == lo+1 {
		if m >= b.edges[hi] {
			return hi
		}
		return lo
	}
	// the bins lo..hi: the first edge above m among the inner ones
	return lo + sort.Search(hi-lo, func(k int) bool { return b.edges[lo+k+1] > m })
}
