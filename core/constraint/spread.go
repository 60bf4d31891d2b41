package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
)

// spread returns the standard deviation of the logits of n events: the standard deviation of the scores, over their mean
// slope by the logit. It is 0 if all scores are equal, also where the slope is 0, and 1 of scores without a range.
func (ca *call[T]) spread(all []*group[T], n float64) float64 {
	lo, hi := ca.plan.ScoreRange[0], ca.plan.ScoreRange[1]
	perWidth := 1 / (hi - lo)
	var ofLogit func(logit float64) (place, slope float64) // in any unit
	if ca.Logits {
		ofLogit = probabilities(all)
	} else if !ca.bounded() {
		return 1
	}
	at := func(score float64) (place, slope float64) {
		if ca.Logits {
			return ofLogit(score)
		}
		p := (score - lo) * perWidth
		return p, p * (1 - p)
	}
	first, _ := at(all[0].score[len(all[0].score)/2]) // equal scores differ from it by exactly 0
	var sum, squares, slopes float64
	for _, g := range all {
		scale := g.total / g.size
		for i, w := range g.weight {
			place, slope := at(g.score[i])
			size, d := math.Abs(w)*scale, place-first
			sum += size * d
			squares += size * d * d
			slopes += size * slope
		}
	}
	variance := max(0, squares-sum*sum/n)
	if variance == 0 {
		return 0
	}
	return math.Sqrt(variance*n) / slopes
}

// probabilities returns a function for spread: of a logit the probability of its rarer side, in a unit that does not underflow, and
// its derivative.
func probabilities[T events.Float](all []*group[T]) func(logit float64) (place, slope float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, g := range all {
		low, high = min(low, g.score[0]), max(high, g.score[len(g.score)-1])
	}
	sign := 1.0
	if low > 0 {
		sign, high = -1, -low
	}
	unit := min(high, 0)
	return func(logit float64) (place, slope float64) {
		z := sign * logit
		if z > 0 {
			q := math.Exp(-z)
			return 1 / (1 + q), q / (1 + q) / (1 + q)
		}
		p, q := math.Exp(z-unit), 1/(1+math.Exp(z))
		return p * q, p * q * q
	}
}
