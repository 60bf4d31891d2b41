// Package radix sorts events by their scores or other numbers.
package radix

import (
	"math"
	"math/bits"

	"github.com/libmode/libmode/core/internal/lanes"
)

// Layout is the layout of an event in one word, its record: from the highest bit down, the key of the number by which it is
// sorted, its bin and its index. Sorted records are events in order of that number.
//
// A key is the distance to the key of the lowest number, without low bits for which there is no room. The keys of float32
// numbers fill the upper half of the record, if the lower half has room for the rest.
//
// All shifts are below 64. With & 63 the compiler leaves out the code for larger ones.
type Layout struct {
	Half      bool // the keys are those of float32 numbers, lanes.HalfKey, in the upper half
	BinShift  uint
	HalfBase  uint32 // is subtracted from a HalfKey
	base      uint64 // is subtracted from another key: the lowest
	cut       uint   // low bits of the keys, for which there is no room
	keyShift  uint
	IndexMask uint64
	binMask   uint64
}

// NewLayout returns the layout for n events in so many bins, with numbers from lowest to highest.
func NewLayout[T lanes.Float](lowest, highest float64, n, binCount int) Layout {
	var la Layout
	la.BinShift = uint(bits.Len64(uint64(n - 1)))
	la.keyShift = la.BinShift + uint(bits.Len64(uint64(binCount-1)))
	la.IndexMask = 1<<la.BinShift - 1
	la.binMask = 1<<(la.keyShift-la.BinShift) - 1
	if lanes.IsFloat32[T]() && la.keyShift <= 32 && la.BinShift < 32 {
		la.Half, la.keyShift, la.HalfBase = true, 32, lanes.HalfKey(float32(lowest))
		return la
	}
	la.base = Key(lowest)
	if keyBits, room := uint(bits.Len64(Key(highest)-la.base)), 64-la.keyShift; keyBits > room {
		la.cut = keyBits - room
	}
	return la
}

// record returns the record of an event, for a layout that is not Half.
func (la *Layout) record(number float64, bin, index int) uint64 {
	key := (Key(number) - la.base) >> (la.cut & 63)
	return key<<(la.keyShift&63) | uint64(bin)<<(la.BinShift&63) | uint64(index)
}

// Records sets dst to the records of the events from lo on. The bins are in the bits of the mask.
func Records[T lanes.Float](dst []uint64, la *Layout, numbers []T, bins []uint32, mask uint32, lo int) {
	if la.Half {
		lanes.Words(dst, any(numbers).([]float32), bins, mask, la.HalfBase, la.BinShift, lo)
		return
	}
	copied := *la // in registers
	for i, x := range numbers {
		dst[i] = copied.record(float64(x), int(bins[i]&mask), lo+i)
	}
}

// Index returns the index of a record.
func (la *Layout) Index(record uint64) int { return int(record & la.IndexMask) }

// Bin returns the bin of a record.
func (la *Layout) Bin(record uint64) int { return int(record >> (la.BinShift & 63) & la.binMask) }

// Key returns the key of a record. Equal numbers have equal keys.
func (la *Layout) Key(record uint64) uint64 { return record >> (la.keyShift & 63) }

// Number returns the number of a record, if the layout is Half.
func (la *Layout) Number(record uint64) float64 {
	return float64(lanes.HalfValue(uint32(record>>32) + la.HalfBase))
}

// Key maps numbers onto integers in the same order. It maps -0.0 and 0.0 onto the same integer.
func Key(s float64) uint64 {
	const signBit = 1 << 63
	b := math.Float64bits(s)
	magnitude := b &^ signBit
	negative := uint64(int64(b) >> 63)
	return (magnitude ^ negative) - negative + signBit
}
