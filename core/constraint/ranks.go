// Package constraint keeps the scores of background independent of the mass while a classifier trains. Direction turns the
// gradient of the loss of a batch into a push of its background: a smooth function of mass and score, which leaves out most of
// the noise of a batch.
//
// An event has a rank q inside (0, 1) among the scores of its group, and one among each of its masses. The functions are
// products of cosines of these ranks, tabulated on a grid of cells.
package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
)

// lowestRank is also the distance of the highest rank from 1. A weight below it, of all weights, would give a rank of 0 or 1.
const lowestRank = 1. / (1 << 53)

// nearBorder is how far below a border of cells a rank may lie, in cells, and still count as above it. In bins of equal sums the middle
// event of a bin has its rank on a border, and rounding must not decide.
const nearBorder = 1e-9

// cellOf returns in which of so many cells of equal size a rank lies.
func cellOf(rank float64, cells int) int { return min(int(rank*float64(cells)+nearBorder), cells-1) }

// ranks sets dst to the fraction of the sum of sizes |weight| that lies below each value, plus half of the fraction of equal
// values. The rank of NaN is NaN, and its size does not count.
func ranks[T events.Float](dst []float64, values []T, weights []float64, sc *par.Scratch) {
	sorted := radix.SortValues(values, sc)
	cells := len(sorted.Cells) - 1
	below := par.Make[float64](&sc.Arena, cells+1) // first the sum of each cell, then of the cells below it
	sc.Team.Run(cells, func(c int) { below[c+1] = sumBelow(dst, values, weights, &sorted, c) })
	for c := range cells {
		below[c+1] += below[c]
	}
	total := below[cells]
	sc.Team.Blocks(len(dst), block, func(lo, hi int) {
		for i, v := range values[lo:hi] {
			rank := math.NaN()
			if v == v {
				rank = min(max((below[sorted.CellOf(v)]+dst[lo+i])/total, lowestRank), 1-lowestRank)
			}
			dst[lo+i] = rank
		}
	})
}

// sumBelow sets dst to the sum of sizes below each value of a cell of records, plus half of the sizes of equal values. It
// returns the sum of all sizes of the cell.
func sumBelow[T events.Float](dst []float64, values []T, weights []float64, sorted *radix.Sorted[T], cell int) (below float64) {
	words := sorted.Words[sorted.Cells[cell]:sorted.Cells[cell+1]]
	for lo := 0; lo < len(words); {
		first := sorted.Index(words[lo])
		tied, hi := math.Abs(weights[first]), lo+1
		for ; hi < len(words); hi++ {
			at := sorted.Index(words[hi])
			if values[at] != values[first] {
				break
			}
			tied += math.Abs(weights[at])
		}
		for _, r := range words[lo:hi] {
			dst[sorted.Index(r)] = below + tied/2
		}
		below += tied
		lo = hi
	}
	return below
}
