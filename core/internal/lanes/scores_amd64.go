//go:build goexperiment.simd && go1.26 && !go1.27

package lanes

import (
	"math/bits"
	"simd/archsimd"
)

func firstTieAVX2(values []float64) int {
	i := 0
	for ; i+5 <= len(values); i += 4 {
		next := archsimd.LoadFloat64x4Slice(values[i+1:])
		if tied := archsimd.LoadFloat64x4Slice(values[i:]).Equal(next).ToBits(); tied != 0 {
			archsimd.ClearAVXUpperBits()
			return i + bits.TrailingZeros8(tied)
		}
	}
	archsimd.ClearAVXUpperBits()
	return i + firstTieGo(values[i:])
}

func integrateAVX2(changes, scores []float64, end float64) (sums [4]float64) {
	var sum four
	ends := all(end)
	for len(changes) >= 4 && len(scores) >= 4 {
		sum = sum.Add(archsimd.LoadFloat64x4Slice(changes).Mul(ends.Sub(archsimd.LoadFloat64x4Slice(scores))))
		changes, scores = changes[4:], scores[4:]
	}
	sum.Store(&sums)
	archsimd.ClearAVXUpperBits()
	return sums
}
