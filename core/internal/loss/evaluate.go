// Package loss computes the losses. It takes events through bins, order and walk, for each label, category and variable of
// mass.
package loss

import (
	"sync/atomic"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/walk"
)

// Evaluate returns the loss of events, and sets the derivatives that are wanted. With several labels and categories the loss
// is the sum of the losses of each, times its share of the label's sum of weights. The division is nil if the events
// have not been divided yet.
func Evaluate[T events.Float](out events.Derivatives[T], ev events.Events[T], di *events.Division[T], p *Plan, sc *par.Scratch) (walk.Result, error) {
	sc.Team.PartsFor(len(ev.Score)) // few events stay in this goroutine
	out.Clear(sc.Team)
	found, err := ofAll(out, ev, di, p, sc)
	if err == nil {
		err = out.Check(sc.Team)
	}
	if err != nil {
		return walk.Result{}, err
	}
	return found, nil
}

func ofAll[T events.Float](out events.Derivatives[T], ev events.Events[T], di *events.Division[T], p *Plan, sc *par.Scratch) (walk.Result, error) {
	if ev.Label == nil && ev.Category == nil {
		return part[T]{out, ev, nil, p, sc, 0}.loss()
	}
	if di == nil {
		var err error
		if di, err = events.Divide(ev, p.BackgroundLabel, sc); err != nil {
			return walk.Result{}, err
		}
	}
	if err := di.SetFactors(p.BackgroundLabel); err != nil {
		return walk.Result{}, err
	}
	own := out.ForEvents(len(di.Index), &sc.Arena)
	found, err := sum(di, own, p, sc)
	di.Scatter(out, own, sc.Team)
	return found, err
}

// sum returns the sum of the losses of the subsets times their factors. Each subset sets its part of the derivatives.
// Goroutines share the work on a large subset, and take small subsets one by one.
func sum[T events.Float](di *events.Division[T], out events.Derivatives[T], p *Plan, sc *par.Scratch) (total walk.Result, err error) {
	found, errs := make([]walk.Result, len(di.Subsets)), make([]error, len(di.Subsets))
	var failed atomic.Int64 // the first subset with an error; the subsets after it do not matter
	failed.Store(int64(len(di.Subsets)))
	one := func(k int, sc *par.Scratch) {
		if int64(k) > failed.Load() {
			return
		}
		sub := &di.Subsets[k]
		ev, index := di.Subset(k)
		own := out.Cut(sub.Lo, sub.Hi)
		own.Clear(sc.Team)
		found[k], errs[k] = part[T]{own, ev, index, p, sc, k}.loss()
		for first := failed.Load(); errs[k] != nil && int64(k) < first; first = failed.Load() {
			failed.CompareAndSwap(first, int64(k))
		}
		if sub.Factor != 1 {
			own.Scale(sub.Factor)
		}
	}
	var small []int
	events := 0 // of the small subsets
	for k := range di.Subsets {
		if size := di.Subsets[k].Size(); len(di.Subsets) > 1 && size < par.AloneCall {
			small, events = append(small, k), events+size
		} else {
			one(k, sc)
		}
	}
	sc.Team.PartsFor(events)
	sc.Team.Run(len(small), func(j int) {
		own := par.Room()
		defer own.Give()
		one(small[j], own)
	})
	if k := int(failed.Load()); k < len(found) {
		return walk.Result{}, di.Named(k, p.BackgroundLabel, errs[k])
	}
	for k, f := range found {
		add(&total, f, di.Subsets[k].Factor, 1)
	}
	return total, nil
}

// add adds a result, times a factor, with a share of its events.
func add(total *walk.Result, other walk.Result, factor, share float64) {
	total.Loss += factor * other.Loss
	total.Bias += factor * other.Bias
	total.Events += share * other.Events
}
