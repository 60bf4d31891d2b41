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
	sorted, below := radix.SortValues(values, sc), 0.0
	for i := range dst {
		dst[i] = math.NaN()
	}
	for words := sorted.Words; len(words) > 0; {
		first, tied, n := sorted.Index(words[0]), 0.0, 0
		for ; n < len(words) && values[sorted.Index(words[n])] == values[first]; n++ {
			tied += math.Abs(weights[sorted.Index(words[n])])
		}
		for _, r := range words[:n] {
			dst[sorted.Index(r)] = below + tied/2
		}
		below, words = below+tied, words[n:]
	}
	for i, sum := range dst {
		dst[i] = min(max(sum/below, lowestRank), 1-lowestRank)
	}
}
