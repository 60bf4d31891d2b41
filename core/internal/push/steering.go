package push

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/walk"
	"gonum.org/v1/gonum/floats"
)

// Steering is the state of a constraint between batches. The caller keeps these numbers.
type Steering struct {
	// Norm is the average of Pushed.Norm over earlier batches, and Rate the share of this batch in the average: 1 for the
	// first.
	Norm, Rate float64
	// Factor multiplies the residual of the batch.
	Factor float64
	// Sum is added to that: the caller's sum of earlier residuals, as long as Pushed.Residual. Nil: none.
	Sum []float64
	// Batch is the number of events that are pushed. The events after it are reference events. 0: all are pushed.
	Batch int
	// Logits asks for the push by the logits of the scores, in place of the scores.
	Logits bool
}

// Pushed is what Direction returns beside the push.
type Pushed struct {
	walk.Result         // the loss, without its bias if Unbiased
	Norm        float64 // the average of the norm of the direction, with this batch
	Spread      float64 // the standard deviation of the logits of background events, at most 1
	Moved       int     // the number of events of the batch that take part
	// Residual has the coefficients of the residual of the batch in the cosines of the ranks of mass and score. It has,
	// for each background label, a row for each function of the masses.
	Residual []float64
}

// Check returns an error for the first number that is out of its range.
func (st *Steering) Check() error {
	switch {
	case !(st.Norm >= 0) || !events.IsFinite(st.Norm):
		return errs.Of(errs.ErrOption, "norm = %v: must be finite and at least 0", st.Norm)
	case !(st.Rate >= 0 && st.Rate <= 1):
		return errs.Of(errs.ErrOption, "rate = %v: must be from 0 to 1", st.Rate)
	case !events.IsFinite(st.Factor):
		return errs.Of(errs.ErrOption, "factor = %v: must be finite", st.Factor)
	}
	for k, x := range st.Sum {
		if !events.IsFinite(x) {
			return errs.Of(errs.ErrNotFinite, "sum[%d] = %v: must be finite", k, x)
		}
	}
	return nil
}

const (
	leastNorm  = 1e-12 // a smaller direction is rounding, as with no more bins than order + 1, which any response fits
	leastSlope = 1e-6  // of scores that are 0 or 1 in their type: their logits move no further
)

// Steer sets dst to the push of the events of the batch. Residual has the size of the result's.
func Steer[T events.Float](dst []T, mv *Moved[T], st *Steering, scores [2]float64, size, labels int) Pushed {
	found := Pushed{Norm: st.Norm, Spread: 1, Residual: make([]float64, size*labels)}
	n := float64(len(mv.place))
	clear(dst)
	if n == 0 {
		return found
	}
	floats.Scale(n/floats.Norm(mv.weight, 1), mv.weight) // the scale of weights has no effect
	groups := mv.groups()
	for k := range groups {
		groups[k].direct(mv.direction[mv.from[k]:mv.from[k+1]])
	}
	norm := floats.Norm(mv.direction, 2)
	found.Norm += st.Rate * (norm - st.Norm)
	var unit float64
	if found.Norm > leastNorm {
		unit = math.Sqrt(n) / max(norm, found.Norm) // a burst of dependence does not burst the push
	}
	for k := range groups {
		g, direction := &groups[k], mv.direction[mv.from[k]:mv.from[k+1]]
		residual := g.residual(direction, unit)
		floats.AddScaled(found.Residual[g.label*size:][:size], g.total/n, residual)
		floats.Scale(st.Factor, residual)
		if st.Sum != nil {
			floats.Add(residual, st.Sum[g.label*size:][:size])
		}
		g.push(direction, residual)
	}
	slope := func(score float64) float64 { // of a score by its logit
		if math.IsInf(scores[0], -1) {
			return 1
		}
		return (score - scores[0]) * (scores[1] - score) / (scores[1] - scores[0])
	}
	if !math.IsInf(scores[0], -1) {
		found.Spread = min(1, mv.spread(slope))
	}
	for i, u := range mv.direction {
		if at := mv.place[i]; int(at) < len(dst) {
			if !st.Logits {
				u /= max(slope(float64(mv.score[i])), leastSlope)
			}
			dst[at] = T(u)
			found.Moved++
		}
	}
	return found
}
