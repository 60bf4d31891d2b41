package events

import (
	"maps"
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
)

// Division holds copies of the selected events in order of label, category and place in the input.
type Division[T Float] struct {
	Events  Events[T] // without labels and categories
	Index   []uint32  // the place of each event in the input; nil: the events are the input
	Subsets []Subset
	Labels  int // the number of labels
}

// Subset is the events Lo..Hi-1 of a division, which have one label and one category.
type Subset struct {
	Label    int // its place in Config.BackgroundLabel
	Category int64
	Lo, Hi   int
	Factor   float64 // the share of the category in the label's sum of weights, see SetFactors
}

// Size returns the number of events.
func (sub *Subset) Size() int { return sub.Hi - sub.Lo }

// Place returns the place of event i in the input.
func (di *Division[T]) Place(i int) int {
	if di.Index == nil {
		return i
	}
	return int(di.Index[i])
}

// divideBlock is the number of events that a goroutine handles at a time.
const divideBlock = 1 << 14

// notWanted is the number of an event that has none of the labels.
const notWanted = math.MaxUint32

// Divide returns the events that have one of the labels; without labels and categories the input. It uses the memory of the scratch.
func Divide[T Float](ev Events[T], labels []int32, sc *par.Scratch) (*Division[T], error) {
	var n int
	switch {
	case ev.Label != nil:
		n = ev.Label.Length()
	case ev.Category != nil:
		n = ev.Category.Length()
	default:
		n = len(ev.Variables()[0])
	}
	if n == 0 {
		return nil, errs.Of(errs.ErrNoEvents, "no event selected: mass is empty (length 0)")
	}
	if ev.Label == nil && ev.Category == nil {
		return &Division[T]{Events: ev, Subsets: []Subset{{Hi: n, Factor: 1}}, Labels: 1}, nil
	}
	sc.Team.Expect(n)
	if ev.Label == nil {
		labels = []int32{0}
	}
	di := &Division[T]{Index: par.Unset[uint32](&sc.Arena, n), Labels: len(labels)}
	numbers, chosen := par.Unset[uint32](&sc.Arena, n), make([]int, (n+divideBlock-1)/divideBlock)
	sc.Team.Blocks(n, divideBlock, func(lo, hi int) {
		if ev.Label == nil {
			clear(numbers[lo:hi])
		} else {
			ev.Label.find(numbers[lo:hi], lo, labels)
		}
		if len(labels) == 1 && ev.Category == nil {
			chosen[lo/divideBlock] = choose(di.Index[lo:hi], numbers[lo:hi], lo)
		}
	})
	if len(labels) == 1 && ev.Category == nil {
		count := 0
		for k, ofBlock := range chosen {
			count += copy(di.Index[count:], di.Index[k*divideBlock:][:ofBlock])
		}
		if di.Index = di.Index[:count]; count > 0 {
			di.Subsets = []Subset{{Hi: count, Factor: 1}}
		}
	} else if err := di.arrange(numbers, ev.Category); err != nil {
		return nil, err
	}
	for place, label := range labels {
		if !slices.ContainsFunc(di.Subsets, func(sub Subset) bool { return sub.Label == place }) {
			return nil, errs.Of(errs.ErrNoEvents, "no event selected: none of the %d values of label equals background_label = %d: "+
				"use larger batches, or check background_label", n, label)
		}
	}
	di.Events = ev.Chosen(di.Index, sc)
	return di, nil
}

// choose sets index to the places of the events from lo on whose number is 0, not notWanted, and returns how many there are. It takes no
// branch on labels in no order.
func choose(index, numbers []uint32, lo int) (count int) {
	for i, number := range numbers {
		index[count] = uint32(lo + i)
		count += int(1 - number&1)
	}
	return count
}

// arrange sets di.Index to the places of the events in order of label and category, and di.Subsets to the subsets that have events. The
// numbers are the places of the labels.
func (di *Division[T]) arrange(numbers []uint32, category LabelSlice) error {
	categories := []int64{0}
	if category != nil {
		if !category.isWhole() {
			return errs.Of(errs.ErrOption, "category has floating-point numbers, and categories are integers: give them in an integer type")
		}
		places, at := make(map[int64]uint32), di.Index // the categories in order of appearance, and the one of each event
		for i, number := range numbers {
			if number != notWanted {
				name := category.integer(i)
				place, known := places[name]
				if !known {
					place = uint32(len(places))
					places[name] = place
				}
				at[i] = place
			}
		}
		categories = slices.Sorted(maps.Keys(places))
		ranks := make([]uint32, len(categories))
		for k, name := range categories {
			ranks[places[name]] = uint32(k)
		}
		for i, number := range numbers {
			if number != notWanted {
				numbers[i] = number*uint32(len(ranks)) + ranks[at[i]]
			}
		}
	}
	next := make([]int, di.Labels*len(categories)) // where the next event of each number goes
	for _, number := range numbers {
		if number != notWanted {
			next[number]++
		}
	}
	start := 0
	for k, count := range next {
		if next[k] = start; count > 0 {
			sub := Subset{Label: k / len(categories), Category: categories[k%len(categories)], Lo: start, Hi: start + count, Factor: 1}
			di.Subsets = append(di.Subsets, sub)
		}
		start += count
	}
	for i, number := range numbers {
		if number != notWanted {
			di.Index[next[number]] = uint32(i)
			next[number]++
		}
	}
	di.Index = di.Index[:start]
	return nil
}

// Chosen returns copies of the chosen events, without labels and categories, in the memory of the scratch.
func (ev *Events[T]) Chosen(chosen []uint32, sc *par.Scratch) Events[T] {
	pick := func(from []T) []T {
		if from == nil {
			return nil
		}
		to := par.Unset[T](&sc.Arena, len(chosen))
		sc.Team.Blocks(len(to), divideBlock, func(lo, hi int) { Pick(to[lo:hi], from, chosen[lo:hi]) })
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
