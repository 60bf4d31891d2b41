package constraint

import (
	"math"
	"slices"
	"sort"

	"github.com/libmode/libmode/core/internal/events"
	"gonum.org/v1/gonum/floats"
)

// The multiplier starts from planing: it gives background the masses of signal, but for a part, so that the mass alone says little.
// v learns on top.
const floor = 0.1

// mostCells is the largest number of cells of all masses together.
var mostCells = max(ofMasses[1].cells, ofMasses[2].cells, ofMasses[3].cells)

// spectra has the sum of weights in each cell of the masses of background, over the sum of all sizes, of the background and of the signal
// of a batch.
type spectra struct{ background, signal []float64 }

// spectra returns the spectra of a group. Signal has none of the background labels, and the category of the group if there are
// categories. Its masses and weights alone are read. Nil: no signal has a mass in the
// limits and among the masses of background.
func (g *group[T]) spectra(ev *events.Events[T], limits [][2]float64, joint bool, background []int32, divided bool) *spectra {
	variables, cells, all := len(g.masses), int(massCells[len(g.masses)]), ev.Variables()
	var ends [][]float64 // of each variable, see ends
	var places []int
	var weights []float64
	ev.EachOther(background, func(i int, category int64) {
		if divided && category != g.category {
			return
		}
		if ends == nil { // most batches of the functions without labels have no signal
			ends = g.ends()
		}
		w, cell, present := 1.0, 0, 0
		if ev.Weight != nil {
			w = float64(ev.Weight[i])
		}
		for v := range variables {
			c := cells
			m, own := float64(all[v][i]), ends[v]
			if m >= max(own[0], limits[v][0]) && m <= min(own[cells], limits[v][1]) {
				c = sort.SearchFloat64s(own[1:], m)
				present++
			}
			cell = cell*(cells+1) + c
		}
		if present > 0 && (!joint || present == variables) && events.IsFinite(w) {
			places, weights = append(places, cell), append(weights, w)
		}
	})
	largest := floats.Norm(weights, math.Inf(1))
	if largest == 0 { // also of no signal
		return nil
	}
	found, sizes := spectra{signal: make([]float64, g.basis.cells)}, 0.0
	for k, w := range weights {
		found.signal[places[k]] += w / largest
		sizes += math.Abs(w / largest)
	}
	floats.Scale(1/sizes, found.signal)
	sums := g.sums(g.basis.cells+1, func(lo, hi int, sums []float64) {
		for i, w := range g.raw[lo:hi] {
			sums[g.massCell(lo+i)] += w
			sums[g.basis.cells] += math.Abs(w)
		}
	})
	found.background = slices.Clone(sums[:g.basis.cells])
	floats.Scale(1/sums[g.basis.cells], found.background)
	return &found
}

// ends returns the lowest mass of background of each variable, and after it the largest in each cell, or in the cells below if it has none.
func (g *group[T]) ends() [][]float64 {
	variables, cells := len(g.masses), int(massCells[len(g.masses)])
	found := make([][]float64, variables)
	for v := range found {
		found[v] = slices.Repeat([]float64{math.Inf(-1)}, cells+1)
		found[v][0] = math.Inf(1)
	}
	for i := range g.place {
		cell := g.massCell(i)
		for v := variables - 1; v >= 0; v-- {
			if c := cell % (cells + 1); c < cells {
				m := float64(g.masses[v][i])
				found[v][0], found[v][c+1] = min(found[v][0], m), max(found[v][c+1], m)
			}
			cell /= cells + 1
		}
	}
	for _, own := range found {
		for c := 2; c <= cells; c++ {
			own[c] = max(own[c], own[c-1])
		}
	}
	return found
}

// start is what a constraint remembers of the masses: averages of spectra over 200 batches with signal.
type start struct {
	batches            *float64
	background, signal []float64
}

// take takes the spectra of a batch into the averages.
func (st start) take(batch *spectra) {
	if batch == nil {
		return
	}
	*st.batches++
	share := max(1 / *st.batches, rate)
	for c := range st.signal {
		st.background[c] += share * (batch.background[c] - st.background[c])
		st.signal[c] += share * (batch.signal[c] - st.signal[c])
	}
}

// multipliers returns what the gradient of background is multiplied with in each cell of the masses: (1 - floor) r + floor, where r
// is the density of signal over the density of background. Nil: signal is unknown.
func (st start) multipliers() []float64 {
	background, signal := floats.Sum(st.background), floats.Sum(st.signal)
	if *st.batches == 0 || !(background > 0 && signal > 0) {
		return nil
	}
	found := make([]float64, len(st.signal))
	for c := range found {
		found[c] = 1 // of a cell whose background weighs nothing
		if st.background[c] > 0 {
			ratio := max(0, st.signal[c]/signal) / (st.background[c] / background)
			found[c] = min((1-floor)*ratio+floor, math.Exp(mostLevel))
		}
	}
	return found
}

// keepMoments: the largest degree, the most rounds of steps, and the largest step, of the logarithm at an end of the range.
const (
	largestDegree = 2
	rounds        = 200
	largestStep   = 2.0
)

// keepMoments multiplies multipliers with the exponential of a polynomial in each mass. The planed background then has the means of the
// Legendre polynomials of the degrees 1 to order, at most 2, that the background has. The multipliers of the exact limit have them too:
// along a polynomial that the order allows no residual counts, and cross entropy alone decides, with the background as it is. Of all
// multipliers with these means they have the least entropy relative to those of planing. Newton steps for one polynomial at a time find it.
// Shares and masses are from inCells.
func (g *group[T]) keepMoments(multipliers, spectrum, shares, masses []float64, order int) {
	var polynomials [][]float64
	for v := range g.masses {
		at := g.places(shares, masses, v)
		for degree := 1; degree <= min(order, largestDegree); degree++ {
			polynomials = append(polynomials, make([]float64, len(at)))
			for c, x := range at {
				polynomials[len(polynomials)-1][c] = [...]float64{1, x, (3*x*x - 1) / 2}[degree]
			}
		}
	}
	if polynomials == nil {
		return
	}
	background := slices.Clone(spectrum)
	for c := range background {
		background[c] = max(0, background[c])
	}
	total, planed := floats.Sum(background), make([]float64, len(background))
	for range rounds {
		largest := 0.0
		for _, p := range polynomials {
			floats.MulTo(planed, background, multipliers)
			sum, wanted := floats.Sum(planed), floats.Dot(background, p)/total
			mean := floats.Dot(planed, p) / sum
			variance := 0.0
			for c, x := range p {
				variance += planed[c] / sum * (x - mean) * (x - mean)
			}
			if !(variance > 0) {
				continue
			}
			step := max(-largestStep, min(largestStep, (wanted-mean)/variance))
			for c, x := range p {
				multipliers[c] *= math.Exp(step * x)
			}
			largest = max(largest, math.Abs(step))
		}
		if largest < 1e-13 {
			break
		}
	}
	floats.MulTo(planed, background, multipliers)
	scale := total / floats.Sum(planed)
	for c := range multipliers {
		multipliers[c] = max(floor, min(scale*multipliers[c], math.Exp(mostLevel)))
	}
}

// places returns the mean mass of variable v in each cell, on a scale from -1 to 1; 0 in cells without the variable.
func (g *group[T]) places(shares, masses []float64, v int) []float64 {
	cells := int(massCells[len(g.masses)])
	sums, by := sumsOf(shares, v, len(g.masses), cells), stride(v, len(g.masses), cells)
	low, high, means := math.Inf(1), math.Inf(-1), make([]float64, cells)
	for c := range means {
		if sums[c] > 0 {
			means[c] = masses[v*cells+c] / sums[c]
			low, high = min(low, means[c]), max(high, means[c])
		}
	}
	at := make([]float64, len(shares))
	for c := range at {
		if of := c / by % (cells + 1); of < cells && sums[of] > 0 && high > low {
			at[c] = 2*(means[of]-low)/(high-low) - 1
		}
	}
	return at
}

// startOf returns what the multiplier of event i starts from.
func (g *group[T]) startOf(i int) float64 {
	if g.start == nil {
		return 1
	}
	return g.start[g.massCell(i)]
}
