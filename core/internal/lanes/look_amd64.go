//go:build goexperiment.simd && go1.26 && !go1.27

package lanes

import "simd/archsimd"

func look32AVX2(scores, masses []float32, ofScore, ofMass Cells[float32], pairs []uint32) Seen[float32] {
	return lookFirst(len(scores)&^7, lookWhole32, scores, masses, ofScore, ofMass, pairs)
}

func look64AVX2(scores, masses []float64, ofScore, ofMass Cells[float64], pairs []uint32) Seen[float64] {
	return lookFirst(len(scores)&^3, lookWhole64, scores, masses, ofScore, ofMass, pairs)
}

// lookFirst looks at the first events in one way, and at the others as lookGo does.
func lookFirst[T Float](whole int, first look[T], scores, masses []T, ofScore, ofMass Cells[T], pairs []uint32) Seen[T] {
	if whole == 0 {
		return lookGo(scores, masses, ofScore, ofMass, pairs)
	}
	seen := first(scores[:whole], masses, ofScore, ofMass, pairs)
	if whole < len(scores) {
		rest := lookGo(scores[whole:], masses[whole:], ofScore, ofMass, pairs[whole:])
		seen.merge(&rest)
	}
	return seen
}

func lookWhole32(scores, masses []float32, ofScore, ofMass Cells[float32], pairs []uint32) Seen[float32] {
	sLo, sScale, sLast := archsimd.BroadcastFloat32x8(ofScore.Lo), archsimd.BroadcastFloat32x8(ofScore.Scale), archsimd.BroadcastFloat32x8(ofScore.Last)
	mLo, mScale, mLast := archsimd.BroadcastFloat32x8(ofMass.Lo), archsimd.BroadcastFloat32x8(ofMass.Scale), archsimd.BroadcastFloat32x8(ofMass.Last)
	var zero archsimd.Float32x8
	sMin, mMin := archsimd.LoadFloat32x8Slice(scores), archsimd.LoadFloat32x8Slice(masses)
	sMax, mMax, number := sMin, mMin, sMin.Equal(sMin).ToInt32x8()
	for len(scores) >= 8 && len(masses) >= 8 && len(pairs) >= 8 {
		s, m := archsimd.LoadFloat32x8Slice(scores), archsimd.LoadFloat32x8Slice(masses)
		sMin, sMax, mMin, mMax = sMin.Min(s), sMax.Max(s), mMin.Min(m), mMax.Max(m)
		number = number.And(s.Equal(s).ToInt32x8()).And(m.Equal(m).ToInt32x8())
		c := s.Sub(sLo).Mul(sScale).Min(sLast).Max(zero).ConvertToInt32()
		d := m.Sub(mLo).Mul(mScale).Min(mLast).Max(zero).ConvertToInt32()
		c.ShiftAllLeft(BinBits).Or(d).AsUint32x8().StoreSlice(pairs)
		scores, masses, pairs = scores[8:], masses[8:], pairs[8:]
	}
	var ends [4][8]float32
	sMin.Store(&ends[0])
	sMax.Store(&ends[1])
	mMin.Store(&ends[2])
	mMax.Store(&ends[3])
	var numbers [8]int32
	number.Store(&numbers)
	archsimd.ClearAVXUpperBits()
	seen := Seen[float32]{ends[0][0], ends[1][0], ends[2][0], ends[3][0], true}
	for i, number := range numbers {
		seen.merge(&Seen[float32]{ends[0][i], ends[1][i], ends[2][i], ends[3][i], number != 0})
	}
	return seen
}

func (seen *Seen[T]) merge(other *Seen[T]) {
	seen.ScoreMin, seen.ScoreMax = min(seen.ScoreMin, other.ScoreMin), max(seen.ScoreMax, other.ScoreMax)
	seen.MassMin, seen.MassMax = min(seen.MassMin, other.MassMin), max(seen.MassMax, other.MassMax)
	seen.Number = seen.Number && other.Number
}

func lookWhole64(scores, masses []float64, ofScore, ofMass Cells[float64], pairs []uint32) Seen[float64] {
	sLo, sScale, sLast := archsimd.BroadcastFloat64x4(ofScore.Lo), archsimd.BroadcastFloat64x4(ofScore.Scale), archsimd.BroadcastFloat64x4(ofScore.Last)
	mLo, mScale, mLast := archsimd.BroadcastFloat64x4(ofMass.Lo), archsimd.BroadcastFloat64x4(ofMass.Scale), archsimd.BroadcastFloat64x4(ofMass.Last)
	var zero four
	sMin, mMin := archsimd.LoadFloat64x4Slice(scores), archsimd.LoadFloat64x4Slice(masses)
	sMax, mMax, number := sMin, mMin, sMin.Equal(sMin).ToInt64x4()
	for len(scores) >= 4 && len(masses) >= 4 && len(pairs) >= 4 {
		s, m := archsimd.LoadFloat64x4Slice(scores), archsimd.LoadFloat64x4Slice(masses)
		sMin, sMax, mMin, mMax = sMin.Min(s), sMax.Max(s), mMin.Min(m), mMax.Max(m)
		number = number.And(s.Equal(s).ToInt64x4()).And(m.Equal(m).ToInt64x4())
		c := s.Sub(sLo).Mul(sScale).Min(sLast).Max(zero).ConvertToInt32()
		d := m.Sub(mLo).Mul(mScale).Min(mLast).Max(zero).ConvertToInt32()
		c.ShiftAllLeft(BinBits).Or(d).AsUint32x4().StoreSlice(pairs)
		scores, masses, pairs = scores[4:], masses[4:], pairs[4:]
	}
	var ends [4][4]float64
	sMin.Store(&ends[0])
	sMax.Store(&ends[1])
	mMin.Store(&ends[2])
	mMax.Store(&ends[3])
	var numbers [4]int64
	number.Store(&numbers)
	archsimd.ClearAVXUpperBits()
	seen := Seen[float64]{ends[0][0], ends[1][0], ends[2][0], ends[3][0], true}
	for i, number := range numbers {
		seen.merge(&Seen[float64]{ends[0][i], ends[1][i], ends[2][i], ends[3][i], number != 0})
	}
	return seen
}
