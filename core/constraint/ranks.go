package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
	"gonum.org/v1/gonum/floats"
)

// lowestRank is also the distance of the highest rank from 1. A weight below it, of all weights, would give a rank of 0 or 1.
const lowestRank = 1. / (1 << 53)

// setRanks sets the ranks: the part of the sum of sizes |weight| below a score, plus half of the part of equal scores.
func (g *group[T]) setRanks() {
	g.rank = par.Unset[float64](&g.sc.Arena, len(g.score))
	below, score, rank, weight := 0.0, g.score, g.rank, g.weight
	for k := 0; k < len(score); {
		first, tied := k, math.Abs(weight[k])
		for k++; k < len(score) && score[k] == score[first]; k++ {
			tied += math.Abs(weight[k])
		}
		q := min(max((below+tied/2)/g.size, lowestRank), 1-lowestRank)
		for i := first; i < k; i++ {
			rank[i] = q
		}
		below += tied
	}
}

// nearBorder is how far below a border of cells a rank may lie, in cells, and still count as above it. In bins of equal sums the middle
// event of a bin has its rank on a border, and rounding must not decide.
const nearBorder = 1e-9

// cellOf returns in which of so many cells of equal size a rank lies.
func cellOf(rank float64, cells int) int { return min(int(rank*float64(cells)+nearBorder), cells-1) }

// apart is the mark of a strip of masses in which more than one cell has masses.
const apart = math.MaxUint8

// addCells adds the cells of one more variable of mass to the cells of the events. A variable has so many cells, and one more for events
// without a value.
//
// Strips of equal width add up the weights. Most lie in one cell: masses are sorted only in strips that are apart.
func (g *group[T]) addCells(mass []T, limits [2]float64, cells int) {
	n, sc, weight := len(mass), g.sc, g.weight
	strips := events.NewCells(mass, limits[0], limits[1], min(max(64, 2*n), 1<<12), 0.5)
	last := strips.Count() // of events without a value
	strip := par.Unset[uint16](&sc.Arena, n)
	sums := addUp(n, last+1, sc, func(lo, hi int, sums []float64) {
		strip, weight := strip[lo:hi], weight[lo:hi]
		for i, m := range mass[lo:hi] {
			at := last
			if float64(m) >= limits[0] && float64(m) <= limits[1] {
				at = int(strips.Of(m))
			}
			strip[i] = uint16(at)
			sums[at] += math.Abs(weight[i])
		}
	})
	below, cellOfStrip := par.Unset[float64](&sc.Arena, last), par.Unset[uint8](&sc.Arena, last+1)
	total, sum, lower := floats.Sum(sums[:last]), 0.0, 0
	for k, size := range sums[:last] {
		below[k], cellOfStrip[k] = sum, uint8(lower)
		if size > 0 {
			sum += size
			if upper := cellOf(sum/total, cells); upper != lower {
				lower, cellOfStrip[k] = upper, apart
			}
		}
	}
	cellOfStrip[last] = uint8(cells)
	all := par.Unset[uint32](&sc.Arena, n)[:0] // the events in strips that are apart
	for i, at := range strip {
		cell := cellOfStrip[at]
		if cell == apart {
			all, cell = append(all, uint32(i)), 0
		}
		g.cell[i] = g.cell[i]*uint8(cells+1) + cell
	}
	masses := par.Unset[T](&sc.Arena, len(all))
	events.Pick(masses, mass, all)
	sorted := radix.SortValues(masses, sc)
	words := sorted.Words
	for k := 0; k < len(words); {
		first, tied := k, 0.0
		for ; k < len(words) && masses[sorted.Index(words[k])] == masses[sorted.Index(words[first])]; k++ {
			tied += math.Abs(weight[all[sorted.Index(words[k])]])
		}
		at := strip[all[sorted.Index(words[first])]]
		cell := uint8(cellOf((below[at]+tied/2)/total, cells))
		below[at] += tied
		for _, word := range words[first:k] {
			g.cell[all[sorted.Index(word)]] += cell
		}
	}
}
