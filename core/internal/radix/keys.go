// Package radix sorts events by their scores or other numbers.
package radix

import (
	"math"

	"github.com/libmode/libmode/core/internal/lanes"
)

// Float is the type of the numbers.
type Float = lanes.Float

// Key maps numbers onto integers in the same order. It maps -0.0 and 0.0 onto the same integer. Low bits that are 0 in a
// number are 0 in its key, so that a number that was once a float32 has a short key.
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
