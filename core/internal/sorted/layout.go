// Package sorted sorts events by score, or by another number, and divides them into chunks that goroutines share.
package sorted

import (
	"math"
	"math/bits"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// Layout is the layout of an event in one word, its record: from the highest bit down, the key of the number by which it is
// sorted, its bin and its index. Sorted records are events in order of that number.
//
// A key is the distance to the key of the lowest number, without low bits for which there is no room. The keys of float32
// numbers fill the upper half of the record, if the lower half has room for the rest.
//
// All shifts are below 64. With & 63 the compiler leaves out the code for larger ones.
type Layout struct {
	IndexMask uint64
	half      bool   // the keys are those of float32 numbers, lanes.HalfKey, in the upper half
	halfBase  uint32 // is subtracted from a HalfKey
	base      uint64 // is subtracted from another key: the lowest
	cut       uint   // low bits of the keys, for which there is no room
	keyShift  uint
	binShift  uint
	binMask   uint64
}

// newLayout returns the layout for n events in a number of bins, with numbers from lowest to highest.
func newLayout[T lanes.Float](lowest, highest float64, n, bins int) Layout {
	var la Layout
	la.binShift = uint(bits.Len64(uint64(n - 1)))
	la.keyShift = la.binShift + uint(bits.Len64(uint64(bins-1)))
	la.IndexMask = 1<<la.binShift - 1
	la.binMask = 1<<(la.keyShift-la.binShift) - 1
	if lanes.IsFloat32[T]() && la.keyShift <= 32 && la.binShift < 32 {
		la.half, la.keyShift, la.halfBase = true, 32, lanes.HalfKey(float32(lowest))
		return la
	}
	la.base = keyOf(lowest)
	if keyBits, room := uint(bits.Len64(keyOf(highest)-la.base)), 64-la.keyShift; keyBits > room {
		la.cut = keyBits - room
	}
	return la
}

// pack sets dst to the records of the events from lo on. The bins are in the bits of the mask.
func pack[T lanes.Float](dst []uint64, la Layout, numbers []T, bins []uint32, mask uint32, lo int) {
	if la.half {
		lanes.Words(dst, any(numbers).([]float32), bins, mask, la.halfBase, la.binShift, lo)
		return
	}
	for i, x := range numbers {
		dst[i] = la.record(float64(x), int(bins[i]&mask), lo+i)
	}
}

// record returns the record of an event, for keys that do not fill the upper half.
func (la *Layout) record(number float64, bin, index int) uint64 {
	key := (keyOf(number) - la.base) >> (la.cut & 63)
	return key<<(la.keyShift&63) | uint64(bin)<<(la.binShift&63) | uint64(index)
}

// Index returns the index of a record.
func (la *Layout) Index(record uint64) int { return int(record & la.IndexMask) }

// Bin returns the bin of a record.
func (la *Layout) Bin(record uint64) int { return int(record >> (la.binShift & 63) & la.binMask) }

// keyOf maps numbers onto integers in the same order. It maps -0.0 and 0.0 onto the same integer.
func keyOf(s float64) uint64 {
	const signBit = 1 << 63
	b := math.Float64bits(s)
	magnitude := b &^ signBit
	negative := uint64(int64(b) >> 63)
	return (magnitude ^ negative) - negative + signBit
}

// Values returns the places of values in increasing order. NaNs are left out. It uses the memory of the scratch.
func Values[T lanes.Float](values []T, sc *par.Scratch) []uint32 {
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if x := float64(v); x == x {
			lowest, highest = min(lowest, x), max(highest, x)
		}
	}
	order := par.Unset[uint32](&sc.Arena, len(values))[:0]
	if lowest > highest {
		return order
	}
	defer sc.Arena.Release(sc.Arena.Mark())
	la, words := newLayout[T](lowest, highest, len(values), 1), par.Unset[uint64](&sc.Arena, len(values))
	pack(words, la, values, par.Unset[uint32](&sc.Arena, len(values)), 0, 0)
	kept := words[:0]
	for i, v := range values {
		if v == v {
			kept = append(kept, words[i])
		}
	}
	sortCells(kept, []uint32{0, uint32(len(kept))}, &la, values)
	for _, record := range kept {
		order = append(order, uint32(la.Index(record)))
	}
	return order
}

// ForTies calls f for each run lo..hi-1 of two or more equal values. The values are in order.
func ForTies(values []float64, f func(lo, hi int)) {
	for lo := lanes.FirstTie(values); lo < len(values)-1; {
		hi := lo + 2
		for hi < len(values) && values[hi] == values[lo] {
			hi++
		}
		f(lo, hi)
		if lo = hi; lo < len(values) {
			lo += lanes.FirstTie(values[lo:])
		}
	}
}
