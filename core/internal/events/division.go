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
	parts := sc.Team.PartsFor(n)
	if ev.Label == nil {
		labels = []int32{0}
	}
	di := &Division[T]{Index: par.Unset[uint32](&sc.Arena, n), Labels: len(labels)}
	numbers := par.Unset[uint32](&sc.Arena, n)
	categories, err := di.number(numbers, ev, labels, sc.Team)
	if err != nil {
		return nil, err
	}
	di.arrange(numbers, categories, parts, sc.Team)
	for place, label := range labels {
		if !slices.ContainsFunc(di.Subsets, func(sub Subset) bool { return sub.Label == place }) {
			return nil, errs.Of(errs.ErrNoEvents, "no event selected: none of the %d values of label equals background_label = %d: "+
				"use larger batches, or check background_label", n, label)
		}
	}
	di.copyEvents(ev, sc)
	return di, nil
}

// number numbers the events by label, and within a label by category. It returns the categories in increasing order.
func (di *Division[T]) number(numbers []uint32, ev Events[T], labels []int32, team *par.Team) ([]int64, error) {
	team.Blocks(len(numbers), divideBlock, func(lo, hi int) {
		if ev.Label == nil {
			clear(numbers[lo:hi])
		} else {
			ev.Label.find(numbers[lo:hi], lo, labels)
		}
	})
	if ev.Category == nil {
		return []int64{0}, nil
	}
	if !ev.Category.isWhole() {
		return nil, errs.Of(errs.ErrOption, "category has floating-point numbers, and categories are integers: give them in an integer type")
	}
	found, at := make(map[int64]uint32), di.Index // the categories in order of appearance, and that of each event
	for i, number := range numbers {
		if number != notWanted {
			category := ev.Category.integer(i)
			place, known := found[category]
			if !known {
				place = uint32(len(found))
				found[category] = place
			}
			at[i] = place
		}
	}
	categories := slices.Sorted(maps.Keys(found))
	ranks := make([]uint32, len(categories))
	for k, category := range categories {
		ranks[found[category]] = uint32(k)
	}
	for i, number := range numbers {
		if number != notWanted {
			numbers[i] = number*uint32(len(ranks)) + ranks[at[i]]
		}
	}
	return categories, nil
}

// arrange sets di.Index to the places of the events in order of their numbers, and di.Subsets to the subsets that have
// events.
func (di *Division[T]) arrange(numbers []uint32, categories []int64, parts int, team *par.Team) {
	n, width := len(numbers), di.Labels*len(categories)+1
	next := make([]uint32, parts*width) // a row for each part: where the next event of each number goes, and one of none
	forPart := func(part int) (lo int, own, row []uint32, last uint32) {
		lo = n * part / parts
		return lo, numbers[lo : n*(part+1)/parts], next[part*width : (part+1)*width], uint32(width - 1)
	}
	team.Run(parts, func(part int) {
		_, numbers, row, last := forPart(part)
		if last > 1 {
			for _, number := range numbers {
				row[min(number, last)]++
			}
			return
		}
		// With one subset the number of an event is 0 or notWanted, whose lowest bit is 1. Adding up these bits is faster than
		// counting in memory.
		var others uint32
		for _, number := range numbers {
			others += number & 1
		}
		row[0] = uint32(len(numbers)) - others
	})
	var start, found uint32
	for k := range width {
		first := start
		for part := range parts {
			slot := &next[part*width+k]
			*slot, start = start, start+*slot
		}
		if k < width-1 && start > first {
			sub := Subset{Label: k / len(categories), Category: categories[k%len(categories)], Lo: int(first), Hi: int(start), Factor: 1}
			di.Subsets, found = append(di.Subsets, sub), start
		}
	}
	team.Run(parts, func(part int) {
		lo, numbers, row, last := forPart(part)
		index := di.Index
		if last > 1 {
			for i, number := range numbers {
				slot := &row[min(number, last)]
				index[*slot] = uint32(lo + i)
				*slot++
			}
			return
		}
		end := found
		if part+1 < parts {
			end = next[(part+1)*width]
		}
		for i, at := 0, row[0]; at < end; i++ {
			index[at] = uint32(lo + i)
			at += 1 - numbers[i]&1
		}
	})
	di.Index = di.Index[:found]
}

// copyEvents sets di.Events to the selected events.
func (di *Division[T]) copyEvents(ev Events[T], sc *par.Scratch) {
	pick := func(from []T) []T {
		if from == nil {
			return nil
		}
		to := par.Unset[T](&sc.Arena, len(di.Index))
		sc.Team.Blocks(len(to), divideBlock, func(lo, hi int) { Pick(to[lo:hi], from, di.Index[lo:hi]) })
		return to
	}
	di.Events = Events[T]{Score: pick(ev.Score), Mass: pick(ev.Mass), Weight: pick(ev.Weight)}
	for _, mass := range ev.Masses {
		di.Events.Masses = append(di.Events.Masses, pick(mass))
	}
}

// Pick copies the chosen elements to to.
func Pick[E any](to, from []E, chosen []uint32) {
	to = to[:len(chosen)]
	for j, i := range chosen {
		to[j] = from[i]
	}
}
