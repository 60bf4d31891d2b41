package bins

import (
	"math"
	"slices"
	"sort"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
)

// quantileRanks returns the ranks floor(k n / bins), k = 1..bins-1, of the
// masses next to which the inner edges of quantile bins lie.
func quantileRanks(n, asked int, arena *par.Arena) []int {
	ranks := par.Make[int](arena, asked-1)
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
	count int // of its masses
	bin   int // the bin below the first edge of the run
}

// edges returns the edges of quantile bins: the inner edge k lies midway between
// the masses of rank r-1 and r, r the k-th rank, where a rank inside a run of
// equal masses has moved down to the start of the run, and rank 0 and repeats
// are dropped, and so is an edge that would not be below hi. kept[k] is how many of
// the first k ranks have given an edge.
func (sm *sortedMasses) edges(ranks []int, lo, hi float64, arena *par.Arena) (edges []float64, kept []int) {
	edges = append(par.Make[float64](arena, len(ranks)+2)[:0], lo)
	kept = append(par.Make[int](arena, len(ranks)+1)[:0], 0)
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
	r := &sm.runs[k]
	return sm.masses[r.index+rank-r.rank]
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

// quantileBins returns bins of nearly equal numbers of events. From the numbers of
// masses by cell all but a few masses have their bin; those in the cells that an edge
// divides, the runs, are sorted. For few events see rankedBins.
func quantileBins[T events.Float](sel *events.Selection[T], asked int, sc *par.Scratch) *Bins {
	counts := sel.CountMasses(sc.Team)
	bs := newTable(asked, sel.MassCells.Count, nil, sc)
	ranks := quantileRanks(sel.N, asked, &sc.Arena)
	bs.findRuns(counts, ranks, sc)
	divided := assignBins(bs, sel, sc)
	near := sortedMasses{sorted(bs.runs, divided, sel, sc), bs.runs}
	var kept []int
	bs.Edges, kept = near.edges(ranks, sel.MassLo, sel.MassHi, &sc.Arena)
	if bs.Count() < asked {
		renumber(bs, sel, kept)
	}
	assignDivided(bs, sel, divided, sc)
	return bs
}

// sorted returns the masses of the runs, in order: runs stand in order, so that it is
// enough to sort each by itself.
func sorted[T events.Float](runs []run, found [][]divided, sel *events.Selection[T], sc *par.Scratch) []float64 {
	if len(runs) == 0 {
		return nil
	}
	last, parts, count := runs[len(runs)-1], min(len(sel.Parts), len(found)), len(runs)
	masses := par.Make[float64](&sc.Arena, last.index+last.count)
	next := par.Make[int](&sc.Arena, parts*count) // of each part and run: how many masses it has, then where the next of them goes
	part := func(k int) (blocks [][]divided, of []int) {
		return found[len(found)*k/parts : len(found)*(k+1)/parts], next[k*count : (k+1)*count]
	}
	sc.Team.Run(parts, func(k int) {
		blocks, counts := part(k)
		for _, block := range blocks {
			for _, d := range block {
				counts[d.run]++
			}
		}
	})
	for r, ru := range runs {
		at := ru.index
		for k := range parts {
			slot := &next[k*count+r]
			*slot, at = at, at+*slot
		}
	}
	sc.Team.Run(parts, func(k int) {
		blocks, to := part(k)
		for _, block := range blocks {
			for _, d := range block {
				masses[to[d.run]] = float64(sel.Mass[d.event])
				to[d.run]++
			}
		}
	})
	sc.Team.Run(count, func(r int) { slices.Sort(masses[runs[r].index : runs[r].index+runs[r].count]) })
	return masses
}

// findRuns sets the table and the runs, whose edges are not known yet: from the counts
// of masses by cell the bins follow for all cells but those where a rank lies, and the
// nearest filled ones below these.
func (bs *Bins) findRuns(counts []uint32, ranks []int, sc *par.Scratch) {
	every := !bs.fits(len(ranks) + 1)
	before, next := 0, 0 // masses and ranks below the cell
	bs.runs = par.Make[run](&sc.Arena, min(2*len(ranks), len(counts)))[:0]
	for lo := 0; lo < len(counts); lo += cellBlock {
		block := counts[lo:min(lo+cellBlock, len(counts))]
		inside := 0
		for _, count := range block {
			inside += int(count)
		}
		if !every && (next == len(ranks) || ranks[next] >= before+inside) {
			same := bs.table[lo:][:len(block)]
			for i := range same {
				same[i] = uint16(next)
			}
			before += inside
			continue
		}
		for i, count := range block {
			c := lo + i
			bs.table[c] = uint16(next)
			if every {
				bs.addRun(c, before, next, counts)
			} else if next < len(ranks) && ranks[next] < before+int(count) {
				filled := c - 1
				for filled >= 0 && counts[filled] == 0 {
					filled--
				}
				if filled >= 0 && bs.table[filled] < bs.limit {
					bs.addRun(filled, before-int(counts[filled]), next, counts)
				}
				bs.addRun(c, before, next, counts)
			}
			before += int(count)
			for next < len(ranks) && ranks[next] < before {
				next++
			}
		}
	}
}

// cellBlock is how many cells are passed over at once if no rank lies there.
const cellBlock = 16

// addRun makes a run of a cell, which has the mass of this rank as its first.
func (bs *Bins) addRun(cell, rank, bin int, counts []uint32) {
	index := 0
	if last := len(bs.runs) - 1; last >= 0 {
		index = bs.runs[last].index + bs.runs[last].count
	}
	bs.table[cell] = bs.limit + uint16(len(bs.runs))
	bs.runs = append(bs.runs, run{rank: rank, index: index, count: int(counts[cell]), bin: bin})
}
