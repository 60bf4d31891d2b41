package lanes

import "math"

var words = wordsGo

// Words sets dst to the words of events with float32 scores, see Decode, which stand in the input
// from first on, and whose bins are what the mask leaves of these.
func Words(dst []uint64, scores []float32, bins []uint32, mask, base uint32, binShift uint, first int) {
	words(dst, scores, bins, mask, base, binShift, first)
}

func wordsGo(dst []uint64, scores []float32, bins []uint32, mask, base uint32, binShift uint, first int) {
	scores, bins = scores[:len(dst)], bins[:len(dst)]
	for i := range dst {
		b := math.Float32bits(scores[i] + 0) // -0.0 + 0 = 0.0
		key := b ^ (uint32(int32(b)>>31) | 1<<31)
		dst[i] = uint64(key-base)<<32 | uint64(bins[i]&mask<<(binShift&31)|uint32(first+i))
	}
}
