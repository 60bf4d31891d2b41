package lanes

var (
	firstTie  = firstTieGo
	integrate = integrateGo
)

// FirstTie returns the place of the first score that equals the next one, or of the last score.
func FirstTie(scores []float64) int { return firstTie(scores) }

// Integrate returns the sum of changes times (end - score), as four sums side by side.
func Integrate(changes, scores []float64, end float64) float64 {
	whole := len(changes) &^ 3
	sums := integrate(changes[:whole], scores[:whole], end)
	for i, change := range changes[whole:] {
		sums[i] += float64(change * (end - scores[whole+i]))
	}
	return (sums[0] + sums[1]) + (sums[2] + sums[3])
}

func firstTieGo(scores []float64) int {
	for i := 0; i < len(scores)-1; i++ {
		if scores[i] == scores[i+1] {
			return i
		}
	}
	return len(scores) - 1
}

func integrateGo(changes, scores []float64, end float64) (sums [4]float64) {
	for i, change := range changes {
		sums[i&3] += float64(change * (end - scores[i]))
	}
	return sums
}
