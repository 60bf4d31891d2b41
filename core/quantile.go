package core

import (
	"math"
	"slices"
	"sort"
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
// of one cell of the grid.
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

// quantileCells finds without sorting the bins of all masses but few: from the
// counts of masses by cell they follow for all cells but those where a rank
// lies, and the nearest filled ones below these. Each such divided cell is a run.
func (bn *binning) quantileCells(counts []uint32) {
	const divided = math.MaxUint16
	table, ranks := bn.table, bn.ranks
	before, filled, next := 0, 0, 0
	for c, count := range counts {
		table[c] = uint16(next)
		if bn.asked >= tableLimit { // its number may have no room
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
			bn.runs = append(bn.runs, run{rank, index, next})
			table[c] = bn.limit + uint16(len(bn.runs)-1)
			index += int(count)
		}
		rank += int(count)
	}
}
