package constraint

import "math"

// A response that reaches 0, or a new maximum, is clearly there.
const (
	nearZero = 0.03 // of the mean response
	rise     = 1.2  // of the maximum above the spectrum on both of its sides
	fall     = 1.05 // of the spectrum before from one of them to the maximum
	sure     = 4.0  // standard errors
)

// lookAtSpectrum looks for an allowed response that reaches 0, and for a maximum of the spectrum that it selects where the spectrum
// before falls or rises.
func (sh *shown) lookAtSpectrum(v *Verdict, teaches float64) {
	cells := sh.basis.cells
	for k, e := range v.Efficiency {
		// Of the selected spectrum in a cell, relative to its mean; the training events have a noise of their own before the cut too.
		noise := math.Sqrt((sh.ofMean*(1-e)/e + 1/teaches) * float64(sh.basis.functions))
		if sh.events*e < leastSeen || noise > 0.1 {
			continue
		}
		before, selected := make([]float64, cells), make([]float64, cells)
		for c := range cells {
			row := sh.basis.values[c*sh.basis.functions:][:sh.basis.functions]
			var allowed float64
			for l, x := range row {
				allowed += x * sh.allowed[l*thresholds+k]
			}
			if allowed < nearZero && math.IsNaN(v.Zero) {
				v.Zero, v.ZeroAt = sh.masses[c], e
			}
			if c > 0 && c < cells-1 {
				before[c] = sh.background[c] / (sh.masses[c+1] - sh.masses[c-1])
				selected[c] = before[c] * max(0, allowed)
			}
		}
		if c := maximum(before, selected, rise*(1+sure*noise)); c > 0 && math.IsNaN(v.Peak) {
			v.Peak, v.PeakAt = sh.masses[c], e
		}
	}
}

// maximum returns the place of a maximum of a spectrum that is so many times what is on both of its sides, on one of which the spectrum
// before is higher than at the maximum; 0: there is none. The ends do not count.
func maximum(before, after []float64, times float64) int {
	top := 0
	for c := 1; c < len(after)-1; c++ {
		if after[c] > after[top] {
			top = c
		}
	}
	if top == 0 {
		return 0
	}
	var low, high, fallsLow, fallsHigh bool
	for c := 1; c < len(after)-1; c++ {
		if after[c]*times < after[top] {
			low, high = low || c < top, high || c > top
			fallsLow = fallsLow || c < top && before[c] > fall*before[top]
			fallsHigh = fallsHigh || c > top && before[c] > fall*before[top]
		}
	}
	if low && high && (fallsLow || fallsHigh) {
		return top
	}
	return 0
}
