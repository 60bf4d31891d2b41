package events

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// apart is the ratio of two weights below which the square of the smaller weight might underflow next to the square of the larger weight.
const apart = 0x1p-400

// Balance multiplies the weights of each bin by a power of two, so that the largest becomes about 1, if the weights of different bins may be
// so far apart that squares underflow. The loss does not change: only the ratios of the weights in a bin matter.
func (sel *Selection[T]) Balance(bins int, sc *par.Scratch) {
	if sel.Weight == nil || lanes.IsFloat32[T]() || sel.LeastWeight >= apart*max(-sel.WeightSpan.Lo, sel.WeightSpan.Hi) {
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

// Unit returns the unit of the weights. The loss does not depend on it, to the last bit.
func (sel *Selection[T]) Unit() float64 {
	if sel.Weight == nil || sel.Exponents != nil {
		return 1
	}
	return UnitOf(max(-sel.WeightSpan.Lo, sel.WeightSpan.Hi))
}

// UnitIn returns the factor of the weights of a bin.
func (sel *Selection[T]) UnitIn(b int) float64 {
	if sel.Exponents == nil {
		return sel.Unit()
	}
	return math.Ldexp(1, min(max(-1022, sel.Exponents[b]), 1023))
}

// Effective returns the number of effective events that take part, (sum w)^2 / sum w^2.
func (sel *Selection[T]) Effective() float64 {
	weights, unit := sel.Weight, sel.Unit()
	if weights == nil {
		return float64(sel.N)
	}
	if sel.given != nil {
		weights, unit = sel.given, UnitOf(max(-sel.WeightSpan.Lo, sel.WeightSpan.Hi))
	}
	var sum, squares float64
	for i, pair := range sel.Pairs {
		if pair != NoPair {
			w := float64(weights[i]) * unit
			sum += w
			squares += w * w
		}
	}
	return sum * sum / squares
}

// UnitOfWeights returns the unit of some weights; none: all are 1.
func UnitOfWeights[T Float](weights []T) float64 {
	if len(weights) == 0 {
		return 1
	}
	return UnitOf(max(float64(slices.Max(weights)), -float64(slices.Min(weights))))
}

// UnitOf returns a power of two by which numbers up to largest become about 1, so that their squares do not overflow.
func UnitOf(largest float64) float64 {
	if largest == 0 {
		return 1
	}
	_, exponent := math.Frexp(largest)
	return math.Ldexp(1, min(max(-1022, -exponent), 1023))
}
