package radix

import (
	"math/bits"

	"github.com/libmode/libmode/core/internal/lanes"
)

// Layout says how a record packs an event into one word: from the highest bit
// down, the key of the number that it is sorted by, its bin and its index. Sorted
// records are events in order of that number, with all that a loop over them needs
// beside it.
//
// Keys are distances to the lowest number's, without the low bits that are 0 in all of
// them. Those of float32 numbers fill the upper half of the record where the lower one has
// room for the rest.
//
// Words are from 2^52 to below 2^63 - 2^52, as lanes.SortNear wants them.
//
// All shifts are below 64; where the code says so, with & 63, the compiler
// leaves out what Go needs for larger ones.
type Layout struct {
	Half      bool // keys are of HalfKeys
	BinShift  uint
	HalfBase  uint32 // what a HalfKey is the distance to
	base      uint64 // what another key is the distance to, the lowest
	zeros     uint   // low bits that are 0 in every key's distance to base
	cut       uint   // further low bits for which there is no room
	keyShift  uint
	IndexMask uint64 // leaves a record's index of it
	binMask   uint64
}

// NewLayout returns the layout of events with indices below n, in bins bins, and with
// numbers from lowest to highest in which no bit is set that is not in set.
func NewLayout[T Float](lowest, highest float64, set uint64, n, bins int) Layout {
	var la Layout
	la.BinShift = bitsFor(n)
	la.keyShift = la.BinShift + bitsFor(bins)
	la.IndexMask = 1<<la.BinShift - 1
	la.binMask = 1<<(la.keyShift-la.BinShift) - 1
	if lanes.IsFloat32[T]() && la.keyShift <= 32 && la.BinShift < 32 {
		low, high := lanes.HalfKey(float32(lowest)), lanes.HalfKey(float32(highest))
		if high-low < 1<<31-3*lowestHalf {
			la.Half, la.keyShift, la.HalfBase = true, 32, low-lowestHalf
			return la
		}
	}

	la.base = Key(lowest)
	if set&^signBit != 0 {
		la.zeros = uint(bits.TrailingZeros64(set &^ signBit))
	}
	keyBits := uint(bits.Len64((Key(highest) - la.base) >> la.zeros))
	if room := markBit - la.keyShift; keyBits > room {
		la.cut = keyBits - room
	}
	return la
}

const (
	lowestHalf = 1 << 20 // the lowest upper half
	markBit    = 61      // is set in all other words, above their keys
)

// bitsFor returns the number of bits that numbers 0..n-1 need.
func bitsFor(n int) uint { return uint(bits.Len64(uint64(n - 1))) }

// Record returns the record of an event, for a layout that is not Half.
func (la *Layout) Record(number float64, bin, index int) uint64 {
	key := (Key(number) - la.base) >> ((la.zeros + la.cut) & 63)
	return 1<<markBit | key<<(la.keyShift&63) | uint64(bin)<<(la.BinShift&63) | uint64(index)
}

// Records sets dst to the records of events, the first of which has index lo, for a layout that is not Half. A mask leaves
// their bins of the numbers.
func (la *Layout) Records(dst []uint64, scores []float64, numbers []uint32, mask uint32, lo int) {
	copied := *la
	for i, s := range scores {
		dst[i] = copied.Record(s, int(numbers[i]&mask), lo+i)
	}
}

// Pack returns the record of an event that has no bin, for any layout.
func Pack[T Float](la *Layout, number T, index int) uint64 {
	if la.Half {
		return uint64(lanes.HalfKey(float32(number))-la.HalfBase)<<32 | uint64(index)
	}
	return la.Record(float64(number), 0, index)
}

// Index returns the index that a record holds.
func (la *Layout) Index(record uint64) int { return int(record & la.IndexMask) }

// Bin returns the bin that a record holds.
func (la *Layout) Bin(record uint64) int { return int(record >> (la.BinShift & 63) & la.binMask) }

// Key returns the key that a record holds. Equal numbers have equal keys.
func (la *Layout) Key(record uint64) uint64 { return record >> (la.keyShift & 63) }

// Exact reports whether records hold their numbers whole, so that those of equal keys
// are equal.
func (la *Layout) Exact() bool { return la.cut == 0 }

// Number returns the number of a record, if the layout is exact.
func (la *Layout) Number(record uint64) float64 {
	if la.Half {
		return float64(lanes.HalfValue(uint32(record>>32) + la.HalfBase))
	}
	return Value(record&^(1<<markBit)>>(la.keyShift&63)<<(la.zeros&63) + la.base)
}
