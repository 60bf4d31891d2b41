// Package lanes has the loops that most of the time of a call goes to, over blocks of
// events. Each stands here twice: as Go that runs everywhere, and with vector
// instructions, for processors that have AVX2, in a file of the same name that ends in
// _amd64. Both take the same steps in the same order, four sums side by side where there
// is a sum, and so return the same bits. A product that is added to is rounded first, by
// float64(), since Go may fuse the two on arm64.
//
// Vector instructions need a compiler with GOEXPERIMENT=simd, which Go has from 1.26 on.
package lanes

// Vectors reports whether the processor and the compiler have vector instructions, and
// uses them from now on, or not.
func Vectors(on bool) bool { return useVectors(on) }
