package bins

import (
	"math"
	"sort"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/sorted"
)

// quantileEdges returns the edges of bins with nearly equal numbers of events: inner edge k lies midway between the masses
// of rank r-1 and r, with r = floor(k n / bins). A rank among equal masses moves down to the first of them. Rank 0, repeated
// ranks, and an edge that is not below the highest mass are dropped.
//
// It also returns the number of events in the smallest bin.
//
// Only the masses of the cells in which such a rank lies, and of the next lower cells, are sorted.
func quantileEdges[T events.Float](sel *events.Selection[T], asked int, sc *par.Scratch) (edges []float64, fewest int) {
	defer sc.Arena.Release(sc.Arena.Mark())
	ranks := par.Make[int](&sc.Arena, asked-1)
	for k := range ranks {
		ranks[k] = sel.N/asked*(k+1) + sel.N%asked*(k+1)/asked // n k does not overflow
	}
	runs, isNear := findRuns(sel.CountMasses(), ranks, sc)
	masses := sortedMasses(sel, isNear, sc)
	edges = append(make([]float64, 0, asked+1), sel.MassLo)
	last, at := 0, 0 // the index of the upper mass of the last edge, and the run of the rank
	lastRank, fewest := 0, sel.N
	for _, rank := range ranks {
		for at+1 < len(runs) && runs[at+1].rank <= rank {
			at++
		}
		upper := masses[runs[at].index+rank-runs[at].rank]
		if first := last + sort.SearchFloat64s(masses[last:], upper); first > last {
			if edge := midpoint(masses[first-1], upper); edge < sel.MassHi {
				edges = append(edges, edge)
			}
			firstRank := runs[at].rank + first - runs[at].index // equal masses are in one cell
			fewest = min(fewest, firstRank-lastRank)
			last, lastRank = first, firstRank
		}
	}
	return append(edges, sel.MassHi), min(fewest, sel.N-lastRank)
}

// midpoint returns an edge between two neighboring masses, above the lower and not above the upper one.
func midpoint(lower, upper float64) float64 {
	mid := (lower + upper) / 2
	if math.IsInf(mid, 0) {
		mid = lower/2 + upper/2
	}
	if mid <= lower {
		return upper
	}
	return mid
}

// run is a cell whose masses are sorted: the rank of its first mass, and the index of this mass among the sorted masses.
type run struct{ rank, index int }

// findRuns returns the cells in which ranks lie, and the next lower cells that have masses; isNear marks these cells.
func findRuns(counts []uint32, ranks []int, sc *par.Scratch) (runs []run, isNear []bool) {
	isNear = par.Make[bool](&sc.Arena, len(counts))
	runs = par.Make[run](&sc.Arena, min(2*len(ranks), len(counts)))[:0]
	total := 0
	add := func(cell, rank int) {
		if !isNear[cell] {
			runs, isNear[cell] = append(runs, run{rank, total}), true
			total += int(counts[cell])
		}
	}
	below := 0 // the number of masses in lower cells
	for c, count := range counts {
		end := below + int(count)
		if len(ranks) > 0 && ranks[0] < end {
			lower := c - 1
			for lower >= 0 && counts[lower] == 0 {
				lower--
			}
			if lower >= 0 {
				add(lower, below-int(counts[lower]))
			}
			add(c, below)
			for len(ranks) > 0 && ranks[0] < end {
				ranks = ranks[1:]
			}
		}
		below = end
	}
	return runs, isNear
}

// sortedMasses returns the masses of the cells that are near.
func sortedMasses[T events.Float](sel *events.Selection[T], isNear []bool, sc *par.Scratch) []float64 {
	n := len(sel.Pairs)
	near, counts := par.Unset[T](&sc.Arena, n), par.Make[int](&sc.Arena, (n+par.Share-1)/par.Share) // by block of events
	sc.Blocks(n, par.Share, func(lo, hi int) {
		found, masses, count := near[lo:hi], sel.Mass[lo:hi], 0
		for i, pair := range sel.Pairs[lo:hi] {
			if c := pair & events.BinMask; int(c) < len(isNear) && isNear[c] {
				found[count] = masses[i]
				count++
			}
		}
		counts[lo/par.Share] = count
	})
	masses := near[:0]
	for k, count := range counts {
		masses = append(masses, near[k*par.Share:][:count]...)
	}
	inOrder := par.Unset[float64](&sc.Arena, len(masses))
	for k, i := range sorted.Values(masses, sc) {
		inOrder[k] = float64(masses[i])
	}
	return inOrder
}
