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
	leastNorm  = 1e-12 // a smaller direction is rounding, as with order + 1 bins, where the fit is exact
	leastSlope = 1e-6  // of scores that are 0 or 1 in their type: their logits move no further
)

// Steer sets dst to the push of the events of the batch. scores is the range of the scores, and size the length of the
// residual of one label.
func Steer[T events.Float](dst []T, groups []Group[T], st *Steering, scores [2]float64, size, labels int) Pushed {
	found := Pushed{Norm: st.Norm, Spread: 1, Residual: make([]float64, size*labels)}
	clear(dst)
	var n, total, squares float64
	for _, g := range groups {
		n += float64(len(g.weight))
		total += floats.Norm(g.weight, 1)
	}
	for k := range groups {
		g := &groups[k]
		g.setCells(n / total) // the scale of weights has no effect
		g.direct()
		squares += floats.Dot(g.direction, g.direction)
	}
	norm := math.Sqrt(squares)
	found.Norm += st.Rate * (norm - st.Norm)
	var unit float64
	if found.Norm > leastNorm {
		unit = math.Sqrt(n) / max(norm, found.Norm) // a burst of dependence does not burst the push
	}
	bounded := !math.IsInf(scores[0], -1)
	of := logistic{scores[0], scores[1], 1 / (scores[1] - scores[0])}
	if bounded && n > 0 {
		found.Spread = min(1, spread(groups, n, of))
	}
	for k := range groups {
		g := &groups[k]
		residual := g.residual(unit)
		floats.AddScaled(found.Residual[g.label*size:][:size], g.total/n, residual)
		floats.Scale(st.Factor, residual)
		if st.Sum != nil {
			floats.Add(residual, st.Sum[g.label*size:][:size])
		}
		g.push(residual)
		for i, u := range g.direction {
			if at := g.place[i]; int(at) < len(dst) {
				if bounded && !st.Logits {
					u /= max(of.slope(float64(g.score[i])), leastSlope)
				}
				dst[at] = T(u)
				found.Moved++
			}
		}
	}
	return found
}

// logistic is the function from logits to scores in a range.
type logistic struct{ low, high, perWidth float64 }

// slope returns the derivative of a score by its logit.
func (of logistic) slope(score float64) float64 {
	return (score - of.low) * (of.high - score) * of.perWidth
}

// spread returns the standard deviation of the logits of n events: the standard deviation of the scores, over their mean
// slope.
func spread[T events.Float](groups []Group[T], n float64, of logistic) float64 {
	var mean, slopes, squares float64
	for _, g := range groups {
		for i, s := range g.score {
			size := math.Abs(g.weight[i])
			mean += size * float64(s)
			slopes += size * of.slope(float64(s))
		}
	}
	mean /= n
	for _, g := range groups {
		for i, s := range g.score {
			squares += math.Abs(g.weight[i]) * (float64(s) - mean) * (float64(s) - mean)
		}
	}
	return math.Sqrt(squares*n) / slopes
}
