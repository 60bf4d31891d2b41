package core

import (
	"maps"
	"math"
	"slices"
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
	count           int        // of numbers

	// Where categories lie near each other, a number is that of the label times width, plus the distance
	// to the lowest category.
	lowest int64
	width  int
	// Where they lie far apart, they are looked up, by label; otherwise nil.
	numbers []map[int64]uint32
	origins []origin
}

// origin says of which label, by its number among those wanted, and of which category a subset is.
type origin struct {
	label    int
	category int64
}

// newDivision looks at the categories of the selected events, of n.
func newDivision(n int, label, category LabelSlice, labels []int32, team *par.Team) (*division, error) {
	di := &division{n: n, labels: 1, count: 1, width: 1}
	if n == 0 {
		return di, nil
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
	lowest, highest := di.extremes(team)
	switch span := uint64(highest) - uint64(lowest); {
	case lowest > highest: // no event is selected
		di.category = nil
	case span < uint64(max(1, n/di.labels)):
		di.lowest, di.width = lowest, int(span)+1
		di.count = di.labels * di.width
	default:
		di.lookFarApart(team)
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
		di.read(k, parts, func(_ int, slots []uint32, categories []int64) {
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

// lookFarApart finds the subsets where a table of all categories from the lowest to the highest would be
// larger than the events.
func (di *division) lookFarApart(team *par.Team) {
	parts := di.parts(team)
	seen := make([]map[int64]uint32, parts*di.labels)
	for k := range seen {
		seen[k] = map[int64]uint32{}
	}
	team.Run(parts, func(k int) {
		seen := seen[k*di.labels : (k+1)*di.labels]
		di.read(k, parts, func(_ int, slots []uint32, categories []int64) {
			for i, category := range categories {
				if slots[i] != noSlot {
					seen[slots[i]][category] = 0
				}
			}
		})
	})
	di.numbers = seen[:di.labels]
	for label, numbers := range di.numbers {
		for k := di.labels + label; k < len(seen); k += di.labels {
			maps.Copy(numbers, seen[k])
		}
		for _, category := range slices.Sorted(maps.Keys(numbers)) {
			numbers[category] = uint32(len(di.origins))
			di.origins = append(di.origins, origin{label, category})
		}
	}
	di.count = len(di.origins)
}

// origin returns that of the subset that has a number.
func (di *division) origin(number int) origin {
	if di.numbers != nil {
		return di.origins[number]
	}
	return origin{number / di.width, di.lowest + int64(number%di.width)}
}

// number sets numbers to those of the events of a part, or to noSlot, and adds them to counts.
func (di *division) number(numbers, counts []uint32, part, parts int) {
	di.read(part, parts, func(lo int, slots []uint32, categories []int64) {
		found := numbers[lo:][:len(slots)]
		copy(found, slots)
		switch {
		case di.category == nil:
		case di.numbers == nil:
			for i, slot := range slots {
				if slot != noSlot {
					found[i] = slot*uint32(di.width) + uint32(categories[i]-di.lowest)
				}
			}
		default:
			for i, slot := range slots {
				if slot != noSlot {
					found[i] = di.numbers[slot][categories[i]]
				}
			}
		}
		for _, number := range found {
			if number != noSlot {
				counts[number]++
			}
		}
	})
}

// readRoom has a block of events between two loops over them.
type readRoom struct {
	slots      [checkBlock]uint32
	categories [checkBlock]int64
}

var readRooms = sync.Pool{New: func() any { return new(readRoom) }}

// read calls f for each block of a part of the events, of which the first is lo, with the numbers of
// their labels, or noSlot, and their categories, if there are any.
func (di *division) read(part, parts int, f func(lo int, slots []uint32, categories []int64)) {
	room := readRooms.Get().(*readRoom)
	defer readRooms.Put(room)
	lo, hi := partOf(di.n, part, parts)
	for ; lo < hi; lo += checkBlock {
		size := min(checkBlock, hi-lo)
		slots, categories := room.slots[:size], room.categories[:0]
		if di.label != nil {
			di.label.find(slots, di.wanted, lo)
		} else {
			clear(slots)
		}
		if di.category != nil {
			categories = room.categories[:size]
			di.category.integers(categories, lo)
		}
		f(lo, slots, categories)
	}
}

// partOf returns the events lo..hi-1 of one of several parts of n.
func partOf(n, part, parts int) (lo, hi int) { return n * part / parts, n * (part + 1) / parts }
