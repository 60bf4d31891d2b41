package events

import (
	"maps"
	"slices"
	"sync"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
)

// Division holds the selected events side by side: those of each label that is asked for and, within a label, those
// of each category. A batch has its labels in random order, and loops that ask for them would guess wrong at every
// other event.
type Division[T Float] struct {
	Events  Events[T] // without labels and categories
	Index   []uint32  // their places in the input
	Subsets []Subset
	Labels  int // the number of labels

	// memory
	out           Derivatives[T]
	numbers       []uint32
	score, weight []T
	masses        [MaxVariables][]T
}

// Subset is the events Lo..Hi-1 of a division, those of one label and one category.
type Subset struct {
	Label    int // its place among the labels that are asked for
	Category int64
	Lo, Hi   int
	Factor   float64 // the category's share of the label's sum of weights, see SetFactors
}

// Size returns the number of events.
func (su *Subset) Size() int { return su.Hi - su.Lo }

// Divide selects the events that have one of the labels, and sorts them by label, category and place.
func (di *Division[T]) Divide(ev Events[T], labels []int32, sc *par.Scratch) error {
	if ev.labelled() == 0 {
		return errs.Of(errs.ErrNoEvents, "no event selected: mass is empty (length 0)")
	}
	di.Labels = 1
	var wanted *slots
	if ev.Label != nil {
		di.Labels, wanted = len(labels), newSlots(labels)
	}
	if ev.Category == nil && di.Labels == 1 {
		di.selectLabel(ev, wanted, sc.Team)
	} else if err := di.selectSubsets(ev, wanted, sc); err != nil {
		return err
	}
	for label := range di.Labels {
		if !slices.ContainsFunc(di.Subsets, func(su Subset) bool { return su.Label == label }) {
			return errs.Of(errs.ErrNoEvents, "no event selected: none of the %d values of label equals background_label = %d: "+
				"use larger batches, or check background_label", ev.labelled(), labels[label])
		}
	}
	return nil
}

// labelled returns the number of events of which labels or categories are known.
func (ev *Events[T]) labelled() int {
	if ev.Label != nil {
		return ev.Label.Length()
	}
	return ev.Category.Length()
}

// places holds places of a block of events.
var places = sync.Pool{New: func() any { return new([Block]uint32) }}

// selectLabel makes one subset of the events that have the one wanted label.
func (di *Division[T]) selectLabel(ev Events[T], wanted *slots, team *par.Team) {
	n := ev.Label.Length()
	parts := team.PartsFor(n)
	starts := make([]int, parts+1)
	team.Run(parts, func(k int) {
		lo, hi := partOf(n, k, parts)
		starts[k+1] = ev.Label.count(wanted, lo, hi)
	})
	for k := range parts {
		starts[k+1] += starts[k]
	}
	di.Subsets = di.Subsets[:0]
	if starts[parts] == 0 {
		return
	}
	di.makeRoom(ev, starts[parts])
	di.Subsets = append(di.Subsets, Subset{Hi: starts[parts], Factor: 1})
	team.Run(parts, func(k int) {
		room := places.Get().(*[Block]uint32)
		defer places.Put(room)
		next := starts[k]
		for lo, end := partOf(n, k, parts); lo < end; lo += Block {
			chosen := ev.Label.choose(room, wanted, lo, min(lo+Block, end))
			copy(di.Index[next:], chosen)
			di.fetch(ev, next, chosen)
			next += len(chosen)
		}
	})
}

// selectSubsets makes a subset of the events of each label and category, by a counting sort.
func (di *Division[T]) selectSubsets(ev Events[T], wanted *slots, sc *par.Scratch) error {
	n := ev.labelled()
	team := sc.Team
	team.PartsFor(n)
	di.numbers = par.Grown(di.numbers, n)
	numbers := di.numbers // of the label of each event, then of its subset
	team.Blocks(n, divideBlock, func(lo, hi int) {
		if wanted == nil {
			clear(numbers[lo:hi])
		} else {
			ev.Label.find(numbers[lo:hi], wanted, lo)
		}
	})
	known := categories{width: 1}
	if ev.Category != nil {
		if !ev.Category.whole() {
			return errs.Of(errs.ErrOption, "category has floating-point numbers, and categories are integers: give them in an integer type")
		}
		values := make([]int64, n)
		team.Blocks(n, divideBlock, func(lo, hi int) { ev.Category.integers(values[lo:hi], lo) })
		known = categoriesOf(values, numbers, n/di.Labels)
		team.Blocks(n, divideBlock, func(lo, hi int) {
			for i, category := range values[lo:hi] {
				if slot := &numbers[lo+i]; *slot != noSlot {
					*slot = *slot*uint32(known.width) + known.number(category)
				}
			}
		})
	}
	next := make([]int, di.Labels*known.width) // where the next event of each subset goes
	for _, number := range numbers {
		if number != noSlot {
			next[number]++
		}
	}
	found := 0
	di.Subsets = di.Subsets[:0]
	for number, count := range next {
		next[number] = found
		if count > 0 {
			di.Subsets = append(di.Subsets, Subset{number / known.width, known.category(number % known.width), found, found + count, 1})
		}
		found += count
	}
	di.makeRoom(ev, found)
	for i, number := range numbers {
		if number != noSlot {
			di.Index[next[number]] = uint32(i)
			next[number]++
		}
	}
	team.Blocks(found, divideBlock, func(lo, hi int) { di.fetch(ev, lo, di.Index[lo:hi]) })
	return nil
}

// divideBlock is how many events a goroutine takes at a time.
const divideBlock = 1 << 14

// categories numbers the categories that occur, in order.
type categories struct {
	lowest  int64
	width   int              // how many numbers there are
	sorted  []int64          // by number, where they lie far apart; nil: a number is the distance to the lowest
	numbers map[int64]uint32 // by category, where they lie far apart
}

// categoriesOf returns those of the events that have a label. A table of at most limit numbers is one for near categories.
func categoriesOf(values []int64, labels []uint32, limit int) categories {
	known, highest := categories{width: 1}, int64(0)
	first := true
	for i, category := range values {
		if labels[i] == noSlot {
			continue
		}
		if first {
			known.lowest, highest, first = category, category, false
		}
		known.lowest, highest = min(known.lowest, category), max(highest, category)
	}
	if span := uint64(highest) - uint64(known.lowest); span < uint64(max(1, limit)) {
		known.width = int(span) + 1
		return known
	}
	known.numbers = map[int64]uint32{}
	for i, category := range values {
		if labels[i] != noSlot {
			known.numbers[category] = 0
		}
	}
	known.sorted = slices.Sorted(maps.Keys(known.numbers))
	for k, category := range known.sorted {
		known.numbers[category] = uint32(k)
	}
	known.width = len(known.sorted)
	return known
}

func (known *categories) number(category int64) uint32 {
	if known.sorted == nil {
		return uint32(category - known.lowest)
	}
	return known.numbers[category]
}

func (known *categories) category(number int) int64 {
	if known.sorted == nil {
		return known.lowest + int64(number)
	}
	return known.sorted[number]
}

// makeRoom makes room for so many events.
func (di *Division[T]) makeRoom(ev Events[T], found int) {
	di.Index = par.Grown(di.Index, found)
	di.Events = Events[T]{Score: alike(&di.score, ev.Score, found), Weight: alike(&di.weight, ev.Weight, found)}
	if ev.Masses == nil {
		di.Events.Mass = alike(&di.masses[0], ev.Mass, found)
	}
	for k, mass := range ev.Masses {
		di.Events.Masses = append(di.Events.Masses, alike(&di.masses[k], mass, found))
	}
}

// alike returns memory for n numbers; nil where there are none to take.
func alike[T Float](memory *[]T, from []T, n int) []T {
	if from == nil {
		return nil
	}
	*memory = par.Grown(*memory, n)
	return *memory
}

// fetch copies the chosen events to the places from at on.
func (di *Division[T]) fetch(ev Events[T], at int, chosen []uint32) {
	Pick(di.Events.Score, ev.Score, at, chosen)
	Pick(di.Events.Weight, ev.Weight, at, chosen)
	to := di.Events.Variables()
	for v, mass := range ev.Variables() {
		Pick(to[v], mass, at, chosen)
	}
}

// Pick copies the chosen numbers to to[at], to[at+1], ...
func Pick[T Float](to, from []T, at int, chosen []uint32) {
	if from == nil {
		return
	}
	to = to[at:][:len(chosen)]
	for j, i := range chosen {
		to[j] = from[i]
	}
}

// partOf returns the events lo..hi-1 of one of several parts of n.
func partOf(n, part, parts int) (lo, hi int) { return n * part / parts, n * (part + 1) / parts }
