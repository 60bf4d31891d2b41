// Package loss computes the losses. It takes events through bins, order and walk, for each label, category and variable of
// mass.
package loss

import (
	"sort"
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

// smallBlock is the number of events of small subsets that a goroutine takes at a time.
const smallBlock = 1 << 14

// sum returns the sum of the losses of the subsets times their factors. Each subset sets its part of the derivatives.
// Goroutines share the small subsets.
func sum[T events.Float](di *events.Division[T], out events.Derivatives[T], p *Plan, sc *par.Scratch) (total walk.Result, err error) {
	found, errs := make([]walk.Result, len(di.Subsets)), make([]error, len(di.Subsets))
	var firstFailed atomic.Int64 // subset, after which the others do not matter
	firstFailed.Store(int64(len(di.Subsets)))
	one := func(k int, sc *par.Scratch) {
		if int64(k) > firstFailed.Load() {
			return
		}
		sub := &di.Subsets[k]
		ev, index := di.Subset(k)
		own := out.Cut(sub.Lo, sub.Hi)
		own.Clear(sc.Team)
		if found[k], errs[k] = (part[T]{own, ev, index, p, sc, k}).loss(); errs[k] != nil {
			for before := firstFailed.Load(); int64(k) < before && !firstFailed.CompareAndSwap(before, int64(k)); {
				before = firstFailed.Load()
			}
		}
		if sub.Factor != 1 {
			own.Scale(sub.Factor)
		}
	}
	isSmall := func(k int) bool { return len(di.Subsets) > 1 && di.Subsets[k].Size() < par.AloneCall }
	shared := 0
	for k := range di.Subsets {
		if isSmall(k) {
			shared += di.Subsets[k].Size()
		} else {
			one(k, sc)
		}
	}
	if shared > 0 {
		sc.Team.PartsFor(shared)
		first := func(at int) int { // the first subset that begins at an event or after it
			return sort.Search(len(di.Subsets), func(k int) bool { return di.Subsets[k].Lo >= at })
		}
		sc.Team.Blocks(len(di.Index), smallBlock, func(lo, hi int) {
			own := par.Room()
			defer own.Give()
			for k := first(lo); k < first(hi); k++ {
				if isSmall(k) {
					one(k, own)
				}
			}
		})
	}
	if k := int(firstFailed.Load()); k < len(found) {
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
