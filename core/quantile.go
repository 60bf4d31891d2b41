package core

import (
	"math"
	"slices"
	"sort"
)

// massCellsFor returns the number of cells by which masses are counted: enough
// that few masses share a cell with an edge.
func massCellsFor(n int) int { return powerOfTwo(n, 64, 1<<15) }

// quantileEdges returns the edges of quantile bins: the inner edge k lies
// midway between the sorted masses of rank r-1 and r, r = floor(k n / bins),
// where a rank inside a run of equal masses has moved down to the start of the
// run, and rank 0 and repeats are dropped.
func quantileEdges[T Float](sel *selection[T], asked int) ([]float64, error) {
	if sel.n < asked {
		return nil, errorOf(ErrNoEvents, "too few events: %d selected events cannot fill bins = %d quantile bins: "+
			"use fewer bins or larger batches", sel.n, asked)
	}
	ranks := make([]int, 0, asked-1)
	for k := 1; k < asked; k++ {
		// floor(k n / asked), without overflow of the product
		ranks = append(ranks, sel.n/asked*k+sel.n%asked*k/asked)
	}
	near := massesNear(sel, ranks)
	edges := append(make([]float64, 0, asked+1), sel.massLo)
	for _, rank := range ranks {
		at := near.at(rank)
		below, ok := near.below(at)
		if !ok {
			continue
		}
		if edge := midpoint(below, at); len(edges) == 1 || edge > edges[len(edges)-1] {
			edges = append(edges, edge)
		}
	}
	return append(edges, sel.massHi), nil
}

// midpoint returns the edge between two neighbouring masses: one that is above
// the lower and not above the upper.
func midpoint(below, at float64) float64 {
	mid := (below + at) / 2
	if math.IsInf(mid, 0) {
		mid = below/2 + at/2
	}
	if mid <= below {
		return at
	}
	return mid
}

// neighbourhood holds the sorted masses of some cells of a grid: those in which
// the wanted ranks lie, and the nearest filled cells below them.
type neighbourhood struct {
	masses []float64
	runs   []run
}

// run is a stretch of neighbourhood.masses without a gap in rank.
type run struct {
	rank  int // rank of its first mass
	index int // where that stands in masses
}

// at returns the mass of a wanted rank.
func (nb *neighbourhood) at(rank int) float64 {
	k := sort.Search(len(nb.runs), func(k int) bool { return nb.runs[k].rank > rank }) - 1
	return nb.masses[nb.runs[k].index+rank-nb.runs[k].rank]
}

// below returns the largest mass below that of a wanted rank, if there is one.
func (nb *neighbourhood) below(at float64) (float64, bool) {
	k := sort.SearchFloat64s(nb.masses, at)
	if k == 0 {
		return 0, false
	}
	return nb.masses[k-1], true
}

// massesNear finds what quantileEdges needs without sorting all masses: the
// counts by cell tell in which cells the ranks lie, and only those are sorted.
func massesNear[T Float](sel *selection[T], ranks []int) neighbourhood {
	counts := sel.parts[0].masses
	for _, p := range sel.parts[1:] {
		for c, more := range p.masses {
			counts[c] += more
		}
	}
	wanted, runs := wantCells(counts, ranks)
	masses := gather(sel, wanted)
	slices.Sort(masses)
	return neighbourhood{masses, runs}
}

// wantCells marks the cells that hold a rank and the nearest filled cell below
// each, and returns where the marked cells' masses stand once sorted.
func wantCells(counts []uint32, ranks []int) (wanted []bool, runs []run) {
	wanted = make([]bool, len(counts))
	before, filled, next := 0, 0, 0
	for c, count := range counts {
		after := before + int(count)
		for next < len(ranks) && ranks[next] < after {
			wanted[c], wanted[filled] = true, true
			next++
		}
		if count > 0 {
			filled = c
		}
		before = after
	}
	rank, index, open := 0, 0, false
	for c, count := range counts {
		if wanted[c] {
			if !open {
				runs = append(runs, run{rank, index})
			}
			index += int(count)
		}
		open = wanted[c] || open && count == 0
		rank += int(count)
	}
	return wanted, runs
}

// gather collects the masses in wanted cells.
func gather[T Float](sel *selection[T], wanted []bool) []float64 {
	found := make([][]float64, len(sel.parts))
	parallel(len(found), func(k int) {
		p, cells := sel.parts[k], sel.massCells
		var masses []float64
		for i := p.lo; i < p.hi; i++ {
			if m := float64(sel.Mass[i]); wanted[cells.cell(m)] && sel.takesPart(i) {
				masses = append(masses, m)
			}
		}
		found[k] = masses
	})
	return slices.Concat(found...)
}
