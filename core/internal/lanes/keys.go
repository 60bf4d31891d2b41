package lanes

import (
	"math"
	"unsafe"
)

// Float is the type of scores, masses and weights.
type Float interface{ float32 | float64 }

// IsFloat32 reports whether T is float32, which the compiler knows.
func IsFloat32[T Float]() bool {
	var x T
	return unsafe.Sizeof(x) == 4
}

// HalfKey maps float32 numbers onto integers in the same order. -0.0 and 0.0 share one. HalfValue is the inverse.
func HalfKey(s float32) uint32 {
	b := math.Float32bits(s + 0) // -0.0 + 0 = 0.0
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}

func HalfValue(key uint32) float32 {
	return math.Float32frombits(key ^ (uint32(int32(^key)>>31) | 1<<31))
}
