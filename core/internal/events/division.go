package events

import (
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
)

// Division holds copies of the selected events in order of label, category and place in the input.
type Division[T Float] struct {
	Events  Events[T] // without labels and categories
	Index   []uint32  // the place of each event in the input
	Subsets []Subset
	Labels  int // the number of labels

	// memory
	out           Derivatives[T]
	numbers       []uint32
	score, weight []T
	masses        [MaxVariables][]T
}

// Subset is the events Lo..Hi-1 of a division, which have one label and one category.
type Subset struct {
	Label    int // its place in Config.BackgroundLabel
	Category int64
	Lo, Hi   int
	Factor   float64 // the share of the category in the label's sum of weights, see SetFactors
}

// Size returns the number of events.
func (su *Subset) Size() int { return su.Hi - su.Lo }

// divideBlock is the number of events that a goroutine handles at a time.
const divideBlock = 1 << 14

// Divide selects the events that have one of the labels.
func (di *Division[T]) Divide(ev Events[T], labels []int32, sc *par.Scratch) error {
	n := 0
	switch {
	case ev.Label != nil:
		n = ev.Label.Length()
	case ev.Category != nil:
		n = ev.Category.Length()
	}
	if n == 0 {
		return errs.Of(errs.ErrNoEvents, "no event selected: mass is empty (length 0)")
	}
	parts := sc.Team.PartsFor(n)
	di.numbers = par.Grown(di.numbers, n)
	if ev.Label == nil {
		labels = []int32{0}
	}
	di.Labels = len(labels)
	subsets, err := di.numberSubsets(ev, labels, sc.Team)
	if err != nil {
		return err
	}
	found := di.arrange(subsets, parts, sc.Team)
	for place, label := range labels {
		if !slices.ContainsFunc(di.Subsets, func(su Subset) bool { return su.Label == place }) {
			return errs.Of(errs.ErrNoEvents, "no event selected: none of the %d values of label equals background_label = %d: "+
				"use larger batches, or check background_label", n, label)
		}
	}
	di.copyEvents(ev, found, sc.Team)
	return nil
}

// numberSubsets sets di.numbers to the number of the subset of each event, or to noNumber. It returns the subsets without
// their events.
func (di *Division[T]) numberSubsets(ev Events[T], labels []int32, team *par.Team) ([]Subset, error) {
	numbers, wanted := di.numbers, make([]int64, len(labels))
	for k, label := range labels {
		wanted[k] = int64(label)
	}
	places := make([]uint32, len(labels)) // by number: the place among the labels
	known := newNumbering(wanted, places)
	for number, label := range known.sorted {
		places[number] = uint32(slices.Index(wanted, label))
	}
	team.Blocks(len(numbers), divideBlock, func(lo, hi int) {
		if ev.Label == nil {
			clear(numbers[lo:hi])
			return
		}
		var values [Block]int64
		for ; lo < hi; lo += Block {
			block := values[:min(Block, hi-lo)]
			ev.Label.integers(block, lo)
			known.find(numbers[lo:hi], block)
			for i, number := range numbers[lo : lo+len(block)] {
				if len(places) > 1 && number != noNumber {
					numbers[lo+i] = places[number]
				}
			}
		}
	})
	if ev.Category == nil {
		subsets := make([]Subset, len(labels))
		for k := range subsets {
			subsets[k].Label = k
		}
		return subsets, nil
	}
	if !ev.Category.isWhole() {
		return nil, errs.Of(errs.ErrOption, "category has floating-point numbers, and categories are integers: give them in an integer type")
	}
	keys, found := make([]int64, len(numbers)), make([]uint32, len(numbers))
	ev.Category.integers(keys, 0)
	categories := newNumbering(keys, numbers)
	categories.find(found, keys)
	width := int64(len(categories.sorted))
	for i, label := range numbers {
		keys[i] = int64(label)*width + int64(found[i])
	}
	pairs := newNumbering(keys, numbers)
	pairs.find(found, keys)
	for i, pair := range found {
		if numbers[i] != noNumber {
			numbers[i] = pair
		}
	}
	subsets := make([]Subset, len(pairs.sorted))
	for k, pair := range pairs.sorted {
		subsets[k].Label, subsets[k].Category = int(pair/width), categories.sorted[pair%width]
	}
	return subsets, nil
}

// arrange sets di.Index to the places of the events in order of their subsets, and di.Subsets to the subsets that have
// events. It returns the number of these events.
func (di *Division[T]) arrange(subsets []Subset, parts int, team *par.Team) int {
	n, width := len(di.numbers), len(subsets)+1 // the last count is that of the events that are not selected
	next := make([]uint32, parts*width)
	forPart := func(part int) (lo int, numbers, row []uint32) {
		lo = n * part / parts
		return lo, di.numbers[lo : n*(part+1)/parts], next[part*width : (part+1)*width]
	}
	team.Run(parts, func(part int) {
		_, numbers, row := forPart(part)
		if len(subsets) == 1 { // without a memory access for each event
			var others uint32
			for _, number := range numbers {
				others += number & 1 // of noNumber
			}
			row[0] = uint32(len(numbers)) - others
			return
		}
		for _, number := range numbers {
			row[min(number, uint32(len(row)-1))]++
		}
	})
	di.Subsets = di.Subsets[:0]
	var start uint32
	found := 0
	for k := range width {
		first := start
		for part := range parts {
			slot := &next[part*width+k]
			*slot, start = start, start+*slot
		}
		if k < len(subsets) && start > first {
			su := subsets[k]
			su.Lo, su.Hi, su.Factor = int(first), int(start), 1
			di.Subsets, found = append(di.Subsets, su), su.Hi
		}
	}
	di.Index = par.Grown(di.Index, n)
	team.Run(parts, func(part int) {
		lo, numbers, row := forPart(part)
		index := di.Index
		if len(subsets) == 1 {
			end := uint32(found)
			if part+1 < parts {
				end = next[(part+1)*width]
			}
			for i, at := 0, row[0]; at < end; i++ {
				index[at] = uint32(lo + i)
				at += 1 - numbers[i]&1
			}
			return
		}
		for i, number := range numbers {
			slot := &row[min(number, uint32(len(row)-1))]
			index[*slot] = uint32(lo + i)
			*slot++
		}
	})
	di.Index = di.Index[:found]
	return found
}

// copyEvents sets di.Events to the selected events.
func (di *Division[T]) copyEvents(ev Events[T], n int, team *par.Team) {
	di.Events = Events[T]{}
	pick := func(memory *[]T, from []T) []T {
		to := grownLike(memory, from, n)
		team.Blocks(len(to), divideBlock, func(lo, hi int) { Pick(to[lo:hi], from, di.Index[lo:hi]) })
		return to
	}
	di.Events.Score, di.Events.Weight, di.Events.Mass = pick(&di.score, ev.Score), pick(&di.weight, ev.Weight), pick(&di.masses[0], ev.Mass)
	for k, mass := range ev.Masses {
		di.Events.Masses = append(di.Events.Masses, pick(&di.masses[k], mass))
	}
}

// grownLike returns memory for n numbers, or nil if from is nil.
func grownLike[T Float](memory *[]T, from []T, n int) []T {
	if from == nil {
		return nil
	}
	*memory = par.Grown(*memory, n)
	return *memory
}

// Pick copies the chosen elements to to.
func Pick[E any](to, from []E, chosen []uint32) {
	to = to[:len(chosen)]
	for j, i := range chosen {
		to[j] = from[i]
	}
}
