//go:build goexperiment.simd && go1.26 && !go1.27

package lanes

import "simd/archsimd"

func init() { useVectors(true) }

// useVectors chooses the loops, and reports whether there are vector instructions.
func useVectors(on bool) bool {
	if on && archsimd.X86.AVX2() {
		cross, decode, sortNear, words = crossAVX2, decodeAVX2, sortNearAVX2, wordsAVX2
		follow, bound, sum, compare = followAVX2, boundAVX2, sumAVX2, compareAVX2
		firstTie, integrate, look32, look64 = firstTieAVX2, integrateAVX2, look32AVX2, look64AVX2
	} else {
		cross, decode, sortNear, words = crossGo, decodeGo, sortNearGo, wordsGo
		follow, bound, sum, compare = followGo, boundGo, sumGo, compareGo
		firstTie, integrate, look32, look64 = firstTieGo, integrateGo, lookGo[float32], lookGo[float64]
	}
	return archsimd.X86.AVX2()
}
