package core

import (
	"math"
	"slices"
	"sort"

	"github.com/libmode/libmode/core/internal/par"
)

// quantileRanks returns the ranks floor(k n / bins), k = 1..bins-1, of the
// masses next to which the inner edges of quantile bins lie.
func quantileRanks(n, asked int) []int {
	ranks := make([]int, asked-1)
	for k := 1; k < asked; k++ {
		ranks[k-1] = n/asked*k + n%asked*k/asked // without overflow of n k
	}
	return ranks
}

// sortedMasses holds masses in order: all of them, or those around some ranks.
type sortedMasses struct {
	masses []float64
	runs   []run
}

// run is a stretch of sortedMasses.masses without a gap in rank: all of them, or those
// of one cell.
type run struct {
	rank  int // rank of its first mass
	index int // where that stands in masses
	bin   int // the bin below the first edge of the run
}

// edges returns the edges of quantile bins: the inner edge k lies midway between
// the masses of rank r-1 and r, r the k-th rank, where a rank inside a run of
// equal masses has moved down to the start of the run, and rank 0 and repeats
// are dropped, and so is an edge that would not be below hi. kept[k] is how many of
// the first k ranks have given an edge.
func (sm *sortedMasses) edges(ranks []int, lo, hi float64) (edges []float64, kept []int) {
	edges = append(make([]float64, 0, len(ranks)+2), lo)
	kept = append(make([]int, 0, len(ranks)+1), 0)
	last := 0 // where in masses the last edge's upper mass stands
	for _, rank := range ranks {
		at := sm.at(rank)
		if first := sort.SearchFloat64s(sm.masses, at); first > last {
			if edge := midpoint(sm.masses[first-1], at); edge < hi {
				edges = append(edges, edge)
			}
			last = first
		}
		kept = append(kept, len(edges)-1)
	}
	return append(edges, hi), kept
}

// at returns the mass of a rank.
func (sm *sortedMasses) at(rank int) float64 {
	k := sort.Search(len(sm.runs), func(k int) bool { return sm.runs[k].rank > rank }) - 1
	return sm.masses[sm.runs[k].index+rank-sm.runs[k].rank]
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

// sortAll returns all masses that take part.
func sortAll[T Float](sel *selection[T]) *sortedMasses {
	masses := make([]float64, 0, sel.n)
	for i, m := range sel.Mass {
		if sel.takesPart(i) {
			masses = append(masses, float64(m))
		}
	}
	slices.Sort(masses)
	return &sortedMasses{masses, []run{{}}}
}

// quantileBins returns bins of nearly equal numbers of events. From the numbers of
// masses by cell all but a few masses have their bin; those in the cells that an edge
// divides, the runs, are sorted.
func quantileBins[T Float](sel *selection[T], asked int, sc *scratch) *bins {
	counts := sel.parts[0].masses
	for _, p := range sel.parts[1:] {
		for c, more := range p.masses {
			counts[c] += more
		}
	}
	bs := newTable(asked, sel.massCells.count, nil)
	ranks := quantileRanks(sel.n, asked)
	bs.findRuns(counts, ranks)
	near := sortedMasses{divided(bs, sel, sc), bs.runs}
	var kept []int
	bs.edges, kept = near.edges(ranks, sel.massLo, sel.massHi)
	if bs.count() < asked {
		bs.renumber(kept)
	}
	return bs
}

// massInRun is a mass in a cell that an edge divides.
type massInRun struct {
	run  int
	mass float64
}

// divided returns the masses of the runs, in order: runs stand in order, so that it is
// enough to sort each by itself.
func divided[T Float](bs *bins, sel *selection[T], sc *scratch) []float64 {
	sc.divided = par.Grown(sc.divided, len(sel.parts))
	sc.team.Run(len(sel.parts), func(k int) {
		found := sc.divided[k][:0]
		p := &sel.parts[k]
		table, limit := bs.table, bs.limit
		for i, cells := range sel.cellsOf[p.lo:p.hi] {
			if cells == noPair {
				continue
			}
			if bin := table[cells&massCellMask]; bin >= limit {
				found = append(found, massInRun{int(bin - limit), float64(sel.Mass[p.lo+i])})
			}
		}
		sc.divided[k] = found
	})
	next := make([]int, len(bs.runs))
	for k, r := range bs.runs {
		next[k] = r.index
	}
	total := 0
	for _, found := range sc.divided {
		total += len(found)
	}
	masses := make([]float64, total)
	for _, found := range sc.divided {
		for _, m := range found {
			masses[next[m.run]] = m.mass
			next[m.run]++
		}
	}
	sc.team.Run(len(bs.runs), func(k int) { slices.Sort(masses[bs.runs[k].index:next[k]]) })
	return masses
}

// findRuns sets the table and the runs, whose edges are not known yet: from the counts
// of masses by cell the bins follow for all cells but those where a rank lies, and the
// nearest filled ones below these.
func (bs *bins) findRuns(counts []uint32, ranks []int) {
	const divided = math.MaxUint16
	table := bs.table
	before, filled, next := 0, 0, 0
	for c, count := range counts {
		table[c] = uint16(next)
		if len(ranks)+1 >= tableLimit { // its number may have no room
			table[c] = divided
		}
		if count == 0 {
			continue
		}
		before += int(count)
		if next < len(ranks) && ranks[next] < before {
			table[c], table[filled] = divided, divided
			for next < len(ranks) && ranks[next] < before {
				next++
			}
		}
		filled = c
	}
	rank, index := 0, 0
	next = 0
	for c, count := range counts {
		if table[c] == divided {
			for next < len(ranks) && ranks[next] < rank {
				next++
			}
			bs.runs = append(bs.runs, run{rank, index, next})
			table[c] = bs.limit + uint16(len(bs.runs)-1)
			index += int(count)
		}
		rank += int(count)
	}
}
