// Package lanes has the loops over events that take most of the time of a call. Some exist twice: as plain Go, and as assembly for
// processors with AVX2. Both take the same steps in the same order, and so return the same bits. A product in a sum is rounded
// first, by float64(), since Go may fuse the two on arm64.
//
// tools/lanes writes the assembly, avx2_amd64.s. A build with the tag purego has none.
package lanes
