package constraint

import (
	"math"
	"sort"

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

// check returns an error for the first number that is out of its range, where a state has size numbers.
func (st *Steering) check(size int) error {
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

// steer sets push, multiplier and slope, with an element for each event of the batch, and brings the state up to date. Events that
// take no part have the push 0, the multiplier 1 and the slope 0. scores is the range of the scores, and found the unbiased loss of the
// batch.
func steer[T events.Float](push, multiplier, slope []T, groups []group[T], st Steering, found walk.Result, scores [2]float64, labels int) (Pushed, error) {
	clear(push)
	clear(slope)
	for i := range multiplier {
		multiplier[i] = 1
	}
	n, squares := weigh(groups), 0.0
	for k := range groups {
		groups[k].setCells()
		squares += groups[k].direct()
	}
	norm := math.Sqrt(squares)
	if math.IsInf(found.Loss*found.Loss, 0) || !events.IsFinite(norm) {
		return Pushed{}, errs.Of(errs.ErrOverflow, "loss = %v with a gradient of norm %v: too large to be squared", found.Loss, norm)
	}
	now := state(st.State)
	if now == nil {
		now = make(state, StateSize(labels))
	}
	var before [numbers]float64 // the rest of the state changes at the end
	copy(before[:], now)
	if known := now[masses]; known != 0 && int(known) != len(groups[0].masses) {
		return Pushed{}, errs.Of(errs.ErrLength, "state is of %v variables of mass, and these events have %d: give each its own state", known, len(groups[0].masses))
	}
	now.average(norm, found, len(groups[0].masses))
	var unit float64
	if now[meanNorm] > leastNorm {
		unit = math.Sqrt(n) / max(norm, now[meanNorm]) // a batch with an unusually large gradient gets no larger push
	}
	bounded, spread := !math.IsInf(scores[0], -1), 1.0
	if bounded {
		spread = min(1, spreadOf(groups, n, scores))
	}
	learned, moved := make([]labelResiduals, labels), 0
	for k := range groups {
		g := &groups[k]
		residual, levels := g.residual(unit), []float64(nil)
		coefficients := make([]float64, len(residual))
		if st.RelativeStrength > 0 {
			floats.AddScaled(coefficients, st.RelativeStrength, residual)
		} else {
			tail := now.tail(g.label, g.basis.functions, st.Tolerance)
			floats.AddScaledTo(coefficients, now.sum(g.label, g.basis.functions), proportional*now[factor], residual)
			levels = g.levels(tail)
		}
		g.addTo(&learned[g.label], residual, g.tailResidual())
		pushed := g.set(push, multiplier, slope, g.function(coefficients), levels, scores, bounded && !st.Logits)
		learned[g.label].moved += float64(pushed)
		moved += pushed
	}
	if i := events.FirstNotFinite(push); i >= 0 {
		copy(now, before[:])
		return Pushed{}, errs.Of(errs.ErrOverflow, "push[%d] overflows its type: score_range = [%v, %v] is so narrow that derivatives by scores are too large",
			i, scores[0], scores[1])
	}
	now.follow(st.Tolerance)
	for k := range groups {
		see(now.sample(groups[k].label), groups[k].masses[0])
	}
	for label := range learned {
		now.learn(label, &learned[label], n, st.Tolerance, st.RelativeStrength > 0)
	}
	if moved == 0 {
		return Pushed{Result: found}, nil
	}
	return Pushed{found, spread / math.Sqrt(float64(moved))}, nil
}

// set sets push, multiplier and slope of the events of the batch, and returns their number. perWeight is the push per weight in each
// cell.
func (g *group[T]) set(push, multiplier, slope []T, perWeight, levels []float64, scores [2]float64, byScores bool) int {
	pushed := sort.Search(len(g.place), func(i int) bool { return int(g.place[i]) >= len(push) })
	g.sc.Team.Blocks(pushed, block, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at, u, byLogit := g.place[i], perWeight[g.cell[i]]*g.weight[i], 1.0
			if byScores {
				p := placeIn(scores, float64(g.score[i]))
				byLogit = p * (1 - p) * (scores[1] - scores[0])
				if p < leastPlace || p > 1-leastPlace {
					u = 0
				} else {
					u /= byLogit
				}
			}
			push[at] = T(u)
			if slope != nil {
				slope[at] = T(byLogit)
			}
			multiplier[at] = T(g.lift[i])
			if levels != nil {
				multiplier[at] = T(g.lift[i] * g.multiplier(levels, i))
			}
		}
	})
	return pushed
}

// placeIn returns where a score lies in a range, which a logistic function of logits fills, from 0 to 1.
func placeIn(scores [2]float64, score float64) float64 {
	return (score - scores[0]) / (scores[1] - scores[0])
}

// spreadOf returns the standard deviation of the logits of n events: the standard deviation of the scores, over their mean
// slope. It is 0 if all scores are equal, also where the slope is 0.
func spreadOf[T events.Float](groups []group[T], n float64, scores [2]float64) float64 {
	first := placeIn(scores, float64(groups[0].score[0])) // equal scores differ from it by exactly 0
	var mean, slopes, squares float64
	for k := range groups {
		g := &groups[k]
		sums := g.sums(2, func(lo, hi int, sums []float64) {
			for i, s := range g.score[lo:hi] {
				size, p := math.Abs(g.weight[lo+i]), placeIn(scores, float64(s))
				sums[0] += size * (p - first)
				sums[1] += size * p * (1 - p)
			}
		})
		mean += sums[0] / n
		slopes += sums[1]
	}
	for k := range groups {
		g := &groups[k]
		squares += g.sum(func(lo, hi int) (sum float64) {
			for i, s := range g.score[lo:hi] {
				d := placeIn(scores, float64(s)) - first - mean
				sum += math.Abs(g.weight[lo+i]) * d * d
			}
			return sum
		})
	}
	if squares == 0 {
		return 0
	}
	return math.Sqrt(squares*n) / slopes
}
