package core

import (
	"math"
	"sync"

	"github.com/libmode/libmode/core/internal/par"
)

// division divides events by their labels and, within a label, by their categories, into subsets, which
// have numbers: in the order of the labels asked for, and then of category. Not every number has events.
type division struct {
	n               int        // events
	label, category LabelSlice // nil: all events are of one
	wanted          *slots     // labels
	labels          int        // how many are wanted
	count           int        // of numbers of subsets

	numbers []uint32 // of the subset of each event, or noSlot; nil for one label without categories

	// Where categories lie near each other, a number is that of the label times width, plus the distance
	// to the lowest category.
	lowest int64
	width  int
	// Where they lie far apart, a number is the place of its origin here; otherwise nil.
	origins []origin
}

// newDivision looks at the categories of the selected events, of n.
func newDivision(n int, label, category LabelSlice, labels []int32, sc *scratch) (*division, error) {
	di := &division{n: n, labels: 1, count: 1, width: 1}
	if n == 0 {
		return di, nil
	}
	if category != nil || len(labels) > 1 {
		sc.numbers = par.Grown(sc.numbers, n)
		di.numbers = sc.numbers
	}
	if label != nil {
		di.label, di.wanted, di.labels, di.count = label, newSlots(labels), len(labels), len(labels)
	}
	if category == nil {
		return di, nil
	}
	if !category.whole() {
		return nil, errorOf(ErrOption, "category has floating-point numbers, and categories are integers: give them in an integer type")
	}
	di.category = category
	lowest, highest := di.extremes(sc.team)
	switch span := uint64(highest) - uint64(lowest); {
	case lowest > highest: // no event is selected
		di.category = nil
	case span < uint64(max(1, n/di.labels)):
		di.lowest, di.width = lowest, int(span)+1
		di.count = di.labels * di.width
	default:
		di.numberFarApart(sc.team)
	}
	return di, nil
}

// undivided reports whether all events are of one subset.
func (di *division) undivided() bool { return di.label == nil && di.count == 1 }

// parts returns into how many parts to divide the work, each of which counts the events of every number.
func (di *division) parts(team *par.Team) int {
	return max(1, min(team.PartsFor(di.n), di.n/di.count))
}

// extremes returns the lowest and the highest category of the selected events.
func (di *division) extremes(team *par.Team) (lowest, highest int64) {
	parts := di.parts(team)
	found := make([][2]int64, parts)
	team.Run(parts, func(k int) {
		lowest, highest := int64(math.MaxInt64), int64(math.MinInt64)
		di.read(k, parts, func(slots []uint32, categories []int64) {
			for i, category := range categories {
				if slots[i] != noSlot {
					lowest, highest = min(lowest, category), max(highest, category)
				}
			}
		})
		found[k] = [2]int64{lowest, highest}
	})
	lowest, highest = found[0][0], found[0][1]
	for _, of := range found {
		lowest, highest = min(lowest, of[0]), max(highest, of[1])
	}
	return lowest, highest
}

// numberFarApart sets the numbers of all events where a table of the categories from the lowest to the
// highest would be larger than the events.
func (di *division) numberFarApart(team *par.Team) {
	parts := di.parts(team)
	seen := make([]origins, parts)
	team.Run(parts, func(k int) {
		di.read(k, parts, func(slots []uint32, categories []int64) {
			for i, slot := range slots {
				if slot != noSlot {
					slots[i] = seen[k].number(origin{slot, categories[i]})
				}
			}
		})
	})
	di.origins = sortedOrigins(seen)
	di.count = len(di.origins)
	team.Run(parts, func(k int) {
		numbers := seen[k].numbersIn(di.origins)
		lo, hi := partOf(di.n, k, parts)
		for i, first := range di.numbers[lo:hi] {
			if first != noSlot {
				di.numbers[lo+i] = numbers[first]
			}
		}
	})
}

// origin returns that of the subset that has a number.
func (di *division) origin(number int) origin {
	if di.origins != nil {
		return di.origins[number]
	}
	return origin{uint32(number / di.width), di.lowest + int64(number%di.width)}
}

// number sets the numbers of the events of a part and adds them to counts.
func (di *division) number(counts []uint32, part, parts int) {
	if di.origins == nil {
		di.read(part, parts, func(slots []uint32, categories []int64) {
			for i, category := range categories {
				if slots[i] != noSlot {
					slots[i] = slots[i]*uint32(di.width) + uint32(category-di.lowest)
				}
			}
		})
	}
	lo, hi := partOf(di.n, part, parts)
	for _, number := range di.numbers[lo:hi] {
		if number != noSlot {
			counts[number]++
		}
	}
}

// readRooms have the categories of a block of events.
var readRooms = sync.Pool{New: func() any { return new([checkBlock]int64) }}

// read calls f for each block of a part of the events, with the place for their numbers, which has the
// slots of their labels, and with their categories, if there are any.
func (di *division) read(part, parts int, f func(slots []uint32, categories []int64)) {
	room := readRooms.Get().(*[checkBlock]int64)
	defer readRooms.Put(room)
	lo, hi := partOf(di.n, part, parts)
	for ; lo < hi; lo += checkBlock {
		slots, categories := di.numbers[lo:min(lo+checkBlock, hi)], room[:0]
		if di.label != nil {
			di.label.find(slots, di.wanted, lo)
		} else {
			clear(slots)
		}
		if di.category != nil {
			categories = room[:len(slots)]
			di.category.integers(categories, lo)
		}
		f(slots, categories)
	}
}

// partOf returns the events lo..hi-1 of one of several parts of n.
func partOf(n, part, parts int) (lo, hi int) { return n * part / parts, n * (part + 1) / parts }
