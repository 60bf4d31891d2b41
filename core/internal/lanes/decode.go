package lanes

var decode = decodeGo

// Decode sets the scores and the bins of records of float32 scores. The upper half of a word is the distance of the score's
// key to base, and the lower half has the bin from bit binShift on: see radix.Layout.
func Decode(words []uint64, base uint32, binShift uint, scores []float64, bins []uint32) {
	decode(words, base, binShift, scores, bins)
}

func decodeGo(words []uint64, base uint32, binShift uint, scores []float64, bins []uint32) {
	scores, bins = scores[:len(words)], bins[:len(words)]
	for i, r := range words {
		scores[i] = float64(HalfValue(uint32(r>>32) + base))
		bins[i] = uint32(r) >> (binShift & 31)
	}
}
