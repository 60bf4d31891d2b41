// Package loss computes the losses. It takes events through bins, order and walk, for each label, category and variable of
// mass.
package loss

import (
	"errors"
	"sync/atomic"

	"github.com/libmode/libmode/core/internal/errs"
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
		return part[T]{out: out, ev: ev, plan: p, sc: sc}.loss()
	}
	if di == nil {
		var err error
		if di, err = events.Divide(ev, p.BackgroundLabel, sc); err != nil {
			return walk.Result{}, err
		}
	}
	own := out.ForEvents(len(di.Index), &sc.Arena)
	found, err := sum(di, own, p, sc)
	di.Scatter(out, own, sc.Team)
	return found, err
}

// sum returns the sum of the losses of the subsets times their factors. Each subset sets its part of the derivatives.
// Goroutines share the work on a large subset, and take small subsets one by one.
func sum[T events.Float](di *events.Division[T], out events.Derivatives[T], p *Plan, sc *par.Scratch) (total walk.Result, err error) {
	if !p.Spares {
		if err := di.SetFactors(p.BackgroundLabel); err != nil {
			return walk.Result{}, err
		}
	}
	found, failures := make([]walk.Result, len(di.Subsets)), make([]error, len(di.Subsets))
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
		found[k], failures[k] = part[T]{out: own, ev: ev, index: index, plan: p, sc: sc, subset: k}.loss()
		if p.Spares && isOfFew(failures[k]) {
			own.Clear(sc.Team)
			return
		}
		for first := failed.Load(); failures[k] != nil && int64(k) < first; first = failed.Load() {
			failed.CompareAndSwap(first, int64(k))
		}
		if sub.Factor != 1 && !p.Spares {
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
		return walk.Result{}, di.Named(k, p.BackgroundLabel, failures[k])
	}
	if p.Spares {
		if err := spare(di, failures, out, p.BackgroundLabel); err != nil {
			return walk.Result{}, err
		}
	}
	for k, f := range found {
		add(&total, f, di.Subsets[k].Factor, 1)
	}
	return total, nil
}

// isOfFew reports whether an error says that events have no loss because they are few.
func isOfFew(err error) bool { return errors.Is(err, errs.ErrNoEvents) || errors.Is(err, errs.ErrBin) }

// spare sets the factors of the subsets that have a loss, and multiplies their derivatives. The others have the factor 0. Where a label
// has no subset with a loss, the error of its first one is the error of all.
func spare[T events.Float](di *events.Division[T], failed []error, out events.Derivatives[T], labels []int32) error {
	kept := *di
	kept.Subsets = nil
	places := make([]int, 0, len(failed))
	first := make([]int, di.Labels)
	alive := make([]bool, di.Labels)
	for k := len(failed) - 1; k >= 0; k-- {
		sub := &di.Subsets[k]
		first[sub.Label] = k
		alive[sub.Label] = alive[sub.Label] || failed[k] == nil
		sub.Factor = 0
	}
	for label, ok := range alive {
		if !ok {
			return di.Named(first[label], labels, failed[first[label]])
		}
	}
	for k := range failed {
		if failed[k] == nil {
			kept.Subsets, places = append(kept.Subsets, di.Subsets[k]), append(places, k)
		}
	}
	if err := kept.SetFactors(labels); err != nil {
		return err
	}
	for j, k := range places {
		sub := &di.Subsets[k]
		if sub.Factor = kept.Subsets[j].Factor; len(places) == di.Labels {
			sub.Factor = 1
		}
		if own := out.Cut(sub.Lo, sub.Hi); sub.Factor != 1 {
			own.Scale(sub.Factor)
		}
	}
	return nil
}

// add adds a result, times a factor, with a share of its events.
func add(total *walk.Result, other walk.Result, factor, share float64) {
	total.Loss += factor * other.Loss
	total.Bias += factor * other.Bias
	total.Events += share * other.Events
}
