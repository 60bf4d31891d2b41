package constraint

import (
	"math"
	"slices"
	"sync"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/config"
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/walk"
)

// mostBins is the highest number of bins of the push if Config has none: fewer than for the loss, with less noise in each batch. With
// 32 bins the zoo's response is less flat.
const mostBins = 24

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
// After the batch, of n background events, 0.02 factor sqrt(n/512) r is added to the sum. The multiplier is exp(v) for v > 0, and
// 1 + v for v < 0, where v(m, s) has the significant residuals of the efficiency at tight cuts, over the efficiency; both times the
// lift of light weights, see balance.
// docs/how-it-works.md has the derivation, and docs/zoo.md shows the effect.
//
// slope is set to the derivatives of the scores by their logits: 1 if the push is by logits, 0 for events that take no part.
// Nil: not wanted.
func Direction[T events.Float](dst, multiplier, slope []T, ev events.Events[T], cfg config.Config, st Steering) (Pushed, error) {
	cfg, err := config.Checked(cfg)
	if err != nil {
		return Pushed{}, err
	}
	if err := ev.CheckLengths(); err != nil {
		return Pushed{}, err
	}
	n, variables, labels := len(ev.Score), len(ev.Variables()), len(cfg.BackgroundLabel)
	if st.Batch == 0 {
		st.Batch = n
	}
	if st.Batch < 0 || st.Batch > n {
		return Pushed{}, errs.Of(errs.ErrLength, "batch = %d: must be 1 to the number of events, %d", st.Batch, n)
	}
	arrays := [...][]T{dst, multiplier, slope}
	for k, name := range [...]string{"push", "multiplier", "slope"} {
		if length := len(arrays[k]); length != st.Batch && (k < 2 || slope != nil) {
			return Pushed{}, errs.Of(errs.ErrLength, "%s has length %d, but the batch has %d events", name, length, st.Batch)
		}
	}
	if err := st.check(StateSize(labels)); err != nil {
		return Pushed{}, err
	}
	lo, hi := cfg.ScoreRange[0], cfg.ScoreRange[1]
	if width := hi - lo; !math.IsInf(lo, -1) && (math.IsInf(float64(T(width/4)), 1) || math.IsInf(float64(T(1/width)), 1)) {
		return Pushed{}, errs.Of(errs.ErrOverflow, "score_range = [%v, %v] is so wide or narrow that derivatives by logits overflow", lo, hi)
	}
	p, err := loss.NewPlan[T](cfg, variables)
	if err != nil {
		return Pushed{}, err
	}
	p.Measured = true
	sc := par.Take()
	defer sc.Give()
	sc.Team.PartsFor(n)
	var background *events.Division[T]
	if ev.Label == nil && ev.Category == nil {
		background = &events.Division[T]{Events: ev, Subsets: []events.Subset{{Hi: n}}}
	} else {
		if background, err = events.Divide(ev, cfg.BackgroundLabel, sc); err != nil {
			return Pushed{}, err
		}
	}
	grad, limits := par.Make[T](&sc.Arena, n), make([][2]float64, variables)
	for k := range limits {
		limits[k] = p.Masses[k].Mass
	}
	var views []loss.View
	var mutex sync.Mutex
	p.Watch = func(v loss.View) {
		mutex.Lock()
		defer mutex.Unlock()
		views = append(views, v)
	}
	evaluate := func(most int) (walk.Result, error) {
		for k := range p.Masses {
			p.Masses[k].Most = most
		}
		views = nil
		defer sc.Arena.Release(sc.Arena.Mark())
		return loss.Evaluate(events.Derivatives[T]{grad}, ev, background, p, sc)
	}
	result, err := evaluate(0)
	isMore := func(v loss.View) bool { return v.Bins > mostBins }
	if err == nil && !p.Joint && slices.ContainsFunc(p.Masses, bins.Options.Merges) && slices.ContainsFunc(views, isMore) {
		if _, failed := evaluate(mostBins); failed != nil { // as where the weights of fewer bins cancel
			result, err = evaluate(0)
		}
	}
	if err != nil {
		return Pushed{}, err
	}
	sc.Team.PartsFor(n)
	if cfg.Biased {
		result.Loss -= result.Bias
	}
	groups := collect(background, grad, limits, p.Joint, views, sc)
	return steer(dst, multiplier, slope, groups, st, result, cfg.ScoreRange, labels)
}
