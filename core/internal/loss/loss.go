// Package loss computes the losses: Prepare takes events through events, bins, moments and order, and Integrate walks along the
// sorted events, and follows how J changes. The integral of J is the loss, and the change at an event is minus its derivative.
package loss

import (
	"slices"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/par"
)

// Plan is what a call is to compute.
type Plan struct {
	moments.Options
	Sum             bool // the loss is the sum over the bins, not their mean
	Joint           bool // the bins are cells of several variables
	BackgroundLabel []int32
	ScoreRange      [2]float64
	Masses          []bins.Options // one for each variable of mass, with limits that are rounded to the type of the events
	Flat            bool           // the flatness loss, not MoDe
	ByOrder         bool           // the derivatives alone are wanted, which depend on the order of the scores: the loss is 0
	Rebins          bool           // AtMost will divide the events into bins again
	Smoothing       float64        // of the bound of the curvature
}

// Planner is a core.Config, for package constraint, which the tests of core import: it cannot import core.
type Planner interface {
	Plan(variables int, single bool) (*Plan, error)
	Arrays() []events.Array
}

// PlanOf returns the plan of a call, if its events and its options are valid, and no output shares their memory.
func PlanOf[T events.Float](cfg Planner, ev *events.Events[T], outputs ...events.Array) (*Plan, error) {
	if err := ev.CheckLengths(); err != nil {
		return nil, err
	}
	p, err := cfg.Plan(len(ev.Variables()), lanes.IsFloat32[T]())
	if err != nil {
		return nil, err
	}
	return p, events.CheckApart(slices.Concat(ev.Arrays(), cfg.Arrays()), outputs...)
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

// Batch is the events of a call, divided into subsets.
type Batch[T events.Float] struct {
	plan     *Plan
	n        int // in the input
	di       *events.Division[T]
	prepared [][]*Prepared[T] // of each subset; nil: each evaluation prepares it
}

// NewBatch divides events. The scratch has the memory of the batch.
func NewBatch[T events.Float](ev events.Events[T], p *Plan, sc *par.Scratch) (*Batch[T], error) {
	sc.Team.Expect(len(ev.Score)) // few events stay in this goroutine
	di, err := events.Divide(ev, p.BackgroundLabel, sc)
	if err != nil {
		return nil, err
	}
	if err := di.SetFactors(p.BackgroundLabel); err != nil {
		return nil, err
	}
	return &Batch[T]{p, len(ev.Score), di, make([][]*Prepared[T], len(di.Subsets))}, nil
}

// Prepare prepares all subsets, for several evaluations.
func (b *Batch[T]) Prepare(sc *par.Scratch) error {
	return b.each(sc, func(k int, sc *par.Scratch) (err error) {
		ev, index := b.di.Subset(k)
		b.prepared[k], err = Prepare(ev, index, b.plan, sc)
		return err
	})
}

// each calls f for each subset, and returns the first error.
func (b *Batch[T]) each(sc *par.Scratch, f func(k int, sc *par.Scratch) error) error {
	for k, err := range b.di.Each(sc, false, f) {
		if err != nil {
			return b.di.Named(k, b.plan.BackgroundLabel, err)
		}
	}
	return nil
}

// Evaluate returns the loss of a batch, and sets the derivatives that are wanted. With several labels and categories the loss
// is the sum of the losses of each, times its share of the label's sum of weights. The bias is wanted too, whether or not it is
// subtracted, if it is measured. The plan is that of the batch, or one for the same bins.
func (b *Batch[T]) Evaluate(out events.Derivatives[T], p *Plan, measured bool, sc *par.Scratch) (total Result, err error) {
	sc.Team.Expect(b.n) // few events stay in this goroutine
	out.Clear(sc.Team)
	all, di := out, b.di // the derivatives in the order of the division
	if di.Index != nil {
		all = out.ForEvents(len(di.Index), &sc.Arena)
		all.Clear(sc.Team)
	}
	results := make([]Result, len(di.Subsets))
	err = b.each(sc, func(k int, sc *par.Scratch) error {
		defer sc.Arena.Release(sc.Arena.Mark())
		sub := &di.Subsets[k]
		prs, err := b.forPlan(k, p, sc)
		if err != nil {
			return err
		}
		results[k], err = Integrate(all.Cut(sub.Lo, sub.Hi), prs, measured, sc)
		return err
	})
	if err != nil {
		return total, err
	}
	for k, result := range results {
		total.Add(result, di.Subsets[k].Factor, 1)
	}
	if di.Index != nil {
		di.Scatter(out, all, sc.Team)
	}
	if err := out.Check(sc.Team); err != nil {
		return Result{}, err
	}
	return total, nil
}

// forPlan returns the events of a subset, prepared. It bins and sorts them again only if the plan has other bins.
func (b *Batch[T]) forPlan(k int, p *Plan, sc *par.Scratch) (prs []*Prepared[T], err error) {
	for _, pr := range b.prepared[k] {
		prs = append(prs, pr.refit(p, sc))
	}
	if len(prs) > 0 && !slices.Contains(prs, nil) {
		return prs, nil
	}
	ev, index := b.di.Subset(k)
	return Prepare(ev, index, p, sc)
}
