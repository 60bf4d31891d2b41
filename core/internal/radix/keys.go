// Package radix sorts events by their scores or other numbers.
package radix

import "math"

// Key maps numbers onto integers in the same order. It maps -0.0 and 0.0 onto the same integer.
func Key(s float64) uint64 {
	b := math.Float64bits(s)
	magnitude := b &^ signBit
	negative := uint64(int64(b) >> 63)
	return (magnitude ^ negative) - negative + signBit
}

const signBit = 1 << 63
