package lanes

var (
	decode   = decodeGo
	firstTie = firstTieGo
)

// Decode sets the scores and bins of records that have the distances of float32 scores' keys to
// base in their upper halves, see radix.Layout; a bin stands from a bit of the lower half on.
func Decode(words []uint64, base uint32, binShift uint, scores []float64, bins []uint32) {
	decode(words, base, binShift, scores, bins)
}

// FirstTie returns the place of the first score that equals the next one, or that of the
// last score.
func FirstTie(scores []float64) int { return firstTie(scores) }

func decodeGo(words []uint64, base uint32, binShift uint, scores []float64, bins []uint32) {
	scores, bins = scores[:len(words)], bins[:len(words)]
	for i, r := range words {
		scores[i] = float64(HalfValue(uint32(r>>32) + base))
		bins[i] = uint32(r) >> (binShift & 31)
	}
}

func firstTieGo(scores []float64) int {
	for i := 0; i < len(scores)-1; i++ {
		if scores[i] == scores[i+1] {
			return i
		}
	}
	return len(scores) - 1
}
