// Package loss computes the losses: Prepare takes events through events, bins, moments and order, and Integrate walks along the
// sorted events, and follows how J changes. The integral of J is the loss, and the change at an event is minus its derivative.
package loss

import (
	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/par"
)

// Law has the settings of a push, see package constraint.
type Law struct {
	Strength, Floor, TrainingEvents float64
	FromLogits                      bool
	Categories                      int
}

// Plan is what a call is to compute.
type Plan struct {
	moments.Options
	Law
	Sum             bool // the loss is the sum over the bins, not their mean
	Joint           bool // the bins are cells of several variables
	BackgroundLabel []int32
	ScoreRange      [2]float64
	Masses          []bins.Options // one for each variable of mass, with limits that are rounded to the type of the events
	ByOrder         bool           // the derivatives alone are wanted, which depend on the order of the scores: the loss is 0
	Smoothing       float64        // of the bound of the curvature
}

// Planner is a core.Config, for package constraint, which the tests of core import: it cannot import core.
type Planner interface {
	Plan(variables int, single bool) (*Plan, error)
}

// PlanOf returns the plan of a call, if its events and its options are valid.
func PlanOf[T events.Float](cfg Planner, ev *events.Events[T]) (*Plan, error) {
	if err := ev.CheckLengths(); err != nil {
		return nil, err
	}
	return cfg.Plan(len(ev.Variables()), lanes.IsFloat32[T]())
}

// Result is a loss with the numbers that say whether it is significant. A test with N events sees no difference from a flat
// response if the unbiased loss of n events is at most Bias n/N.
type Result struct {
	Loss float64 // as LossAndGrad returns it
	// Bias is the mean difference between the plain loss of these events and the loss of an infinite sample.
	// The loss has no bias unless Config.Biased is set; Bias is here either way. It is NaN if it cannot be known, because a bin has
	// fewer than 1.05 effective events: without Biased that is an error.
	Bias float64
	// Events is the effective number of events, (sum w)^2 / sum w^2, that take part: the sum over labels and
	// categories, and the mean over several variables one by one.
	Events float64
}

// Add adds a result, times a factor, with a share of its events.
func (r *Result) Add(other Result, factor, share float64) {
	r.Loss += factor * other.Loss
	r.Bias += factor * other.Bias
	r.Events += share * other.Events
}

// Evaluate returns the loss of events, and sets the derivatives that are wanted. With several labels and categories the loss
// is the sum of the losses of each, times its share of the label's sum of weights. The bias is wanted too, whether or not it is
// subtracted, if it is measured.
func Evaluate[T events.Float](out events.Derivatives[T], ev events.Events[T], p *Plan, measured bool, sc *par.Scratch) (total Result, err error) {
	sc.Expect(len(ev.Score)) // few events stay in this goroutine
	subs, err := events.Divide(ev, p.BackgroundLabel, sc)
	if err != nil {
		return total, err
	}
	if err := events.SetFactors(subs); err != nil {
		return total, err
	}
	if subs[0].Index != nil {
		out.Clear(sc)
	}
	results := make([]Result, len(subs))
	err = events.Each(subs, sc, func(k int, sc *par.Scratch) error {
		defer sc.Arena.Release(sc.Arena.Mark())
		su, own := &subs[k], out
		if su.Index != nil {
			own = out.ForEvents(len(su.Index), &sc.Arena)
		}
		prs, err := Prepare(su.Events, su.Index, p, sc)
		if err == nil {
			results[k], err = Integrate(own, prs, measured, sc)
		}
		if err == nil && su.Index != nil {
			su.Scatter(out, own, sc)
		}
		return err
	})
	if err != nil {
		return total, err
	}
	for k, result := range results {
		total.Add(result, subs[k].Factor, 1)
	}
	if err := out.Check(sc); err != nil {
		return Result{}, err
	}
	return total, nil
}
