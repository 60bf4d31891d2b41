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

// ranks sets dst to the fraction of the sum of sizes |weight| that lies below each value, plus half of the fraction of equal
// values. The rank of NaN is NaN, and its size does not count. It uses the memory of words.
func ranks[T events.Float](dst []float64, values []T, weights []float64, words []uint64) {
	for i := range dst {
		dst[i] = math.NaN()
	}
	words, la := radix.SortValues(words, values)
	var total, below float64
	for _, r := range words {
		total += math.Abs(weights[la.Index(r)])
	}
	for lo := 0; lo < len(words); {
		value, tied := values[la.Index(words[lo])], 0.0
		hi := lo
		for hi < len(words) && values[la.Index(words[hi])] == value {
			tied += math.Abs(weights[la.Index(words[hi])])
			hi++
		}
		for _, r := range words[lo:hi] {
			dst[la.Index(r)] = (below + tied/2) / total
		}
		below += tied
		lo = hi
	}
}
