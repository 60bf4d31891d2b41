package core

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/push"
)

// Steering says how strongly a constraint pushes, and holds what it remembers.
type Steering = push.Steering

// Pushed is what Direction returns beside the push.
type Pushed = push.Pushed

// StateSize returns the length of Steering.State for so many background labels, and any number of masses. It is 0 if
// there is no label, or if an int cannot hold the length.
func StateSize(labels int) int { return push.StateSize(labels) }

// mostBins is the highest number of bins if Config has none: half as many as for the loss, with half of the noise.
const mostBins = 16

// Direction sets dst to the push of a constraint, and brings its state up to date. A batch that has a loss has a push, unless the
// push is beyond the type of the events. Background events that move along the push
// lose their dependence on the mass. dst has an element for each event of the batch; events that take no part get 0. The push
// is
//
//	u(m, s) = 4 factor r(m, s) + sum(m, s)
//
// times the event's weight. The residual r is the gradient of the loss per weight, smooth in the ranks of mass and score.
// Its unit is the norm of the gradient: the average norm, or the norm of this batch if it is larger. After the batch, of n
// events, 0.02 factor sqrt(n/1024) r is added to the sum. docs/training.md has the derivation, and docs/zoo.md shows the effect.
//
// slope, as long as dst, is set to the derivatives of the scores by their logits: 1 if the push is by logits, 0 for events
// that take no part. Nil: not wanted. Add Size |G slope| dst to the gradient G of another loss by the scores.
func Direction[T Float](dst, slope []T, ev Events[T], cfg Config, st Steering) (Pushed, error) {
	if err := cfg.validateMoDe("direction of a constraint"); err != nil {
		return Pushed{}, err
	}
	if err := ev.CheckLengths(); err != nil {
		return Pushed{}, err
	}
	n, variables, labels := len(ev.Score), len(ev.Variables()), len(cfg.BackgroundLabel)
	if st.Batch == 0 {
		st.Batch = n
	}
	switch {
	case st.Batch < 0 || st.Batch > n:
		return Pushed{}, errs.Of(ErrLength, "batch = %d: must be 1 to the number of events, %d", st.Batch, n)
	case len(dst) != st.Batch:
		return Pushed{}, errs.Of(ErrLength, "push has length %d, but the batch has %d events", len(dst), st.Batch)
	case slope != nil && len(slope) != st.Batch:
		return Pushed{}, errs.Of(ErrLength, "slope has length %d, but the batch has %d events", len(slope), st.Batch)
	}
	if err := st.Check(StateSize(labels)); err != nil {
		return Pushed{}, err
	}
	lo, hi := cfg.ScoreRange[0], cfg.ScoreRange[1]
	if width := hi - lo; !math.IsInf(lo, -1) && (math.IsInf(float64(T(width/4)), 1) || math.IsInf(float64(T(1/width)), 1)) {
		return Pushed{}, errs.Of(ErrOverflow, "score_range = [%v, %v] is so wide or narrow that derivatives by logits overflow", lo, hi)
	}
	cfg.measured = true
	p, err := planFor[T](cfg, variables)
	if err != nil {
		return Pushed{}, err
	}
	sc := par.Take()
	defer sc.Give()
	sc.Team.PartsFor(n)
	var background *events.Division[T]
	if ev.Label == nil && ev.Category == nil {
		background = &events.Division[T]{Events: ev, Subsets: []events.Subset{{Hi: n}}}
	} else {
		background = par.Kept[events.Division[T]](sc)
		if err := background.Divide(ev, cfg.BackgroundLabel, sc); err != nil {
			return Pushed{}, err
		}
	}
	limits := make([][2]float64, variables)
	withAtMost := func(bins int) {
		for k := range limits {
			limits[k], p.Variables[k].Options.Most = p.Variables[k].Limits.Mass, bins
		}
	}
	grad := par.Make[T](&sc.Arena, n)
	withAtMost(mostBins)
	result, err := evaluate(events.Derivatives[T]{grad}, ev, background, p)
	if err != nil { // the bins of the loss may do, and their error is the error of the loss
		withAtMost(0)
		result, err = evaluate(events.Derivatives[T]{grad}, ev, background, p)
	}
	if err != nil {
		return Pushed{}, err
	}
	if !cfg.Unbiased {
		result.Loss -= result.Bias
	}
	groups := push.Collect(background, grad, limits, p.Joint, &sc.Arena)
	before := slices.Clone(st.State)
	found, err := push.Steer(dst, slope, groups, st, result, cfg.ScoreRange, labels)
	if i := events.FirstNotFinite(dst); err == nil && i >= 0 {
		copy(st.State, before)
		return Pushed{}, errs.Of(ErrOverflow, "push[%d] overflows its type: score_range = [%v, %v] is so narrow that derivatives by scores are too large",
			i, lo, hi)
	}
	return found, err
}
