package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
)

// spread returns the standard deviation of the logits of n events: the standard deviation of the scores, over their mean
// slope by the logit. It is 0 if all scores are equal, also where the slope is 0, and 1 of scores without a range.
func (ca *call[T]) spread(all []ranked[T], n float64) float64 {
	lo, hi := ca.plan.ScoreRange[0], ca.plan.ScoreRange[1]
	at := func(score T) (place, slope float64) { // in any unit
		p := (float64(score) - lo) / (hi - lo)
		return p, p * (1 - p)
	}
	if ca.Logits {
		at = probabilities(all)
	} else if !ca.bounded() {
		return 1
	}
	var first, mean, slopes, squares float64
	for k := range all[0].raw {
		if all[0].raw[k] != 0 {
			first, _ = at(all[0].events.Score[k]) // equal scores differ from it by exactly 0
			break
		}
	}
	places := make([][]float64, len(all)) // less the first
	for k := range all {
		r := &all[k]
		places[k] = par.Unset[float64](&r.sc.Arena, len(r.raw))
		sums := addUp(len(r.raw), 2, r.sc, func(lo, hi int, sums []float64) {
			weight, places := r.weight[lo:hi], places[k][lo:hi]
			for i, s := range r.events.Score[lo:hi] {
				place, slope := at(s)
				places[i] = place - first
				if size := math.Abs(weight[i]); size != 0 {
					sums[0] += size * places[i]
					sums[1] += size * slope
				}
			}
		})
		mean += sums[0] * (r.total / r.size) / n
		slopes += sums[1] * (r.total / r.size)
	}
	for k := range all {
		r := &all[k]
		squares += r.total / r.size * addUp(len(r.raw), 1, r.sc, func(lo, hi int, sums []float64) {
			weight, sum := r.weight[lo:hi], 0.0
			for i, d := range places[k][lo:hi] {
				if size := math.Abs(weight[i]); size != 0 {
					sum += size * (d - mean) * (d - mean)
				}
			}
			sums[0] = sum
		})[0]
	}
	if squares == 0 {
		return 0
	}
	return math.Sqrt(squares*n) / slopes
}

// probabilities returns a function for spread: of a logit the probability of its rarer side, in a unit that does not underflow, and
// its derivative.
func probabilities[T events.Float](all []ranked[T]) func(logit T) (place, slope float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for k := range all {
		for i, z := range all[k].events.Score {
			if all[k].raw[i] != 0 {
				low, high = min(low, float64(z)), max(high, float64(z))
			}
		}
	}
	sign := 1.0
	if low > 0 {
		sign, high = -1, -low
	}
	unit := min(high, 0)
	return func(logit T) (place, slope float64) {
		z := sign * float64(logit)
		if z > 0 {
			q := math.Exp(-z)
			return 1 / (1 + q), q / (1 + q) / (1 + q)
		}
		p, q := math.Exp(z-unit), 1/(1+math.Exp(z))
		return p * q, p * q * q
	}
}
