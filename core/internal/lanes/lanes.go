// Package lanes has the loops over events that take most of the time of a call. Each loop exists twice: as plain Go, and with
// vector instructions for processors with AVX2, in a file of the same name that ends in _amd64. Both take the same steps in the
// same order, and so return the same bits. A product in a sum is rounded first, by float64(), since Go may fuse the two on arm64.
//
// Vector instructions need a compiler with GOEXPERIMENT=simd, which Go has from 1.26 on.
package lanes

// Vectors turns the vector instructions of the loops on or off. It reports whether the processor and the compiler have them.
func Vectors(on bool) bool { return useVectors(on) }
