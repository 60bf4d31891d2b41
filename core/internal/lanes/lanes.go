// Package lanes has the loops over events that most of the time of a call goes to. Each stands here twice: as Go that runs
// everywhere, and with vector instructions for processors that have AVX2, in a file of the same name that ends in _amd64. Both
// take the same steps in the same order, and so return the same bits. A product that is added to is rounded first, by float64(),
// since Go may fuse the two on arm64.
//
// Vector instructions need a compiler with GOEXPERIMENT=simd, which Go has from 1.26 on.
package lanes

// Vectors says whether the loops use vector instructions from now on. It reports whether the processor and the compiler have
// them.
func Vectors(on bool) bool { return useVectors(on) }
