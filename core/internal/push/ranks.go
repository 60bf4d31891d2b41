// Package push turns the gradient of a batch into a push of its background: a smooth function of mass and score, which
// leaves out most of the noise of a batch.
//
// An event has a rank q inside (0, 1) among the scores of its group, and one among each of its masses. The functions are
// products of cosines of these ranks, tabulated on a grid of cells.
package push

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/radix"
)

// lowestRank is also the distance of the highest rank from 1. A weight below it, of all weights, would give a rank of 0 or 1.
const lowestRank = 1. / (1 << 53)

// ranks sets dst to the fraction of the sum of sizes |weight| that lies below each value, plus half of the fraction of equal
// values. The rank of NaN is NaN, and its size does not count. It uses the memory of words.
func ranks[T events.Float](dst []float64, values []T, weights []float64, words []uint64) {
	words, la := radix.SortValues(words, values)
	var total, below float64
	for i, w := range weights {
		if values[i] != values[i] {
			dst[i] = math.NaN()
			continue
		}
		total += math.Abs(w)
	}
	for lo := 0; lo < len(words); {
		first := la.Index(words[lo])
		tied, hi := math.Abs(weights[first]), lo+1
		for ; hi < len(words); hi++ {
			at := la.Index(words[hi])
			if values[at] != values[first] {
				break
			}
			tied += math.Abs(weights[at])
		}
		rank := min(max((below+tied/2)/total, lowestRank), 1-lowestRank)
		for _, r := range words[lo:hi] {
			dst[la.Index(r)] = rank
		}
		below += tied
		lo = hi
	}
}
