//go:build goexperiment.simd && go1.26 && !go1.27

package lanes

import "simd/archsimd"

func init() { useVectors(true) }

// useVectors sets the variables by which the loops are called.
func useVectors(on bool) bool {
	if on && archsimd.X86.AVX2() {
		cross, crossWeighted, finish, decode, firstTie = crossAVX2, crossWeightedAVX2, finishAVX2, decodeAVX2, firstTieAVX2
		crossWide, crossWideWeighted = crossWideAVX2, crossWideWeightedAVX2
		sortNear, extremes, words = sortNearAVX2, extremesAVX2, wordsAVX2
		look32, look64 = look32AVX2, look64AVX2
		follow, squash, change, unbias = followAVX2, squashAVX2, changeAVX2, unbiasAVX2
	} else {
		cross, crossWeighted, finish, decode, firstTie = crossGo, crossWeightedGo, finishGo, decodeGo, firstTieGo
		crossWide, crossWideWeighted = crossWideGo, crossWideWeightedGo
		sortNear, extremes, words = sortNearGo, extremesGo, wordsGo
		look32, look64 = lookGo[float32], lookGo[float64]
		follow, squash, change, unbias = followGo, squashGo, changeGo, unbiasGo
	}
	return archsimd.X86.AVX2()
}
