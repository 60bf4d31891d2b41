package bins

import "github.com/libmode/libmode/core/internal/events"

// lowSums are the sums of w, w^2 and w times each of the functions of Low.
type lowSums [4]float64

// set makes a row of Sums of them. Without weights the sum of their squares is left out.
func (sums *lowSums) set(row []float64, ones bool) {
	copy(row, sums[:])
	if ones {
		row[1] = sums[0]
	}
}

// addLow adds the events from lo on.
func addLow[T events.Float](sums []lowSums, sel *events.Selection[T], lo int, bins []uint32, of *Low, unit float64) {
	first, second, factor := of.Nodes[0], of.Nodes[1], of.Factor
	masses := sel.Mass[lo:][:len(bins)]
	if sel.Weight == nil {
		for i, b := range bins {
			if b != NoBin {
				m, s := float64(masses[i]), &sums[b]
				x := (m - first) * factor
				s[0]++
				s[2] += x
				s[3] += x * ((m - second) * factor)
			}
		}
		return
	}
	weights := sel.Weight[lo:][:len(bins)]
	for i, b := range bins {
		if b != NoBin {
			m, w, s := float64(masses[i]), float64(weights[i])*unit, &sums[b]
			x := (m - first) * factor
			s[0] += w
			s[1] += w * w
			s[2] += w * x
			s[3] += w * x * ((m - second) * factor)
		}
	}
}

// addValues is addLow for any functions, of which these are the values. It overwrites them, and the bins.
func addValues[T events.Float](sums []float64, width int, sel *events.Selection[T], values [][]float64, lo int, bins []uint32, unit float64) {
	nowhere := uint32(len(sums)/width - 1)
	for i, b := range bins {
		bins[i] = min(b, nowhere) * uint32(width)
	}
	if sel.Weight == nil {
		for _, row := range bins {
			sums[row]++
			sums[row+1]++
		}
	} else {
		for i, row := range bins {
			w := float64(sel.Weight[lo+i]) * unit
			sums[row] += w
			sums[row+1] += w * w
		}
		weigh(values, sel.Weight[lo:], unit)
	}
	for l, column := range values {
		of := sums[2+l:]
		column = column[:len(bins)]
		for i, row := range bins {
			of[row] += column[i]
		}
	}
}

// weigh multiplies the values with the weights.
func weigh[T events.Float](values [][]float64, weights []T, unit float64) {
	for _, column := range values {
		for i := range column {
			column[i] *= float64(weights[i]) * unit
		}
	}
}
