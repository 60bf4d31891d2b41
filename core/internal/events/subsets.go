package events

import (
	"fmt"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
)

// SetFactors sets the factors of the subsets: the share of each category in its label's sum of weights.
func (di *Division[T]) SetFactors(labels []int32) error {
	if len(di.Subsets) == di.Labels {
		return nil
	}
	if !di.setShares(1) {
		if err := di.badWeight(labels); err != nil {
			return err
		}
		di.setShares(0x1p-64) // the sums of more than 2^32 weights do not overflow
	}
	for k, su := range di.Subsets {
		if !(su.Factor > 0) || !IsFinite(su.Factor) {
			return di.Named(k, labels, errs.Of(errs.ErrBin, "their share of the sum of weights is %v, and must be positive: "+
				"use larger batches, or leave these events out", su.Factor))
		}
	}
	return nil
}

// setShares sets the factors to sums of weights, in a unit, over those of the label. It reports whether these are finite.
func (di *Division[T]) setShares(unit float64) bool {
	for lo, hi := 0, 0; lo < len(di.Subsets); lo = hi {
		var total float64
		for hi < len(di.Subsets) && di.Subsets[hi].Label == di.Subsets[lo].Label {
			di.Subsets[hi].Factor = di.sumWeights(hi, unit)
			total += di.Subsets[hi].Factor
			hi++
		}
		if !IsFinite(total) {
			return false
		}
		for k := lo; k < hi; k++ {
			di.Subsets[k].Factor /= total
		}
		if hi == lo+1 {
			di.Subsets[lo].Factor = 1 // also where the sum is not positive
		}
	}
	return true
}

// sumWeights returns the sum of the weights of subset k.
func (di *Division[T]) sumWeights(k int, unit float64) (sum float64) {
	su := &di.Subsets[k]
	if di.Events.Weight == nil {
		return float64(su.Size())
	}
	for _, w := range di.Events.Weight[su.Lo:su.Hi] {
		sum += float64(w) * unit
	}
	return sum
}

// badWeight returns the error of the first weight that is not finite.
func (di *Division[T]) badWeight(labels []int32) error {
	for k, su := range di.Subsets {
		for i := su.Lo; i < su.Hi; i++ {
			if w := float64(di.Events.Weight[i]); !IsFinite(w) {
				return di.Named(k, labels, NotFinite("weight", int(di.Index[i]), w))
			}
		}
	}
	return nil
}

// Named returns an error about subset k with its label and its category, if there are several.
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

// Of returns the events of subset k, with their places in the input.
func (di *Division[T]) Of(k int) (Events[T], []uint32) {
	lo, hi := di.Subsets[k].Lo, di.Subsets[k].Hi
	cut := func(all []T) []T {
		if all == nil {
			return nil
		}
		return all[lo:hi]
	}
	ev := Events[T]{Score: cut(di.Events.Score), Mass: cut(di.Events.Mass), Weight: cut(di.Events.Weight)}
	for _, mass := range di.Events.Masses {
		ev.Masses = append(ev.Masses, cut(mass))
	}
	return ev, di.Index[lo:hi]
}

// Derivatives returns memory for those of all events, not cleared; nil where those of the input are.
func (di *Division[T]) Derivatives(input Derivatives[T]) (own Derivatives[T]) {
	for k, of := range input {
		own[k] = alike(&di.out[k], of, len(di.Index))
	}
	return own
}

// Scatter writes the derivatives to those of the input.
func (di *Division[T]) Scatter(input Derivatives[T], team *par.Team) {
	team.PartsFor(len(di.Index))
	for k, to := range input {
		if to == nil {
			continue
		}
		team.Blocks(len(di.Index), divideBlock, func(lo, hi int) {
			own := di.out[k][lo:hi]
			for j, i := range di.Index[lo:hi] {
				to[i] = own[j]
			}
		})
	}
}
