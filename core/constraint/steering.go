package constraint

import (
	"math"
	"slices"
	"sort"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/moments"
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
	// Logits says that the scores of the events are logits. The push is with respect to them, and their order alone matters for it.
	Logits bool
	// TrainingEvents is the number of background events of the whole training, of all labels and processes. The multiplier learns
	// no fluctuations of so few. 0: unknown.
	TrainingEvents float64
	// Categories is the number of values of Events.Category, 0 to Categories-1. Each has a push and a memory of its own. A
	// category with too few events in a batch for bins gets no push from it, and its memory stays. 0: events have no category.
	Categories int
}

// Pushed is what Direction returns beside the push.
type Pushed struct {
	loss.Result // the loss, without its bias; NaN if the bias cannot be known
	// Size is what the push is to be multiplied with, over the norm of the gradient of the events that are moved: the standard
	// deviation of the logits of background events, at most 1, over the square root of the number of events that are moved.
	Size float64
}

// check returns an error for the first number that is out of its range, for events with so many background labels.
func (st *Steering) check(labels int) error {
	switch {
	case StateSize(labels, st.Categories) == 0:
		return errs.Of(errs.ErrOption, "categories = %d: must be from 0 to what an array has room for", st.Categories)
	case !(st.RelativeStrength >= 0) || !events.IsFinite(st.RelativeStrength):
		return errs.Of(errs.ErrOption, "relative_strength = %v: must be finite and at least 0", st.RelativeStrength)
	case !(st.Tolerance >= 0) || !events.IsFinite(st.Tolerance):
		return errs.Of(errs.ErrOption, "tolerance = %v: must be finite and at least 0", st.Tolerance)
	case st.Tolerance > 0 && st.RelativeStrength > 0:
		return errs.Of(errs.ErrOption, "relative_strength = %v and tolerance = %v: a fixed strength ignores the tolerance",
			st.RelativeStrength, st.Tolerance)
	case st.Tolerance > 0 && st.State == nil:
		return errs.Of(errs.ErrOption, "tolerance = %v, but there is no state, which it follows", st.Tolerance)
	case !(st.TrainingEvents >= 0) || !events.IsFinite(st.TrainingEvents):
		return errs.Of(errs.ErrOption, "training_events = %v: must be finite and at least 0", st.TrainingEvents)
	case st.State != nil:
		return CheckState(st.State, labels, st.Categories)
	}
	return nil
}

// different returns the number of different events of a part, which has such a share of the events of a batch; Inf: unknown.
func (st *Steering) different(share float64) float64 {
	if st.TrainingEvents == 0 {
		return math.Inf(1)
	}
	return st.TrainingEvents * share
}

const (
	leastNorm  = 1e-12 // a smaller direction is rounding, as with order + 1 bins, where the fit is exact
	leastPlace = 1e-6  // a score this near to an end of score_range, per width, is not pushed: its logit is far out
)

// steer sets push, multiplier and slope, with an element for each event of the batch, and brings the state up to date. Events that
// take no part have the push 0, the multiplier 1 and the slope 0. scores is the range of the scores, and found the unbiased loss of the
// batch.
func steer[T events.Float](push, multiplier, slope []T, groups []group[T], spectraOf func(*group[T]) *spectra, options *moments.Options, st Steering, found loss.Result, scores [2]float64, labels int) (Pushed, error) {
	clear(push)
	clear(slope)
	for i := range multiplier {
		multiplier[i] = 1
	}
	now := state(slices.Clone(st.State))
	if now == nil {
		now = make(state, StateSize(labels, st.Categories))
	}
	if known := now[masses]; known != 0 && int(known) != len(groups[0].masses) {
		return Pushed{}, errs.Of(errs.ErrLength, "state is of %v variables of mass, and these events have %d: give each its own state", known, len(groups[0].masses))
	}
	n, squares, learned := weigh(groups), 0.0, make([]residuals, len(groups))
	for k := range groups {
		g := &groups[k]
		g.setCells()
		pushed := float64(sort.Search(len(g.place), func(i int) bool { return int(g.place[i]) >= len(push) }))
		averages, share := now.tail(g.part, g.basis.functions, st.Tolerance).moments, recentShare(pushed, now.field(g.part, ofBatches)[0]+1)
		of := residuals{part: g.part, basis: g.basis, events: float64(len(g.place)), moved: pushed}
		of.ofTail, of.allowed, of.limited = g.tailResidual(options, averages, share)
		if st.RelativeStrength > 0 { // the bound is in the gradient
			of.limited.beyond = nil
		}
		squares += g.direct(of.limited.beyond)
		of.effective = g.effective
		learned[k] = of
	}
	norm := math.Sqrt(squares)
	if math.IsInf(found.Loss*found.Loss, 0) || !events.IsFinite(norm) {
		return Pushed{}, errs.Of(errs.ErrOverflow, "loss = %v with a gradient of norm %v: too large to be squared", found.Loss, norm)
	}
	now.average(norm, found, len(groups[0].masses), st.Categories)
	var unit float64
	if now[meanNorm] > leastNorm {
		unit = math.Sqrt(n) / max(norm, now[meanNorm]) // a batch with an unusually large gradient gets no larger push
	}
	bounded, spread := !math.IsInf(scores[0], -1), 1.0
	switch {
	case st.Logits:
		spread = spreadOf(groups, n, probabilities(groups))
	case bounded:
		spread = spreadOf(groups, n, func(score T) (place, slope float64) {
			p := placeIn(scores, float64(score))
			return p, p * (1 - p)
		})
	}
	spread = min(1, spread)
	ofLabel, eventsOfLabel := make([]float64, labels), make([]float64, labels) // sums over its categories
	for k := range groups {
		ofLabel[groups[k].label] += groups[k].total
		eventsOfLabel[groups[k].label] += float64(len(groups[k].place))
	}
	moved := 0
	for k := range groups {
		g := &groups[k]
		residual, levels, count := g.residual(unit), []float64(nil), float64(len(g.place))
		// A function of the ranks of few events is most of all their own noise: it gets no larger push than the noise of a whole batch.
		trusted := min(1, count/min(eventsOfABatch, eventsOfLabel[g.label]))
		coefficients := make([]float64, len(residual))
		if st.RelativeStrength > 0 {
			floats.AddScaled(coefficients, trusted*st.RelativeStrength, residual)
		} else {
			floats.AddScaledTo(coefficients, now.sum(g.part, g.basis.functions), trusted*proportional*now[factor], residual)
			levels = g.levels(now.tail(g.part, g.basis.functions, st.Tolerance))
		}
		learned[k].ofPush = residual
		learned[k].shares, learned[k].masses = g.inCells()
		planed := now.start(g.part, g.basis.cells)
		planed.take(spectraOf(g))
		if st.RelativeStrength == 0 {
			g.start = planed.multipliers()
		}
		if g.start != nil && !options.Bounded() { // a bounded moment is not free
			shares, means := now.seen(&learned[k])
			g.keepMoments(g.start, planed.background, shares, means, options.Order)
		}
		moved += g.set(push, multiplier, slope, g.function(coefficients), levels, scores, bounded, st.Logits)
	}
	if st.TrainingEvents > 0 && float64(moved) > st.TrainingEvents {
		return Pushed{}, errs.Of(errs.ErrOption, "training_events = %v: this batch has %d background events, and the whole training cannot have fewer",
			st.TrainingEvents, moved)
	}
	if i := events.FirstNotFinite(push); i >= 0 {
		return Pushed{}, errs.Of(errs.ErrOverflow, "push[%d] overflows its type: score_range = [%v, %v] is so narrow that derivatives by scores are too large",
			i, scores[0], scores[1])
	}
	now.follow(st.Tolerance)
	for k := range groups {
		g := &groups[k]
		now.learn(&learned[k], ofLabel[g.label]/n, st.Tolerance, st.different(learned[k].events/n), st.RelativeStrength > 0)
	}
	copy(st.State, now)
	if moved == 0 {
		return Pushed{Result: found}, nil
	}
	return Pushed{found, spread / math.Sqrt(float64(moved))}, nil
}

// set sets push, multiplier and slope of the events of the batch, and returns their number. perWeight is the push per weight in each
// cell.
func (g *group[T]) set(push, multiplier, slope []T, perWeight, levels []float64, scores [2]float64, byScores, logits bool) int {
	pushed := sort.Search(len(g.place), func(i int) bool { return int(g.place[i]) >= len(push) })
	g.sc.Team.Blocks(pushed, block, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at, start, byLogit := g.place[i], g.startOf(i), 1.0
			u := perWeight[g.cell[i]] * g.weight[i] * math.Sqrt(max(start, 1)) // or the planed gradient outweighs it
			odds := math.Inf(1)                                                // of background; scores without bounds have none
			switch {
			case logits:
				odds = math.Exp(-float64(g.score[i]))
			case byScores:
				p := placeIn(scores, float64(g.score[i]))
				odds = (1 - p) / math.Abs(p) // of -0 too
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
			v := 0.0
			if levels != nil {
				v = g.level(levels, i)
			}
			multiplier[at] = T(g.lift[i] * multiplied(start, v, odds))
		}
	})
	return pushed
}

// placeIn returns where a score lies in a range, which a logistic function of logits fills, from 0 to 1.
func placeIn(scores [2]float64, score float64) float64 {
	return (score - scores[0]) / (scores[1] - scores[0])
}

// spreadOf returns the standard deviation of the logits of n events: the standard deviation of the scores, over their mean
// slope by the logit. It is 0 if all scores are equal, also where the slope is 0. at returns the place and the slope of a score, in any unit.
func spreadOf[T events.Float](groups []group[T], n float64, at func(score T) (place, slope float64)) float64 {
	first, _ := at(groups[0].score[0]) // equal scores differ from it by exactly 0
	var mean, slopes, squares float64
	for k := range groups {
		g := &groups[k]
		sums := g.sums(2, func(lo, hi int, sums []float64) {
			for i, s := range g.score[lo:hi] {
				size := math.Abs(g.weight[lo+i])
				place, slope := at(s)
				sums[0] += size * (place - first)
				sums[1] += size * slope
			}
		})
		mean += sums[0] / n
		slopes += sums[1]
	}
	for k := range groups {
		g := &groups[k]
		squares += g.sum(func(lo, hi int) (sum float64) {
			for i, s := range g.score[lo:hi] {
				place, _ := at(s)
				d := place - first - mean
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

// probabilities returns a function for spreadOf: of a logit the probability of its rarer side, in a unit that does not underflow, and
// its derivative.
func probabilities[T events.Float](groups []group[T]) func(logit T) (place, slope float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for k := range groups {
		for _, z := range groups[k].score {
			low, high = min(low, float64(z)), max(high, float64(z))
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
