// Package lanes has the loops over events that take most of the time of a call. Some exist twice: as plain Go, and as assembly for
// processors with AVX2. Both take the same steps in the same order, and so return the same bits. A product in a sum is rounded
// first, by float64(), since Go may fuse the two on arm64.
//
// tools/lanes writes the assembly, avx2_amd64.s. A build with the tag purego has none.
package lanes

import (
	"math"
	"unsafe"
)

// Float is the type of scores, masses and weights.
type Float interface{ float32 | float64 }

// IsFloat32 reports whether T is float32, which the compiler knows.
func IsFloat32[T Float]() bool {
	var x T
	return unsafe.Sizeof(x) == 4
}

// HalfKey maps float32 numbers onto integers in the same order. -0.0 and 0.0 share one. HalfValue is the inverse.
func HalfKey(s float32) uint32 {
	b := math.Float32bits(s + 0) // -0.0 + 0 = 0.0
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}

func HalfValue(key uint32) float32 {
	return math.Float32frombits(key ^ (uint32(int32(^key)>>31) | 1<<31))
}

// FirstTie returns the place of the first value that equals the next one, or of the last value. No value is -0, so that equal values have
// equal bits, which take less time to compare.
func FirstTie(values []float64) int {
	i := 0
	for ; i+4 < len(values); i += 4 { // four at a time, which takes half the time
		v := (*[5]uint64)(unsafe.Pointer(&values[i]))
		if v[0] == v[1] || v[1] == v[2] || v[2] == v[3] || v[3] == v[4] {
			break
		}
	}
	for ; i < len(values)-1; i++ {
		if values[i] == values[i+1] {
			return i
		}
	}
	return len(values) - 1
}

// Integrate returns the sum of changes times (end - score), as four sums side by side.
func Integrate(changes, scores []float64, end float64) float64 {
	var s0, s1, s2, s3 float64
	for len(changes) >= 4 && len(scores) >= 4 {
		s0 += float64(changes[0] * (end - scores[0]))
		s1 += float64(changes[1] * (end - scores[1]))
		s2 += float64(changes[2] * (end - scores[2]))
		s3 += float64(changes[3] * (end - scores[3]))
		changes, scores = changes[4:], scores[4:]
	}
	sums := [4]float64{s0, s1, s2, s3}
	for i, change := range changes {
		sums[i] += float64(change * (end - scores[i]))
	}
	return (sums[0] + sums[1]) + (sums[2] + sums[3])
}

// Row has the contributions of a bin to the sums of a Linear.
type Row struct {
	Y [4]float64 // y_0, y_1, y_2 and f
	X [4]float64 // x_0, x_1, x_2 and rise
}

// Linear follows a part of a quadratic form of the CDFs of bins. An event of weight w in bin b changes it by
//
//	w (f_b + y_b.Y - x_b.X)   and f_b by w rise_b, Y by w y_b, X by w x_b
type Linear struct {
	Rows []Row
	Y    [4]float64 // Y_0, Y_1, Y_2, 1
	X    [4]float64 // -X_0, -X_1, -X_2, 0
}

// Cross crosses events, and adds the changes to d.
var Cross = crossGo

func crossGo(li *Linear, bins []uint32, weights, d []float64) {
	rows := li.Rows
	y0, y1, y2, x0, x1, x2 := li.Y[0], li.Y[1], li.Y[2], li.X[0], li.X[1], li.X[2]
	weights, d = weights[:len(bins)], d[:len(bins)]
	for i, b := range bins {
		row, w := &rows[b], weights[i]
		p0, p1 := float64(row.Y[0]*y0)+float64(row.X[0]*x0), float64(row.Y[1]*y1)+float64(row.X[1]*x1)
		p2 := float64(row.Y[2]*y2) + float64(row.X[2]*x2)
		d[i] += float64(w * ((p0 + p1) + (p2 + row.Y[3])))
		y0, y1, y2 = y0+float64(w*row.Y[0]), y1+float64(w*row.Y[1]), y2+float64(w*row.Y[2])
		x0, x1, x2 = x0-float64(w*row.X[0]), x1-float64(w*row.X[1]), x2-float64(w*row.X[2])
		row.Y[3] += float64(w * row.X[3])
	}
	li.Y, li.X = [4]float64{y0, y1, y2, li.Y[3]}, [4]float64{x0, x1, x2, li.X[3]}
}

// Words sets dst to the words of events with float32 scores, see Decode. The index of the first event is given. The mask selects the bits
// of bins that are the number of the bin.
var Words = wordsGo

func wordsGo(dst []uint64, scores []float32, bins []uint32, mask, base uint32, binShift uint, first int) {
	scores, bins = scores[:len(dst)], bins[:len(dst)]
	for i := range dst {
		dst[i] = uint64(HalfKey(scores[i])-base)<<32 | uint64(bins[i]&mask<<(binShift&31)|uint32(first+i))
	}
}

// Decode sets the scores and the bins of records of float32 scores. The upper half of a word is the distance of the score's
// key to base, and the lower half has the bin from bit binShift on: see sorted.Layout.
var Decode = decodeGo

func decodeGo(words []uint64, base uint32, binShift uint, scores []float64, bins []uint32) {
	scores, bins = scores[:len(words)], bins[:len(words)]
	for i, r := range words {
		scores[i] = float64(HalfValue(uint32(r>>32) + base))
		bins[i] = uint32(r) >> (binShift & 31)
	}
}
