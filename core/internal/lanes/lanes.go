// Package lanes has the loops over events that take most of the time of a call. Some exist twice: as plain Go, and as assembly for
// processors with AVX2. Both take the same steps in the same order, and so return the same bits. A product in a sum is rounded
// first, by float64(), since Go may fuse the two on arm64.
//
// tools/lanes writes the assembly, avx2_amd64.s. A build with the tag purego has none.
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

// FirstTie returns the place of the first value that equals the next one, or of the last value. No value is -0, so that equal values have
// equal bits, which take less time to compare.
func FirstTie(values []float64) int {
	i := 0
	for ; i+4 < len(values); i += 4 { // four at a time, which takes half the time
		v := (*[5]uint64)(unsafe.Pointer(&values[i]))
		if v[0] == v[1] || v[1] == v[2] || v[2] == v[3] || v[3] == v[4] {
			break
		}
	}
	for ; i < len(values)-1; i++ {
		if values[i] == values[i+1] {
			return i
		}
	}
	return len(values) - 1
}

// Integrate returns the sum of changes times (end - score), as four sums side by side.
func Integrate(changes, scores []float64, end float64) float64 {
	var s0, s1, s2, s3 float64
	for len(changes) >= 4 && len(scores) >= 4 {
		s0 += float64(changes[0] * (end - scores[0]))
		s1 += float64(changes[1] * (end - scores[1]))
		s2 += float64(changes[2] * (end - scores[2]))
		s3 += float64(changes[3] * (end - scores[3]))
		changes, scores = changes[4:], scores[4:]
	}
	sums := [4]float64{s0, s1, s2, s3}
	for i, change := range changes {
		sums[i] += float64(change * (end - scores[i]))
	}
	return (sums[0] + sums[1]) + (sums[2] + sums[3])
}
