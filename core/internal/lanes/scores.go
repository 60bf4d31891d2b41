package lanes

var (
	firstTie  = firstTieGo
	integrate = integrateGo
)

// FirstTie returns the place of the first value that equals the next one, or of the last value.
func FirstTie(values []float64) int { return firstTie(values) }

// Integrate returns the sum of changes times (end - score), as four sums side by side.
func Integrate(changes, scores []float64, end float64) float64 {
	whole := len(changes) &^ 3
	sums := integrate(changes[:whole], scores[:whole], end)
	for i, change := range changes[whole:] {
		sums[i] += float64(change * (end - scores[whole+i]))
	}
	return (sums[0] + sums[1]) + (sums[2] + sums[3])
}

func firstTieGo(values []float64) int {
	for i := 0; i < len(values)-1; i++ {
		if values[i] == values[i+1] {
			return i
		}
	}
	return len(values) - 1
}

func integrateGo(changes, scores []float64, end float64) (sums [4]float64) {
	for i, change := range changes {
		sums[i&3] += float64(change * (end - scores[i]))
	}
	return sums
}
