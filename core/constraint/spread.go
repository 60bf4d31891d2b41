package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
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
	room := func() []float64 { return par.Unset[float64](&all[0].sc.Arena, int(n))[:0] }
	places, slopes, sizes := room(), room(), room()
	for k := range all {
		scale := all[k].total / all[k].size
		for i, w := range all[k].weight {
			if w != 0 {
				place, slope := at(all[k].events.Score[i])
				places, slopes, sizes = append(places, place), append(slopes, slope), append(sizes, math.Abs(w)*scale)
			}
		}
	}
	floats.AddConst(-places[0], places) // equal scores differ by exactly 0
	floats.AddConst(-floats.Dot(places, sizes)/n, places)
	squares := floats.Dot(floats.MulTo(places, places, places), sizes)
	if squares == 0 {
		return 0
	}
	return math.Sqrt(squares*n) / floats.Dot(slopes, sizes)
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
