//go:build !purego

package lanes

import (
	"slices"

	"golang.org/x/sys/cpu"
)

//go:generate go -C ../../../tools run ./lanes

func init() { Vectors(true) }

// Vectors turns the vector instructions of the loops on or off. It reports whether the processor has them.
func Vectors(on bool) bool {
	if on && cpu.X86.HasAVX2 {
		Cross, Decode, Words, look32, look64 = crossVectors, decodeVectors, wordsVectors, look32Vectors, look64Vectors
	} else {
		Cross, Decode, Words, look32, look64 = crossGo, decodeGo, wordsGo, lookGo[float32], lookGo[float64]
	}
	return cpu.X86.HasAVX2
}

// Each of these gives whole vectors of events to the assembly, and the others to the loop in Go.

func crossVectors(li *Linear, bins []uint32, weights, d []float64) {
	whole := len(bins) &^ 3
	weights, d = weights[:len(bins)], d[:len(bins)]
	crossAVX2(&li.Rows[0].Y[0], &li.Y, &li.X, bins[:whole], weights, d)
	crossGo(li, bins[whole:], weights[whole:], d[whole:])
}

func decodeVectors(records []uint64, base uint32, binShift uint, scores []float64, bins []uint32) {
	whole := len(records) &^ 7
	scores, bins = scores[:len(records)], bins[:len(records)]
	decodeAVX2(records[:whole], base, uint32(binShift&31), scores, bins)
	decodeGo(records[whole:], base, binShift, scores[whole:], bins[whole:])
}

func wordsVectors(dst []uint64, scores []float32, bins []uint32, mask, base uint32, binShift uint, first int) {
	whole := len(dst) &^ 7
	scores, bins = scores[:len(dst)], bins[:len(dst)]
	wordsAVX2(dst[:whole], scores, bins, mask, base, uint32(binShift&31), uint32(first))
	wordsGo(dst[whole:], scores[whole:], bins[whole:], mask, base, binShift, first+whole)
}

func look32Vectors(seen Seen[float32], scores, masses []float32, ofScore, ofMass Cells[float32], pairs []uint32) Seen[float32] {
	whole := len(scores) &^ 7
	masses, pairs = masses[:len(scores)], pairs[:len(scores)]
	if whole > 0 {
		var ends [4][8]float32
		number := look32AVX2(scores[:whole], masses, ofScore.Lo, ofScore.Scale, ofScore.Last, ofMass.Lo, ofMass.Scale, ofMass.Last, pairs, &ends)
		seen = seenIn(ends[0][:], ends[1][:], ends[2][:], ends[3][:], number)
	}
	return lookGo(seen, scores[whole:], masses[whole:], ofScore, ofMass, pairs[whole:])
}

func look64Vectors(seen Seen[float64], scores, masses []float64, ofScore, ofMass Cells[float64], pairs []uint32) Seen[float64] {
	whole := len(scores) &^ 3
	masses, pairs = masses[:len(scores)], pairs[:len(scores)]
	if whole > 0 {
		var ends [4][4]float64
		number := look64AVX2(scores[:whole], masses, ofScore.Lo, ofScore.Scale, ofScore.Last, ofMass.Lo, ofMass.Scale, ofMass.Last, pairs, &ends)
		seen = seenIn(ends[0][:], ends[1][:], ends[2][:], ends[3][:], number)
	}
	return lookGo(seen, scores[whole:], masses[whole:], ofScore, ofMass, pairs[whole:])
}

// seenIn returns what was seen, from the ends in each place of a vector.
func seenIn[T Float](scoreMin, scoreMax, massMin, massMax []T, number bool) Seen[T] {
	return Seen[T]{slices.Min(scoreMin), slices.Max(scoreMax), slices.Min(massMin), slices.Max(massMax), number}
}
