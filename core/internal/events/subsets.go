package events

import (
	"fmt"
	"sync/atomic"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
)

// SetFactors sets the factor of each subset to the share of its category in the label's sum of weights.
func (di *Division[T]) SetFactors(labels []int32) error {
	if len(di.Subsets) == di.Labels {
		return nil
	}
	unit := UnitOfWeights(di.Events.Weight)
	totals, count := make([]float64, di.Labels), make([]int, di.Labels)
	for k := range di.Subsets {
		sub := &di.Subsets[k]
		sub.Factor = float64(sub.Size())
		if di.Events.Weight != nil {
			sub.Factor = 0
			for i, w := range di.Events.Weight[sub.Lo:sub.Hi] {
				if w-w != 0 {
					return di.Named(k, labels, NotFinite("weight", int(di.Index[sub.Lo+i]), float64(w)))
				}
				sub.Factor += float64(w) * unit
			}
		}
		totals[sub.Label] += sub.Factor
		count[sub.Label]++
	}
	for k := range di.Subsets {
		sub := &di.Subsets[k]
		sub.Factor /= totals[sub.Label]
		if count[sub.Label] == 1 {
			sub.Factor = 1 // also if the sum is not positive
		}
		if !(sub.Factor > 0) || !IsFinite(sub.Factor) {
			return di.Named(k, labels, errs.Of(errs.ErrBin, "their share of the sum of weights is %v, and must be positive: "+
				"use larger batches, or leave these events out", sub.Factor))
		}
	}
	return nil
}

// Named adds the label and the category of subset k to an error about it, if there are several.
func (di *Division[T]) Named(k int, labels []int32, err error) error {
	name := ""
	if di.Labels > 1 {
		name = fmt.Sprintf(" with background_label = %d", labels[di.Subsets[k].Label])
	}
	if len(di.Subsets) > di.Labels {
		name += fmt.Sprintf(" of category = %d", di.Subsets[k].Category)
	}
	if name == "" {
		return err
	}
	return errs.Of(err, "events%s: %v", name, err)
}

// Subset returns the events of subset k, and their places in the input; nil: they are the input.
func (di *Division[T]) Subset(k int) (Events[T], []uint32) {
	lo, hi := di.Subsets[k].Lo, di.Subsets[k].Hi
	ev := Events[T]{Score: cut(di.Events.Score, lo, hi), Mass: cut(di.Events.Mass, lo, hi), Weight: cut(di.Events.Weight, lo, hi)}
	for _, mass := range di.Events.Masses {
		ev.Masses = append(ev.Masses, cut(mass, lo, hi))
	}
	if di.Index == nil {
		return ev, nil
	}
	return ev, di.Index[lo:hi]
}

// Each calls f for each subset, and returns the errors. Goroutines share the work on a large subset, and take small subsets one by one,
// each with memory of its own, which lasts as long as that of sc. It skips subsets after one with an error.
func (di *Division[T]) Each(sc *par.Scratch, f func(k int, sc *par.Scratch) error) []error {
	if len(di.Subsets) == 1 {
		return []error{f(0, sc)}
	}
	failures := make([]error, len(di.Subsets))
	var failed atomic.Int64 // the first subset with an error
	failed.Store(int64(len(di.Subsets)))
	one := func(k int, of func() *par.Scratch) {
		if int64(k) > failed.Load() {
			return
		}
		failures[k] = f(k, of())
		for first := failed.Load(); failures[k] != nil && int64(k) < first; first = failed.Load() {
			failed.CompareAndSwap(first, int64(k))
		}
	}
	var small []int
	events := 0 // of the small subsets
	for k := range di.Subsets {
		if size := di.Subsets[k].Size(); size < par.AloneCall {
			small, events = append(small, k), events+size
		} else {
			one(k, func() *par.Scratch { return sc })
		}
	}
	sc.Team.Expect(events)
	sc.Team.Run(len(small), func(j int) { one(small[j], sc.Room) })
	return failures
}

// cut returns elements lo..hi-1, or nil if there are none.
func cut[T Float](all []T, lo, hi int) []T {
	if all == nil {
		return nil
	}
	return all[lo:hi]
}

// Scatter sets the derivatives of the input to those of all events of the division, after it multiplies these by the factors of their
// subsets.
func (di *Division[T]) Scatter(input, divided Derivatives[T], team *par.Team) {
	team.Expect(len(di.Index))
	for _, sub := range di.Subsets {
		index := di.Index[sub.Lo:sub.Hi]
		for k, to := range input {
			if to == nil {
				continue
			}
			all := divided[k][sub.Lo:sub.Hi]
			team.Blocks(len(all), divideBlock, func(lo, hi int) {
				block := all[lo:hi]
				for j := 0; j < len(block) && sub.Factor != 1; j++ {
					block[j] = T(float64(block[j]) * sub.Factor)
				}
				for j, i := range index[lo:hi] {
					to[i] = block[j]
				}
			})
		}
	}
}
