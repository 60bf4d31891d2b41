//go:build goexperiment.simd && go1.26 && !go1.27

package lanes

import "simd/archsimd"

func wordsAVX2(dst []uint64, scores []float32, bins []uint32, mask, base uint32, binShift uint, first int) {
	whole := len(dst) &^ 7
	wordsWhole(dst[:whole], scores, bins, mask, base, uint32(binShift), uint32(first))
	wordsGo(dst[whole:], scores[whole:], bins[whole:], mask, base, binShift, first+whole)
}

// ascending are the places of eight events.
var ascending = [8]uint32{0, 1, 2, 3, 4, 5, 6, 7}

func wordsWhole(dst []uint64, scores []float32, bins []uint32, mask, base, binShift, first uint32) {
	index := archsimd.LoadUint32x8(&ascending).Add(archsimd.BroadcastUint32x8(first))
	eight, sign, from := archsimd.BroadcastUint32x8(8), archsimd.BroadcastUint32x8(1<<31), archsimd.BroadcastUint32x8(base)
	var zero archsimd.Float32x8
	masks, shift := archsimd.BroadcastUint32x8(mask), archsimd.BroadcastUint32x8(binShift)
	for len(dst) >= 8 && len(scores) >= 8 && len(bins) >= 8 {
		b := archsimd.LoadFloat32x8Slice(scores).Add(zero).AsInt32x8()
		upper := b.Xor(b.ShiftAllRight(31)).AsUint32x8().Xor(sign.AndNot(b.ShiftAllRight(31).AsUint32x8())).Sub(from)
		lower := archsimd.LoadUint32x8Slice(bins).And(masks).ShiftLeft(shift).Or(index)
		a, c := lower.InterleaveLoGrouped(upper).AsUint64x4(), lower.InterleaveHiGrouped(upper).AsUint64x4()
		a.Select128FromPair(0, 2, c).StoreSlice(dst)
		a.Select128FromPair(1, 3, c).StoreSlice(dst[4:])
		index = index.Add(eight)
		dst, scores, bins = dst[8:], scores[8:], bins[8:]
	}
	archsimd.ClearAVXUpperBits()
}
