package core

import (
	"fmt"
	"sort"

	"github.com/libmode/libmode/core/internal/par"
)

// setFactors sets the factors of the subsets: the share of each category in its label's sum of weights.
func (di *division[T]) setFactors(cfg *Config) error {
	if len(di.subsets) == di.labels {
		return nil
	}
	if !di.setShares(1) {
		if err := di.badWeight(cfg); err != nil {
			return err
		}
		di.setShares(0x1p-64) // the sums of more than 2^32 weights do not overflow
	}
	for k, su := range di.subsets {
		if !(su.factor > 0) || !finite(su.factor) {
			return di.named(k, cfg, errorOf(ErrBin, "their share of the sum of weights is %v, and must be positive: "+
				"use larger batches, or leave these events out", su.factor))
		}
	}
	return nil
}

// setShares sets the factors to sums of weights, in a unit, over those of the label. It reports whether these are finite.
func (di *division[T]) setShares(unit float64) bool {
	for lo, hi := 0, 0; lo < len(di.subsets); lo = hi {
		var total float64
		for hi < len(di.subsets) && di.subsets[hi].label == di.subsets[lo].label {
			di.subsets[hi].factor = di.sumWeights(hi, unit)
			total += di.subsets[hi].factor
			hi++
		}
		if !finite(total) {
			return false
		}
		for k := lo; k < hi; k++ {
			di.subsets[k].factor /= total
		}
		if hi == lo+1 {
			di.subsets[lo].factor = 1 // also where the sum is not positive
		}
	}
	return true
}

// sumWeights returns the sum of the weights of subset k.
func (di *division[T]) sumWeights(k int, unit float64) (sum float64) {
	su := &di.subsets[k]
	if di.events.Weight == nil {
		return float64(su.size())
	}
	for _, w := range di.events.Weight[su.lo:su.hi] {
		sum += float64(w) * unit
	}
	return sum
}

// badWeight returns the error of the first weight that is not finite.
func (di *division[T]) badWeight(cfg *Config) error {
	for k, su := range di.subsets {
		for i := su.lo; i < su.hi; i++ {
			if w := float64(di.events.Weight[i]); !finite(w) {
				return di.named(k, cfg, notFinite("weight", int(di.index[i]), w))
			}
		}
	}
	return nil
}

// named returns an error about subset k with its label and its category, if there are several.
func (di *division[T]) named(k int, cfg *Config, err error) error {
	name := ""
	if di.labels > 1 {
		name = fmt.Sprintf(" with background_label = %d", cfg.BackgroundLabel[di.subsets[k].label])
	}
	if len(di.subsets) > di.labels {
		name += fmt.Sprintf(" of category = %d", di.subsets[k].category)
	}
	if name == "" {
		return err
	}
	return errorOf(err, "events%s: %v", name, err)
}

// of returns the events of subset k, with their places in the input.
func (di *division[T]) of(k int) (Events[T], []uint32) {
	lo, hi := di.subsets[k].lo, di.subsets[k].hi
	cut := func(all []T) []T {
		if all == nil {
			return nil
		}
		return all[lo:hi]
	}
	ev := Events[T]{Score: cut(di.events.Score), Mass: cut(di.events.Mass), Weight: cut(di.events.Weight)}
	for _, mass := range di.events.Masses {
		ev.Masses = append(ev.Masses, cut(mass))
	}
	return ev, di.index[lo:hi]
}

// derivatives returns memory for those of all events, not cleared; nil where those of the input are.
func (di *division[T]) derivatives(input derivatives[T]) (own derivatives[T]) {
	for k, of := range input {
		own[k] = alike(&di.out[k], of, len(di.index))
	}
	return own
}

// scatter writes the derivatives to those of the input.
func (di *division[T]) scatter(input derivatives[T], team *par.Team) {
	team.PartsFor(len(di.index))
	for k, to := range input {
		if to == nil {
			continue
		}
		team.Blocks(len(di.index), divideBlock, func(lo, hi int) {
			own := di.out[k][lo:hi]
			for j, i := range di.index[lo:hi] {
				to[i] = own[j]
			}
		})
	}
}

// sum returns the sum of the losses of the subsets times their factors; each subset sets its part of the derivatives.
// Small subsets are shared among goroutines, a stretch of events at a time.
func (di *division[T]) sum(out derivatives[T], cfg *Config, of lossOf[T], sc *scratch) (total Result, err error) {
	losses, failed := make([]Result, len(di.subsets)), make([]error, len(di.subsets))
	one := func(k int, sc *scratch) {
		sc.arena.Reset()
		losses[k], failed[k] = di.loss(k, out, cfg, of, sc)
	}
	small := func(k int) bool { return len(di.subsets) > 1 && di.subsets[k].size() < par.AloneCall }
	shared := 0
	for k := range di.subsets {
		if small(k) {
			shared += di.subsets[k].size()
		} else {
			one(k, sc)
		}
	}
	if shared > 0 {
		sc.team.PartsFor(shared)
		first := func(at int) int { // subset from which on all begin at an event or after it
			return sort.Search(len(di.subsets), func(k int) bool { return di.subsets[k].lo >= at })
		}
		sc.team.Blocks(len(di.index), divideBlock, func(lo, hi int) {
			own := takeScratch()
			defer giveScratch(own)
			for k := first(lo); k < first(hi); k++ {
				if small(k) {
					one(k, own)
				}
			}
		})
	}
	for k, loss := range losses {
		if failed[k] != nil {
			return Result{}, di.named(k, cfg, failed[k])
		}
		total.add(loss, di.subsets[k].factor, 1)
	}
	return total, nil
}

// loss returns the loss of subset k without its factor, and sets its part of the derivatives with it.
func (di *division[T]) loss(k int, out derivatives[T], cfg *Config, of lossOf[T], sc *scratch) (Result, error) {
	su := &di.subsets[k]
	ev, index := di.of(k)
	out = out.cut(su.lo, su.hi)
	out.clear(sc.team)
	loss, err := of(out, ev, index, cfg, sc)
	if su.factor != 1 {
		out.scale(su.factor)
	}
	return loss, err
}
