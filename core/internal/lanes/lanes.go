// Package lanes has the loops over events that take most of the time of a call. Some exist twice: as plain Go, and as assembly for
// processors with AVX2. Both take the same steps in the same order, and so return the same bits. A product in a sum is rounded
// first, by float64(), since Go may fuse the two on arm64.
//
// tools/lanes writes the assembly, avx2_amd64.s. A build with the tag purego has none.
package lanes

// Vectors turns the vector instructions of the loops on or off. It reports whether the processor and the build have them.
func Vectors(on bool) bool { return useVectors(on) }
