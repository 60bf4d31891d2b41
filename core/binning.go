package core

import (
	"math"
	"slices"
	"sort"
)

// binning finds the bins of masses: most by the cell of a grid that they lie
// in, and those in cells that an edge divides by comparison with the edges. The
// edges of quantile bins are only known once the masses in divided cells are.
type binning struct {
	asked int // bins; fewer where quantile edges coincide
	edges []float64
	bin   []uint16 // per cell of mass: its bin, or divided

	ranks []int // of quantile edges that are still to be found
	runs  []run // of the masses in divided cells
}

const divided = math.MaxUint16

// massCellsFor returns a number of cells with which few of n masses lie in
// divided ones.
func massCellsFor(n, bins int) int {
	return powerOfTwo(max(n/8, min(n, 1<<13), 16*bins), 64, 1<<15)
}

// newBinning returns the binning that a configuration asks for.
func newBinning[T Float](sel *selection[T], cfg *Config) (*binning, error) {
	if err := sel.enoughFor(cfg); err != nil {
		return nil, err
	}
	if cfg.Binning != Quantile {
		edges, err := givenEdges(cfg, sel.massLo, sel.massHi)
		if err != nil {
			return nil, err
		}
		bn := &binning{asked: len(edges) - 1, edges: edges}
		bn.bin = make([]uint16, sel.massCells.cells)
		setCells(bn.bin, sel.massCells, edges)
		return bn, nil
	}
	bn := &binning{asked: cfg.Bins, ranks: quantileRanks(sel.n, cfg.Bins)}
	counts := sel.parts[0].masses
	for _, p := range sel.parts[1:] {
		for c, more := range p.masses {
			counts[c] += more
		}
	}
	bn.bin = make([]uint16, len(counts))
	bn.runs = quantileCells(counts, bn.ranks, bn.bin)
	return bn, nil
}

// enoughFor returns an error where there are fewer events than bins.
func (sel *selection[T]) enoughFor(cfg *Config) error {
	if cfg.Binning == GivenEdges || sel.n >= cfg.Bins {
		return nil
	}
	kind := "quantile"
	if cfg.Binning == Uniform {
		kind = "uniform"
	}
	return errorOf(ErrNoEvents, "too few events: %d selected events cannot fill bins = %d %s bins: "+
		"use fewer bins or larger batches", sel.n, cfg.Bins, kind)
}

// givenEdges returns the edges of bins other than quantile ones.
func givenEdges(cfg *Config, lo, hi float64) ([]float64, error) {
	if cfg.Binning == GivenEdges {
		return slices.Clone(cfg.Edges), nil
	}
	edges := uniformEdges(lo, hi, cfg.Bins)
	for b := 1; b < len(edges); b++ {
		if !(edges[b] > edges[b-1]) {
			return nil, errorOf(ErrOption, "bins = %d: mass range [%v, %v] is too narrow for so many bins in double precision", cfg.Bins, lo, hi)
		}
	}
	return edges, nil
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

// setCells sets the bins of cells from the edges.
func setCells[T Float](bin []uint16, g grid[T], edges []float64) {
	asked := len(edges) - 1
	now := 0
	for c := range bin {
		bin[c] = uint16(min(now, divided))
		// An edge in a cell below c lies below, or at, every mass of cell c.
		for now+1 < asked && g.cell(T(edges[now+1])) <= c {
			now++
			bin[c] = divided
		}
	}
}

// of returns the bin of a mass inside the range, once the edges are known:
// lower edge <= m < upper edge, the last bin with its upper edge.
func (bn *binning) of(m float64) int {
	inner := bn.edges[1 : len(bn.edges)-1]
	return sort.Search(len(inner), func(k int) bool { return inner[k] > m })
}

// leftover is an event in a divided cell, whose record has no bin yet.
type leftover struct {
	place int // of the record
	mass  float64
}

// settle finds the quantile edges where they are still to be found, and puts
// the bins of leftovers into their records.
func (bn *binning) settle(records []uint64, left []leftover, la *layout, lo, hi float64) {
	if bn.edges == nil {
		masses := make([]float64, len(left))
		for k, l := range left {
			masses[k] = l.mass
		}
		slices.Sort(masses)
		near := sortedMasses{masses, bn.runs}
		var kept []int
		bn.edges, kept = near.edges(bn.ranks, lo, hi)
		if len(bn.edges)-1 < bn.asked {
			for i, r := range records {
				records[i] = la.withBin(r, kept[la.bin(r)])
			}
		}
	}
	for _, l := range left {
		records[l.place] = la.withBin(records[l.place], bn.of(l.mass))
	}
}
