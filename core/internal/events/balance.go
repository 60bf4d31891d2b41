package events

import (
	"math"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// apart is the ratio of two weights below which the square of the smaller weight might underflow next to the square of the larger weight.
const apart = 0x1p-400

// Balance multiplies the weights of each bin by a power of two, so that the largest becomes about 1, if the weights of different bins may be
// so far apart that squares underflow. The loss does not change: only the ratios of the weights in a bin matter.
func (sel *Selection[T]) Balance(bins int, sc *par.Scratch) {
	if sel.Weight == nil || lanes.IsFloat32[T]() || sel.WeightLeast >= apart*max(-sel.WeightMin, sel.WeightMax) {
		return
	}
	if sel.given == nil {
		sel.given, sel.Weight = sel.Weight, par.Unset[T](&sc.Arena, len(sel.Weight))
	}
	largest := make([]float64, bins)
	for i, pair := range sel.Pairs {
		if pair != NoPair {
			b := pair & BinMask
			largest[b] = max(largest[b], math.Abs(float64(sel.given[i])))
		}
	}
	sel.Exponents = make([]int, bins)
	for b, w := range largest {
		_, exponent := math.Frexp(w)
		sel.Exponents[b] = -exponent
	}
	for i, pair := range sel.Pairs {
		if sel.Weight[i] = 0; pair != NoPair {
			sel.Weight[i] = T(math.Ldexp(float64(sel.given[i]), sel.Exponents[pair&BinMask]))
		}
	}
}
