// Package push makes of the gradient of a batch, event by event, what pushes its background: a smooth function of mass
// and score, in which most of the noise of a batch is left out.
//
// An event has a rank q inside (0, 1) among the scores of its group, and one among each of its masses. The functions
// are products of cosines of these ranks, looked up on a grid of cells.
package push

import (
	"math"

	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
)

// ranker finds ranks, with memory of its own.
type ranker struct {
	words []uint64
}

// ranks sets dst to the part of the sum of sizes that lies below each value, with half of that of equal ones.
func ranks[T radix.Float](dst []float64, values []T, sizes []float64, rk *ranker) {
	n := len(values)
	lowest, highest, bits := math.Inf(1), math.Inf(-1), uint64(0)
	for _, v := range values {
		x := float64(v)
		lowest, highest = min(lowest, x), max(highest, x)
		bits |= math.Float64bits(x)
	}
	layout := radix.NewLayout[T](lowest, highest, bits, n, 1)
	rk.words = par.Grown(rk.words, n)
	for i, v := range values {
		rk.words[i] = radix.Pack(&layout, v, i)
	}
	radix.Sort(rk.words, []uint32{0, uint32(n)}, &layout, values)
	var total float64
	for _, size := range sizes {
		total += size
	}
	var below float64
	for lo := 0; lo < n; {
		value, tied := values[int(layout.IndexMask&rk.words[lo])], 0.0
		hi := lo
		for hi < n && values[int(layout.IndexMask&rk.words[hi])] == value {
			tied += sizes[int(layout.IndexMask&rk.words[hi])]
			hi++
		}
		middle := (below + tied/2) / total
		for _, r := range rk.words[lo:hi] {
			dst[int(layout.IndexMask&r)] = middle
		}
		below += tied
		lo = hi
	}
}
