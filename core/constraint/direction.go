package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
)

// Direction sets dst to the push of a constraint and multiplier to the factors of the gradient, an element for each event of the
// batch, and brings the state up to date. The gradient G_i of another loss by the score of event i becomes
//
//	multiplier_i G_i + Size |G slope| dst_i
//
// so that background loses its dependence on the mass. Events that take no part have the push 0 and the multiplier 1. A batch
// that has a loss has a push, unless the push is beyond the type of the events. The push is
//
//	u(m, s) = 4 factor r(m, s) + sum(m, s)
//
// times the event's weight per sum of weights in its mass bin. The residual r is the gradient of the loss per weight, smooth in
// the ranks of mass and score. Its unit is the norm of the gradient: the average norm, or the norm of this batch if it is larger.
// After the batch, of n background events, 0.02 factor sqrt(n/512) r is added to the sum. The multiplier is start exp(v) for v > 0,
// and start + v max(start, 1) for v < 0, where v(m, s) has the significant residuals of the efficiency at tight cuts, over the efficiency,
// and start(m) is from planing, along polynomials that the order does not allow; times the lift of light weights, see weigh. The push is times the root of a start above 1.
// docs/how-it-works.md has the derivation, and docs/zoo.md shows the effect.
//
// With Steering.Logits the scores are logits, of any size: their order alone makes the push. The loss is that of their probabilities.
//
// slope is set to the derivatives of the scores by their logits: 1 if the scores are logits, 0 for events that take no part.
// Nil: not wanted.
func Direction[T events.Float](dst, multiplier, slope []T, ev events.Events[T], cfg loss.Planner, st Steering) (Pushed, error) {
	n := len(ev.Score)
	if st.Batch == 0 {
		st.Batch = n
	}
	if st.Batch < 0 || st.Batch > n {
		return Pushed{}, errs.Of(errs.ErrLength, "batch = %d: must be 1 to the number of events, %d", st.Batch, n)
	}
	arrays, outputs := [...][]T{dst, multiplier, slope}, []events.Array{events.ArrayOf("state", st.State)}
	for k, name := range [...]string{"push", "multiplier", "slope"} {
		if length := len(arrays[k]); length != st.Batch && (k < 2 || slope != nil) {
			return Pushed{}, errs.Of(errs.ErrLength, "%s has length %d, but the batch has %d events", name, length, st.Batch)
		}
		outputs = append(outputs, events.ArrayOf(name, arrays[k]))
	}
	p, err := loss.PlanOf(cfg, &ev, outputs...)
	if err != nil {
		return Pushed{}, err
	}
	if err := st.check(len(p.BackgroundLabel)); err != nil {
		return Pushed{}, err
	}
	p.Rebins = true
	lo, hi := p.ScoreRange[0], p.ScoreRange[1]
	if width := hi - lo; !math.IsInf(lo, -1) && (math.IsInf(float64(T(width/4)), 1) || math.IsInf(float64(T(1/width)), 1)) {
		return Pushed{}, errs.Of(errs.ErrOverflow, "score_range = [%v, %v] is so wide or narrow that derivatives by logits overflow", lo, hi)
	}
	switch {
	case ev.Category != nil && st.Categories == 0:
		return Pushed{}, errs.Of(errs.ErrOption, "category is given, and categories = 0: set categories to the number of categories, "+
			"so that each has a push and a memory of its own")
	case ev.Category == nil && st.Categories > 0:
		return Pushed{}, errs.Of(errs.ErrOption, "categories = %d, and no category is given: each event needs one", st.Categories)
	}
	if scores := p.ScoreRange; st.Logits {
		if scores != [2]float64{0, 1} {
			return Pushed{}, errs.Of(errs.ErrOption, "score_range = [%v, %v]: leave it out for logits, whose scores are from 0 to 1", scores[0], scores[1])
		}
		p.TakeLogits()
	}
	sc := par.Take()
	defer sc.Give()
	sc.Team.Expect(n)
	background, err := events.Divide(ev, p.BackgroundLabel, sc)
	if err != nil {
		return Pushed{}, err
	}
	if err := checkCategories(background, st.Categories); err != nil {
		return Pushed{}, err
	}
	// A bound is the part of the multiplier, unless the strength is fixed.
	parts, err := measure(background, p, st.RelativeStrength == 0, st.Categories > 0, sc)
	if err != nil {
		return Pushed{}, err
	}
	sc.Team.Expect(n)
	ca := &call[T]{Steering: st, Events: ev, plan: p, push: dst, multiplier: multiplier, slope: slope}
	for k := range p.Masses {
		ca.limits = append(ca.limits, p.Masses[k].Mass)
	}
	var total loss.Result
	var all []*group[T]
	for k := range parts {
		total.Add(parts[k].result, parts[k].Factor, 1)
		if g := newGroup(ca, &parts[k], sc); g.count > 0 {
			all = append(all, g)
		}
	}
	if p.Biased {
		total.Loss -= total.Bias
	}
	return ca.steer(all, total)
}

// checkCategories returns an error for the first event of a division whose category is none of so many.
func checkCategories[T events.Float](di *events.Division[T], categories int) error {
	bad := -1
	for k, su := range di.Subsets {
		if su.Category >= 0 && su.Category < int64(max(categories, 1)) {
			continue
		}
		if bad < 0 || di.Index[su.Lo] < di.Index[di.Subsets[bad].Lo] {
			bad = k
		}
	}
	if bad < 0 {
		return nil
	}
	su := di.Subsets[bad]
	return errs.At(errs.ErrOption, "category", int(di.Index[su.Lo]), " = %d: must be from 0 to %d, less than categories", su.Category, categories-1)
}
