package events

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
)

// Subset is the events of one label and one category.
type Subset struct {
	Index    []uint32 // the place of each event in the input, in increasing order; nil: the events are the input
	Label    int      // its place in Config.BackgroundLabel
	Category int64
	Factor   float64 // the share of the category in the label's sum of weights, see SetFactors

	// Errors name these where there are several labels, or several categories.
	label       *int32
	hasCategory bool
}

// Place returns the place of event i in the input.
func (su *Subset) Place(i int) int {
	if su.Index == nil {
		return i
	}
	return int(su.Index[i])
}

// Named adds the label and the category to an error about the subset, if there are several.
func (su *Subset) Named(err error) error {
	name := ""
	if su.label != nil {
		name = fmt.Sprintf(" with background_label = %d", *su.label)
	}
	if su.hasCategory {
		name += fmt.Sprintf(" of category = %d", su.Category)
	}
	if name == "" || err == nil {
		return err
	}
	return errs.Of(err, "events%s: %v", name, err)
}

// notWanted is the number of an event that has none of the labels.
const notWanted = math.MaxUint32

// Divide returns the subsets of the events that have one of the labels, by label and category; without labels and categories the input. It
// uses the memory of the scratch.
func Divide[T Float](ev Events[T], labels []int32, sc *par.Scratch) (subs []Subset, err error) {
	n := len(ev.Variables()[0])
	if ev.Label != nil {
		n = ev.Label.Length()
	}
	switch {
	case n == 0:
		return nil, errs.Of(errs.ErrNoEvents, "no event selected: mass is empty (length 0)")
	case ev.Label == nil && ev.Category == nil:
		return []Subset{{Factor: 1}}, nil
	case ev.Category != nil && !ev.Category.isWhole():
		return nil, errs.Of(errs.ErrOption, "category has floating-point numbers, and categories are integers: give them in an integer type")
	case ev.Label == nil:
		labels = []int32{0}
	}
	sc.Expect(n)
	index, numbers := par.Unset[uint32](&sc.Arena, n), par.Make[uint32](&sc.Arena, n)
	chosen := make([]int, (n+par.Share-1)/par.Share)
	sc.Blocks(n, par.Share, func(lo, hi int) {
		if ev.Label != nil {
			ev.Label.find(numbers[lo:hi], lo, labels)
		}
		if len(labels) == 1 && ev.Category == nil {
			chosen[lo/par.Share] = choose(index[lo:hi], numbers[lo:hi], lo, 0)
		}
	})
	if len(labels) == 1 && ev.Category == nil {
		count := 0
		for k, ofBlock := range chosen {
			count += copy(index[count:], index[k*par.Share:][:ofBlock])
		}
		subs = []Subset{{Index: index[:count]}}
	} else {
		subs = arrange(index, numbers, len(labels), ev.Category)
	}
	seen := make([]int, len(labels))
	for k := range subs {
		su := &subs[k]
		su.Factor, su.hasCategory = 1, len(subs) > len(labels)
		if seen[su.Label] += len(su.Index); len(labels) > 1 {
			su.label = &labels[su.Label]
		}
	}
	if k := slices.Index(seen, 0); k >= 0 {
		return nil, errs.Of(errs.ErrNoEvents, "no event selected: none of the %d values of label equals background_label = %d: "+
			"use larger batches, or check background_label", n, labels[k])
	}
	return subs, nil
}

// arrange returns the subsets that have events, in order of label and category. The numbers of the events are the places of their labels,
// and arrange overwrites them. It sets index to the places of the events, one subset after the other.
func arrange(index, numbers []uint32, labels int, category LabelSlice) (subs []Subset) {
	places, counts := map[int64]int{0: 0}, make([]int, labels) // of categories in order of appearance; of each, and in it of each label
	if category != nil {
		clear(places)
		counts = nil
	}
	for i, number := range numbers {
		if number == notWanted {
			continue
		}
		place, known := 0, true
		if category != nil {
			name := category.integer(i)
			if place, known = places[name]; !known {
				place = len(places)
				places[name], counts = place, append(counts, make([]int, labels)...)
			}
		}
		numbers[i] = uint32(place*labels) + number
		counts[numbers[i]]++
	}
	start, next := 0, make([]int, len(counts)) // next: where the next event of each number goes
	names := slices.Sorted(maps.Keys(places))
	for label := range labels {
		for _, name := range names {
			number := places[name]*labels + label
			next[number] = start
			if start += counts[number]; counts[number] > 0 {
				subs = append(subs, Subset{Label: label, Category: name, Index: index[next[number]:start]})
			}
		}
	}
	for i, number := range numbers {
		if number != notWanted {
			index[next[number]] = uint32(i)
			next[number]++
		}
	}
	return subs
}

// Of returns the events of a subset, without labels and categories. It uses the memory of the scratch.
func (ev *Events[T]) Of(su *Subset, sc *par.Scratch) Events[T] {
	if su.Index == nil {
		return *ev
	}
	return ev.Chosen(su.Index, sc)
}

// Chosen returns copies of the chosen events, without labels and categories, in the memory of the scratch.
func (ev *Events[T]) Chosen(chosen []uint32, sc *par.Scratch) Events[T] {
	pick := func(from []T) []T {
		if from == nil {
			return nil
		}
		to := par.Unset[T](&sc.Arena, len(chosen))
		sc.Blocks(len(to), par.Share, func(lo, hi int) { Pick(to[lo:hi], from, chosen[lo:hi]) })
		return to
	}
	some := Events[T]{Score: pick(ev.Score), Mass: pick(ev.Mass), Weight: pick(ev.Weight)}
	for _, mass := range ev.Masses {
		some.Masses = append(some.Masses, pick(mass))
	}
	return some
}

// Pick copies the chosen elements to to.
func Pick[E any](to, from []E, chosen []uint32) {
	to = to[:len(chosen)]
	for j, i := range chosen {
		to[j] = from[i]
	}
}

// SetFactors sets the factor of each subset to the share of its category in the label's sum of weights; 1 if the label has one category.
func SetFactors[T Float](subs []Subset, weights []T) error {
	totals, categories, largest := map[int]float64{}, map[int]int{}, 0.0
	for _, su := range subs {
		categories[su.Label]++
		for i := 0; i < len(su.Index) && weights != nil; i++ {
			largest = max(largest, math.Abs(float64(weights[su.Index[i]])))
		}
	}
	if len(categories) == len(subs) {
		return nil
	}
	unit := UnitOf(largest)
	for k := range subs {
		su := &subs[k]
		if su.Factor = 0; weights == nil {
			su.Factor = float64(len(su.Index))
		}
		for i := 0; i < len(su.Index) && weights != nil; i++ {
			w := float64(weights[su.Index[i]])
			if !IsFinite(w) {
				return su.Named(NotFinite("weight", su.Place(i), w))
			}
			su.Factor += w * unit
		}
		totals[su.Label] += su.Factor
	}
	for k := range subs {
		su := &subs[k]
		if su.Factor /= totals[su.Label]; categories[su.Label] == 1 {
			su.Factor = 1 // also if the sum is not positive
		}
		if !(su.Factor > 0) || !IsFinite(su.Factor) {
			return su.Named(errs.Of(errs.ErrBin, "their share of the sum of weights is %v, and must be positive: "+
				"use larger batches, or leave these events out", su.Factor))
		}
	}
	return nil
}

// Each calls f for each subset, and returns the error of the first one that has an error, with its name. Goroutines share the work on a
// large subset, and take small subsets one by one, with scratch of their own.
func Each(subs []Subset, sc *par.Scratch, f func(k int, sc *par.Scratch) error) error {
	if len(subs) == 1 {
		return subs[0].Named(f(0, sc))
	}
	failures := make([]error, len(subs))
	var failed atomic.Int64 // the first subset with an error: later ones are skipped
	failed.Store(int64(len(subs)))
	call := func(k int, sc *par.Scratch) {
		if int64(k) > failed.Load() {
			return
		}
		failures[k] = f(k, sc)
		for first := failed.Load(); failures[k] != nil && int64(k) < first; first = failed.Load() {
			failed.CompareAndSwap(first, int64(k))
		}
	}
	var small []int
	events := 0 // of the small subsets
	for k, su := range subs {
		if len(su.Index) < par.AloneCall {
			small, events = append(small, k), events+len(su.Index)
		} else {
			call(k, sc)
		}
	}
	sc.Expect(events)
	sc.Run(len(small), func(j int) {
		room := par.Room()
		defer room.Give()
		call(small[j], room)
	})
	if k := int(failed.Load()); k < len(subs) {
		return subs[k].Named(failures[k])
	}
	return nil
}

// Derivatives are the arrays for the derivatives of the loss by each score: the gradient, and the bound on the curvature.
// Either is nil if it is not wanted.
type Derivatives[T Float] struct{ Grad, Hess []T }

// Both returns the gradient and the bound.
func (d Derivatives[T]) Both() [2][]T { return [...][]T{d.Grad, d.Hess} }

// derivativeNames are the names in errors.
var derivativeNames = [...]string{"grad", "hess"}

// CheckLengths returns an error if an array does not have n elements.
func (d Derivatives[T]) CheckLengths(n int) error {
	for k, array := range d.Both() {
		if array != nil && len(array) != n {
			return wrongLength(derivativeNames[k], len(array), n)
		}
	}
	return nil
}

// Check returns an error for the first derivative that is beyond its type, for example if a float32 cannot hold it.
func (d Derivatives[T]) Check(sc *par.Scratch) error {
	for k, array := range d.Both() {
		var isBad atomic.Bool
		sc.Blocks(len(array), par.Share, func(lo, hi int) {
			if FirstNotFinite(array[lo:hi]) >= 0 {
				isBad.Store(true)
			}
		})
		if isBad.Load() {
			return errs.At(errs.ErrOverflow, derivativeNames[k], FirstNotFinite(array), " overflows its type: scores are too close together, "+
				"or slope_penalty or weights relative to their sum in a bin are too large")
		}
	}
	return nil
}

// Clear sets all derivatives to 0.
func (d Derivatives[T]) Clear(sc *par.Scratch) {
	for _, array := range d.Both() {
		sc.Blocks(len(array), par.Share, func(lo, hi int) { clear(array[lo:hi]) })
	}
}

// ForEvents returns memory for the wanted derivatives of n events. It is not cleared.
func (d Derivatives[T]) ForEvents(n int, arena *par.Arena) (own Derivatives[T]) {
	if d.Grad != nil {
		own.Grad = par.Unset[T](arena, n)
	}
	if d.Hess != nil {
		own.Hess = par.Unset[T](arena, n)
	}
	return own
}

// Scatter copies the derivatives of a subset, times its factor, to their places in the input.
func (d Derivatives[T]) Scatter(own Derivatives[T], su *Subset, sc *par.Scratch) {
	to := d.Both()
	for k, all := range own.Both() {
		sc.Blocks(len(all), par.Share, func(lo, hi int) {
			block := all[lo:hi]
			for j := 0; j < len(block) && su.Factor != 1; j++ {
				block[j] = T(float64(block[j]) * su.Factor)
			}
			for j, i := range su.Index[lo:hi] {
				to[k][i] = block[j]
			}
		})
	}
}
