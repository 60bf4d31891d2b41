package events

import (
	"math"
	"unsafe"
)

// Label is a type that labels may have.
type Label interface {
	int8 | uint8 | bool | int32 | int64 | float32 | float64
}

// LabelSlice holds the labels of events, a slice of any Label. LabelsOf makes it.
type LabelSlice interface {
	Length() int
	// isWhole reports whether the type of the labels has only integers.
	isWhole() bool
	// integer returns label i, which is an integer.
	integer(i int) int64
	// find sets dst to the places of the labels from lo on among the wanted ones, or to notWanted.
	find(dst []uint32, lo int, wanted []int32)
}

// LabelsOf returns the labels of events without copying them. A label matches a label of the configuration if the two
// are equal as numbers, where false is 0 and true is 1. If labels is nil, every event is selected.
func LabelsOf[L Label](labels []L) LabelSlice {
	if labels == nil {
		return nil
	}
	switch s := any(labels).(type) {
	case []int8:
		return labelsOf[int8](s)
	case []uint8:
		return labelsOf[uint8](s)
	case []bool:
		return labelsOf[uint8](unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(s))), len(s)))
	case []int32:
		return labelsOf[int32](s)
	case []int64:
		return labelsOf[int64](s)
	case []float32:
		return labelsOf[float32](s)
	case []float64:
		return labelsOf[float64](s)
	}
	panic("events: labels of an unknown type")
}

// labelsOf holds labels as a type of numbers.
type labelsOf[L int8 | uint8 | int32 | int64 | float32 | float64] []L

func (all labelsOf[L]) Length() int { return len(all) }

func (all labelsOf[L]) isWhole() bool {
	half := 0.5
	return L(half) == 0
}

func (all labelsOf[L]) integer(i int) int64 { return int64(all[i]) }

func (all labelsOf[L]) find(dst []uint32, lo int, wanted []int32) {
	// A faster loop for one label, if the type of the labels can hold it.
	if want := L(wanted[0]); len(wanted) == 1 && int64(want) == int64(wanted[0]) {
		for i, label := range all[lo:][:len(dst)] {
			place := uint32(notWanted)
			if label == want {
				place = 0
			}
			dst[i] = place
		}
		return
	}
	for i, label := range all[lo:][:len(dst)] {
		place, whole := uint32(notWanted), int64(label)
		for k, want := range wanted {
			if int64(want) == whole {
				place = uint32(k)
			}
		}
		if L(whole) != label { // a fraction, NaN or too large
			place = notWanted
		}
		dst[i] = place
	}
}

// Selected returns the places of the events that have one of the labels. If others are wanted, it returns the places of all other events.
func (ev *Events[T]) Selected(labels []int32, others bool) []uint32 {
	index, numbers := make([]uint32, len(ev.Score)), make([]uint32, len(ev.Score))
	if ev.Label != nil {
		ev.Label.find(numbers, 0, labels)
	}
	flip := uint32(0)
	if others {
		flip = math.MaxUint32
	}
	return index[:choose(index, numbers, 0, flip)]
}

// ByCategory divides chosen events by category; 0 categories are one.
func (ev *Events[T]) ByCategory(chosen []uint32, categories int) [][]uint32 {
	if categories == 0 {
		return [][]uint32{chosen}
	}
	divided := make([][]uint32, categories)
	for _, i := range chosen {
		if category := ev.Category.integer(int(i)); category >= 0 && category < int64(categories) {
			divided[category] = append(divided[category], i)
		}
	}
	return divided
}

// choose sets index to the places of the events from lo on whose number is not notWanted, and returns the number of these events. It flips
// the bits of flip in each number first. It has no branch: a processor could not predict one for labels in random order.
func choose(index, numbers []uint32, lo int, flip uint32) (count int) {
	for i, number := range numbers {
		index[count] = uint32(lo + i)
		count += int(1 - (number^flip)>>31)
	}
	return count
}
