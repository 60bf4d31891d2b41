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

// Subset has copies of the events of one label and one category, in the order of the input, without labels and categories.
type Subset[T Float] struct {
	Events[T]
	Index    []uint32 // the place of each event in the input; nil: the events are the input
	Label    int      // its place in Config.BackgroundLabel
	Category int64
	Factor   float64 // the share of the category in the label's sum of weights, see SetFactors

	// Errors name these where there are several labels, or several categories.
	label       *int32
	hasCategory bool
}

// Place returns the place of event i in the input.
func (su *Subset[T]) Place(i int) int {
	if su.Index == nil {
		return i
	}
	return int(su.Index[i])
}

// Named adds the label and the category to an error about the subset, if there are several.
func (su *Subset[T]) Named(err error) error {
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

// blockSize is the number of events that a goroutine handles at a time.
const blockSize = 1 << 14

// notWanted is the number of an event that has none of the labels.
const notWanted = math.MaxUint32

// Divide returns the subsets of the events that have one of the labels; without labels and categories the input. It uses the memory of
// the scratch.
func Divide[T Float](ev Events[T], labels []int32, sc *par.Scratch) ([]Subset[T], error) {
	n := len(ev.Variables()[0])
	if ev.Label != nil {
		n = ev.Label.Length()
	}
	if n == 0 {
		return nil, errs.Of(errs.ErrNoEvents, "no event selected: mass is empty (length 0)")
	}
	if ev.Label == nil && ev.Category == nil {
		return []Subset[T]{{Events: ev, Factor: 1}}, nil
	}
	sc.Expect(n)
	if ev.Label == nil {
		labels = []int32{0}
	}
	index, numbers := par.Unset[uint32](&sc.Arena, n), par.Unset[uint32](&sc.Arena, n)
	chosen := make([]int, (n+blockSize-1)/blockSize)
	sc.Blocks(n, blockSize, func(lo, hi int) {
		if ev.Label == nil {
			clear(numbers[lo:hi])
		} else {
			ev.Label.find(numbers[lo:hi], lo, labels)
		}
		if len(labels) == 1 && ev.Category == nil {
			chosen[lo/blockSize] = choose(index[lo:hi], numbers[lo:hi], lo, 0)
		}
	})
	var subs []Subset[T]
	if len(labels) == 1 && ev.Category == nil {
		count := 0
		for k, ofBlock := range chosen {
			count += copy(index[count:], index[k*blockSize:][:ofBlock])
		}
		if count > 0 {
			subs = []Subset[T]{{Index: index[:count], Factor: 1}}
		}
	} else {
		categories, err := ranksOf(ev.Category, numbers, index)
		if err != nil {
			return nil, err
		}
		subs = arrange[T](index, numbers, len(labels), categories)
	}
	for place, label := range labels {
		if !slices.ContainsFunc(subs, func(su Subset[T]) bool { return su.Label == place }) {
			return nil, errs.Of(errs.ErrNoEvents, "no event selected: none of the %d values of label equals background_label = %d: "+
				"use larger batches, or check background_label", n, label)
		}
	}
	count := 0
	for _, su := range subs {
		count += len(su.Index)
	}
	all, lo := ev.Chosen(index[:count], sc), 0
	for k := range subs {
		su := &subs[k]
		su.Events, lo = all.between(lo, lo+len(su.Index)), lo+len(su.Index)
		if len(labels) > 1 {
			su.label = &labels[su.Label]
		}
		su.hasCategory = len(subs) > len(labels)
	}
	return subs, nil
}

// ranksOf returns the categories of the events with a label, in increasing order, and turns the numbers of these events from places of
// labels into places of label and category. It overwrites the spare array.
func ranksOf(category LabelSlice, numbers, spare []uint32) ([]int64, error) {
	if category == nil {
		return []int64{0}, nil
	}
	if !category.isWhole() {
		return nil, errs.Of(errs.ErrOption, "category has floating-point numbers, and categories are integers: give them in an integer type")
	}
	places := make(map[int64]uint32) // of the categories in order of appearance
	for i, number := range numbers {
		if number != notWanted {
			name := category.integer(i)
			place, known := places[name]
			if !known {
				place = uint32(len(places))
				places[name] = place
			}
			spare[i] = place
		}
	}
	categories, ranks := slices.Sorted(maps.Keys(places)), make([]uint32, len(places))
	for k, name := range categories {
		ranks[places[name]] = uint32(k)
	}
	for i, number := range numbers {
		if number != notWanted {
			numbers[i] = number*uint32(len(ranks)) + ranks[spare[i]]
		}
	}
	return categories, nil
}

// arrange returns the subsets that have events. The number of an event counts labels and categories. arrange sets index to the places of
// the events in order of these numbers.
func arrange[T Float](index, numbers []uint32, labels int, categories []int64) (subs []Subset[T]) {
	next := make([]int, labels*len(categories)) // where the next event of each number goes
	for _, number := range numbers {
		if number != notWanted {
			next[number]++
		}
	}
	start := 0
	for k, count := range next {
		if next[k] = start; count > 0 {
			su := Subset[T]{Label: k / len(categories), Category: categories[k%len(categories)], Index: index[start : start+count], Factor: 1}
			subs = append(subs, su)
		}
		start += count
	}
	for i, number := range numbers {
		if number != notWanted {
			index[next[number]] = uint32(i)
			next[number]++
		}
	}
	return subs
}

// Chosen returns copies of the chosen events, without labels and categories, in the memory of the scratch.
func (ev *Events[T]) Chosen(chosen []uint32, sc *par.Scratch) Events[T] {
	pick := func(from []T) []T {
		if from == nil {
			return nil
		}
		to := par.Unset[T](&sc.Arena, len(chosen))
		sc.Blocks(len(to), blockSize, func(lo, hi int) { Pick(to[lo:hi], from, chosen[lo:hi]) })
		return to
	}
	some := Events[T]{Score: pick(ev.Score), Mass: pick(ev.Mass), Weight: pick(ev.Weight)}
	for _, mass := range ev.Masses {
		some.Masses = append(some.Masses, pick(mass))
	}
	return some
}

// between returns the events lo..hi-1, without labels and categories.
func (ev *Events[T]) between(lo, hi int) Events[T] {
	cut := func(all []T) []T { return all[min(lo, len(all)):min(hi, len(all))] }
	some := Events[T]{Score: cut(ev.Score), Mass: cut(ev.Mass), Weight: cut(ev.Weight)}
	for _, mass := range ev.Masses {
		some.Masses = append(some.Masses, cut(mass))
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
func SetFactors[T Float](subs []Subset[T]) error {
	totals, categories, largest := map[int]float64{}, map[int]int{}, 0.0
	for _, su := range subs {
		for _, w := range su.Weight {
			largest = max(largest, math.Abs(float64(w)))
		}
		categories[su.Label]++
	}
	if len(categories) == len(subs) {
		return nil
	}
	unit := UnitOf(largest)
	for k := range subs {
		su := &subs[k]
		if su.Factor = 0; su.Weight == nil {
			su.Factor = float64(len(su.Index))
		}
		for i, w := range su.Weight {
			if w-w != 0 {
				return su.Named(NotFinite("weight", su.Place(i), float64(w)))
			}
			su.Factor += float64(w) * unit
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
func Each[T Float](subs []Subset[T], sc *par.Scratch, f func(k int, sc *par.Scratch) error) error {
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

func (d Derivatives[T]) both() [2][]T { return [...][]T{d.Grad, d.Hess} }

// derivativeNames are the names in errors.
var derivativeNames = [...]string{"grad", "hess"}

// CheckLengths returns an error if an array does not have n elements.
func (d Derivatives[T]) CheckLengths(n int) error {
	for k, array := range d.both() {
		if array != nil && len(array) != n {
			return wrongLength(derivativeNames[k], len(array), n)
		}
	}
	return nil
}

// Check returns an error for the first derivative that is beyond its type, for example if a float32 cannot hold it.
func (d Derivatives[T]) Check(sc *par.Scratch) error {
	for k, array := range d.both() {
		var isBad atomic.Bool
		sc.Blocks(len(array), blockSize, func(lo, hi int) {
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
	for _, array := range d.both() {
		sc.Blocks(len(array), blockSize, func(lo, hi int) { clear(array[lo:hi]) })
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

// Scatter copies the derivatives of the subset, times its factor, to their places in the input.
func (su *Subset[T]) Scatter(input, own Derivatives[T], sc *par.Scratch) {
	to := input.both()
	for k, all := range own.both() {
		sc.Blocks(len(all), blockSize, func(lo, hi int) {
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
