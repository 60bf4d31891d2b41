//go:build goexperiment.simd && go1.26 && !go1.27

package lanes

import "simd/archsimd"

func decodeAVX2(words []uint64, base uint32, binShift uint, scores []float64, bins []uint32) {
	whole := len(words) &^ 3
	scores, bins = scores[:len(words)], bins[:len(words)]
	if whole > 0 {
		decodeWhole(words[:whole], base, uint32(binShift), scores, bins)
	}
	decodeGo(words[whole:], base, binShift, scores[whole:], bins[whole:])
}

// halves is a permutation that brings the lower halves of four words before the upper ones.
var halves = [8]uint32{0, 2, 4, 6, 1, 3, 5, 7}

func decodeWhole(words []uint64, base, binShift uint32, scores []float64, bins []uint32) {
	order, sign, from := archsimd.LoadUint32x8(&halves), archsimd.BroadcastUint32x4(1<<31), archsimd.BroadcastUint32x4(base)
	shift := archsimd.BroadcastUint32x4(binShift)
	for len(words) >= 4 && len(scores) >= 4 && len(bins) >= 4 {
		r := archsimd.LoadUint64x4Slice(words).AsUint32x8().Permute(order)
		r.GetLo().ShiftRight(shift).StoreSlice(bins)
		key := r.GetHi().Add(from)
		flip := key.Not().AsInt32x4().ShiftAllRight(31).AsUint32x4().Or(sign)
		key.Xor(flip).AsFloat32x4().ConvertToFloat64().StoreSlice(scores)
		words, scores, bins = words[4:], scores[4:], bins[4:]
	}
	archsimd.ClearAVXUpperBits()
}
