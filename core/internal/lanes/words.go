package lanes

var words = wordsGo

// Words sets dst to the words of events with float32 scores, see Decode. The index of the first event is given. Their bins are in
// those bits of bins that are in the mask.
func Words(dst []uint64, scores []float32, bins []uint32, mask, base uint32, binShift uint, first int) {
	words(dst, scores, bins, mask, base, binShift, first)
}

func wordsGo(dst []uint64, scores []float32, bins []uint32, mask, base uint32, binShift uint, first int) {
	scores, bins = scores[:len(dst)], bins[:len(dst)]
	for i := range dst {
		dst[i] = uint64(HalfKey(scores[i])-base)<<32 | uint64(bins[i]&mask<<(binShift&31)|uint32(first+i))
	}
}
