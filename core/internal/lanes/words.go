package lanes

// Words sets dst to the words of events with float32 scores, see Decode. The index of the first event is given. Their bins are in
// those bits of bins that are in the mask.
var Words = wordsGo

func wordsGo(dst []uint64, scores []float32, bins []uint32, mask, base uint32, binShift uint, first int) {
	scores, bins = scores[:len(dst)], bins[:len(dst)]
	for i := range dst {
		dst[i] = uint64(HalfKey(scores[i])-base)<<32 | uint64(bins[i]&mask<<(binShift&31)|uint32(first+i))
	}
}

// Decode sets the scores and the bins of records of float32 scores. The upper half of a word is the distance of the score's
// key to base, and the lower half has the bin from bit binShift on: see radix.Layout.
var Decode = decodeGo

func decodeGo(words []uint64, base uint32, binShift uint, scores []float64, bins []uint32) {
	scores, bins = scores[:len(words)], bins[:len(words)]
	for i, r := range words {
		scores[i] = float64(HalfValue(uint32(r>>32) + base))
		bins[i] = uint32(r) >> (binShift & 31)
	}
}
