// Package radix sorts events by a number of theirs: a score, or a mass.
package radix

import (
	"math"
	"unsafe"
)

// Float is what can be sorted by.
type Float interface{ float32 | float64 }

// Key maps numbers onto integers in the same order; -0.0 and 0.0 share one.
// Low bits that are 0 in a number are 0 in its key, so that one that was
// once float32 has a short key.
func Key(s float64) uint64 {
	b := math.Float64bits(s)
	magnitude := b &^ signBit
	negative := uint64(int64(b) >> 63)
	return (magnitude ^ negative) - negative + signBit
}

// Value is the inverse of Key.
func Value(key uint64) float64 {
	signed := key - signBit
	negative := uint64(int64(signed) >> 63)
	return math.Float64frombits((signed ^ negative) - negative | negative&signBit)
}

const signBit = 1 << 63

// HalfKey is Key for float32; HalfValue its inverse.
func HalfKey(s float32) uint32 {
	b := math.Float32bits(s + 0) // -0.0 + 0 = 0.0
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}

func HalfValue(key uint32) float32 {
	return math.Float32frombits(key ^ (uint32(int32(^key)>>31) | 1<<31))
}

// IsFloat32 is known when the code is compiled.
func IsFloat32[T Float]() bool {
	var x T
	return unsafe.Sizeof(x) == 4
}
