package events

import (
	"math"
	"slices"
	"unsafe"
)

// Label is a type that labels may have.
type Label interface {
	int8 | uint8 | bool | int32 | int64 | float32 | float64
}

// LabelSlice is the labels of events, a slice of any Label, which LabelsOf makes.
type LabelSlice interface {
	Length() int
	// whole reports whether they are of a type that has integers only.
	whole() bool
	// integers sets dst to the labels of the events from lo on, if they are whole.
	integers(dst []int64, lo int)
	// count returns how often the one wanted label occurs among those of the events lo to hi-1.
	count(wanted *slots, lo, hi int) int
	// choose returns the places from lo to hi-1 of the one wanted label, which some event has.
	choose(places *[Block]uint32, wanted *slots, lo, hi int) []uint32
	// find sets found to which of the wanted labels each event from lo on has, or noSlot.
	find(found []uint32, wanted *slots, lo int)
}

// LabelsOf returns the labels of events as they are: nothing is copied. A label is one of
// the labels that are asked for if it is equal to it as a number, false being 0 and true 1. With nil
// there are no labels, and every event is selected.
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

// number is a type that labels have in memory.
type number interface {
	int8 | uint8 | int32 | int64 | float32 | float64
}

// labelsOf are labels of one type.
type labelsOf[L number] []L

func (all labelsOf[L]) Length() int { return len(all) }

func (all labelsOf[L]) whole() bool {
	switch any(all).(type) {
	case labelsOf[float32], labelsOf[float64]:
		return false
	}
	return true
}

func (all labelsOf[L]) integers(dst []int64, lo int) {
	for i, label := range all[lo:][:len(dst)] {
		dst[i] = int64(label)
	}
}

func (all labelsOf[L]) count(wanted *slots, lo, hi int) (count int) {
	only := L(wanted.lowest)
	if int64(only) != wanted.lowest { // no number of this type is the wanted label
		return 0
	}
	for _, label := range all[lo:hi] {
		if label == only {
			count++
		}
	}
	return count
}

// choose writes every place and goes on only after those that count, without a jump.
func (all labelsOf[L]) choose(places *[Block]uint32, wanted *slots, lo, hi int) []uint32 {
	next, only := 0, L(wanted.lowest)
	for i, label := range all[lo:hi] {
		places[next&(Block-1)] = uint32(lo + i)
		var one int
		if label == only {
			one = 1
		}
		next += one
	}
	return places[:next]
}

func (all labelsOf[L]) find(found []uint32, wanted *slots, lo int) {
	for i, label := range all[lo:][:len(found)] {
		found[i] = slotOf(wanted, label)
	}
}

// slotOf returns which of the wanted labels a label is, or noSlot.
func slotOf[L number](wanted *slots, label L) uint32 {
	whole := int64(label)
	if L(whole) != label { // a fraction, NaN, or too large
		return noSlot
	}
	return wanted.of(whole)
}

// noSlot stands for a label that is not wanted.
const noSlot = math.MaxUint32

// slots tells which of the wanted labels a label is.
type slots struct {
	lowest int64
	table  []uint32         // by label - lowest
	others map[int64]uint32 // instead of the table, where labels lie far apart
}

func newSlots(labels []int32) *slots {
	lowest, highest := int64(slices.Min(labels)), int64(slices.Max(labels))
	s := &slots{lowest: lowest}
	if span := highest - lowest; span < 1<<16 {
		s.table = slices.Repeat([]uint32{noSlot}, int(span)+1)
		for slot, label := range labels {
			s.table[int64(label)-lowest] = uint32(slot)
		}
		return s
	}
	s.others = make(map[int64]uint32, len(labels))
	for slot, label := range labels {
		s.others[int64(label)] = uint32(slot)
	}
	return s
}

func (s *slots) of(label int64) uint32 {
	if s.table == nil {
		if slot, ok := s.others[label]; ok {
			return slot
		}
		return noSlot
	}
	if d := uint64(label - s.lowest); d < uint64(len(s.table)) {
		return s.table[d]
	}
	return noSlot
}
