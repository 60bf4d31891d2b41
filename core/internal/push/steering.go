package push

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/walk"
	"gonum.org/v1/gonum/floats"
)

// Steering says how strongly a constraint pushes, and holds what it remembers.
type Steering struct {
	// RelativeStrength is a fixed strength: the push is this times the residual. 0: the push is 4 times the residual plus the
	// sum of earlier ones, which finds the strength.
	RelativeStrength float64
	// Tolerance is a number of background events. While a test with so many sees no dependence, push and sum shrink. 0: none.
	Tolerance float64
	// State is what is remembered of earlier batches, StateSize numbers, all 0 before the first. Direction brings it up to date;
	// after an error it is as before. Nil: nothing is remembered.
	State []float64
	// Batch is the number of events that are pushed. The events after it are reference events. 0: all are pushed.
	Batch int
	// Logits says that the push is with respect to the logits of the scores, in place of the scores.
	Logits bool
}

// Pushed is what Direction returns beside the push.
type Pushed struct {
	walk.Result // the loss, without its bias; NaN if the bias cannot be known
	// Size is what the push is to be multiplied with, over the norm of the gradient of the events that are moved: the standard
	// deviation of the logits of background events, at most 1, over the square root of the number of events that are moved.
	Size float64
}

// Check returns an error for the first number that is out of its range, where a state has size numbers.
func (st *Steering) Check(size int) error {
	switch {
	case !(st.RelativeStrength >= 0) || !events.IsFinite(st.RelativeStrength):
		return errs.Of(errs.ErrOption, "relative_strength = %v: must be finite and at least 0", st.RelativeStrength)
	case !(st.Tolerance >= 0) || !events.IsFinite(st.Tolerance):
		return errs.Of(errs.ErrOption, "tolerance = %v: must be finite and at least 0", st.Tolerance)
	case st.Tolerance > 0 && st.RelativeStrength > 0:
		return errs.Of(errs.ErrOption, "relative_strength = %v and tolerance = %v: a fixed strength ignores the tolerance",
			st.RelativeStrength, st.Tolerance)
	case st.Tolerance > 0 && st.State == nil:
		return errs.Of(errs.ErrOption, "tolerance = %v, but there is no state, which it follows", st.Tolerance)
	case st.State != nil && len(st.State) != size:
		return errs.Of(errs.ErrLength, "state has length %d, and must have %d for these background labels",
			len(st.State), size)
	}
	return state(st.State).check()
}

const (
	leastNorm  = 1e-12 // a smaller direction is rounding, as with order + 1 bins, where the fit is exact
	leastPlace = 1e-6  // a score this near to an end of score_range, per width, is not pushed: its logit is far out
)

// Steer sets dst to the push of the events of the batch, and slope, if it is not nil, to the derivatives of their scores by the
// logits. scores is the range of the scores, and found the unbiased loss of the batch.
func Steer[T events.Float](dst, slope []T, groups []Group[T], st Steering, found walk.Result, scores [2]float64, labels int) (Pushed, error) {
	clear(dst)
	clear(slope)
	var n, largest, total, squares float64
	for _, g := range groups {
		n += float64(len(g.weight))
		for _, w := range g.weight {
			if size := math.Abs(w); size > largest { // floats.Norm takes 7 ns a weight
				largest = size
			}
		}
	}
	for k := range groups {
		total += groups[k].scaleWeights(min(1/largest, 1e308)) // 1/largest may overflow
	}
	for k := range groups {
		g := &groups[k]
		g.scaleWeights(n / total) // their scale has no effect
		g.setCells()
		g.direct()
		squares += floats.Dot(g.direction, g.direction)
	}
	norm := math.Sqrt(squares)
	if math.IsInf(found.Loss*found.Loss, 0) || !events.IsFinite(norm) {
		return Pushed{}, errs.Of(errs.ErrOverflow, "loss = %v with a gradient of norm %v: too large to be squared", found.Loss, norm)
	}
	now := state(st.State)
	if now == nil {
		now = make(state, StateSize(labels))
	}
	now.average(norm, found)
	var unit float64
	if now[meanNorm] > leastNorm {
		unit = math.Sqrt(n) / max(norm, now[meanNorm]) // a burst of dependence does not burst the push
	}
	strength := st.RelativeStrength
	if strength == 0 {
		strength = proportional * now[factor]
	}
	bounded := !math.IsInf(scores[0], -1)
	width, spread := scores[1]-scores[0], 1.0
	of := scoreRange{scores[0], 1 / width}
	if bounded {
		spread = min(1, spreadOf(groups, n, of))
	}
	residuals, moved := make([]float64, len(now.sum())), 0
	for k := range groups {
		g := &groups[k]
		residual, from := g.residual(unit), g.label*ofLabel
		floats.AddScaled(residuals[from:][:len(residual)], g.total/n, residual)
		floats.Scale(strength, residual)
		if st.RelativeStrength == 0 {
			floats.Add(residual, now.sum()[from:][:len(residual)])
		}
		g.push(residual)
		for i, u := range g.direction {
			at := int(g.place[i])
			if at >= len(dst) {
				continue
			}
			moved++
			byLogit := 1.0
			if bounded && !st.Logits {
				p := of.place(float64(g.score[i]))
				byLogit = p * (1 - p) * width
				if p < leastPlace || p > 1-leastPlace {
					u = 0
				} else {
					u /= byLogit
				}
			}
			dst[at] = T(u)
			if slope != nil {
				slope[at] = T(byLogit)
			}
		}
	}
	if st.RelativeStrength == 0 {
		now.learn(residuals, len(dst), st.Tolerance)
	}
	if moved == 0 {
		return Pushed{Result: found}, nil
	}
	return Pushed{found, spread / math.Sqrt(float64(moved))}, nil
}

// scoreRange is a range of scores, which a logistic function of logits fills.
type scoreRange struct{ low, perWidth float64 }

// place returns where a score lies in the range, from 0 to 1.
func (of scoreRange) place(score float64) float64 { return (score - of.low) * of.perWidth }

// spreadOf returns the standard deviation of the logits of n events: the standard deviation of the scores, over their mean
// slope. It is 0 if all scores are equal, also where the slope is 0.
func spreadOf[T events.Float](groups []Group[T], n float64, of scoreRange) float64 {
	var mean, slopes, squares float64
	for _, g := range groups {
		for i, s := range g.score {
			size, p := math.Abs(g.weight[i]), of.place(float64(s))
			mean += size * p
			slopes += size * p * (1 - p)
		}
	}
	mean /= n
	for _, g := range groups {
		for i, s := range g.score {
			d := of.place(float64(s)) - mean
			squares += math.Abs(g.weight[i]) * d * d
		}
	}
	if squares == 0 {
		return 0
	}
	return math.Sqrt(squares*n) / slopes
}
