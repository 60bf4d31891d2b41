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

// starts returns what the multiplier starts from in each cell of the masses, and takes the masses of a batch into the averages of a part.
func (ca *call[T]) starts(g *group[T], le *lesson, p *part) []float64 {
	if spectrum := ca.signalSpectrum(g); spectrum != nil {
		p.signals++
		share := max(1/p.signals, rate)
		for c, x := range spectrum {
			p.background[c] += share * (le.spectrum[c] - p.background[c])
			p.signal[c] += share * (x - p.signal[c])
		}
	}
	background, signal := p.background[:g.basis.cells], p.signal[:g.basis.cells]
	all, ofSignal := floats.Sum(background), floats.Sum(signal)
	starts := slices.Repeat([]float64{1}, len(signal))
	if ca.RelativeStrength > 0 || p.signals == 0 || !(all > 0 && ofSignal > 0) {
		return starts
	}
	for c := range starts {
		if background[c] > 0 { // 1 is of a cell whose background weighs nothing
			ratio := max(0, signal[c]/ofSignal) / (background[c] / all)
			starts[c] = min((1-floor)*ratio+floor, math.Exp(mostLevel))
		}
	}
	if !ca.plan.Bounded() { // a bounded moment is not free
		shares, masses := slices.Clone(le.shares), slices.Clone(le.mass) // with a batch that counts as much as all before it
		floats.Add(shares, p.shares[:len(shares)])
		floats.Add(masses, p.mass[:len(masses)])
		keepMoments(starts, background, polynomials(shares, masses, len(ca.limits), ca.plan.Order))
	}
	return starts
}

// signalSpectrum returns the sum of weights of signal in each cell of the masses of background, over the sum of their sizes. Signal has
// none of the background labels, and the category of the background if there are categories. Its masses and weights alone are read. Nil: no
// signal has a mass in the limits and among the masses of background.
func (ca *call[T]) signalSpectrum(g *group[T]) []float64 {
	variables, masses := len(ca.limits), ca.Variables()
	cells := massCells[variables]
	var ends [][]float64 // of each variable, see ends
	var places []int
	var weights []float64
	ca.EachOther(ca.plan.BackgroundLabel, func(i int, category int64) {
		if ca.Categories > 0 && category != g.Category {
			return
		}
		if ends == nil { // most batches of the functions without labels have no signal
			ends = g.ends(variables)
		}
		w, cell, present := 1.0, 0, 0
		if ca.Weight != nil {
			w = float64(ca.Weight[i])
		}
		for v, limits := range ca.limits {
			c := cells
			m, ends := float64(masses[v][i]), ends[v]
			if m >= max(ends[0], limits[0]) && m <= min(ends[cells], limits[1]) {
				c = sort.SearchFloat64s(ends[1:], m)
				present++
			}
			cell = cell*(cells+1) + c
		}
		if present > 0 && (!ca.plan.Joint || present == variables) && events.IsFinite(w) {
			places, weights = append(places, cell), append(weights, w)
		}
	})
	largest := floats.Norm(weights, math.Inf(1))
	if largest == 0 { // also of no signal
		return nil
	}
	spectrum, sizes := make([]float64, g.basis.cells), 0.0
	for k, w := range weights {
		spectrum[places[k]] += w / largest
		sizes += math.Abs(w / largest)
	}
	floats.Scale(1/sizes, spectrum)
	return spectrum
}

// ends returns the lowest mass of background of each variable, and after it the largest in each cell, or in the cells below if it has none.
func (g *group[T]) ends(variables int) [][]float64 {
	cells, all := massCells[variables], make([][]float64, variables)
	for v, mass := range g.masses {
		ends, by := slices.Repeat([]float64{math.Inf(-1)}, cells+1), stride(v, variables, cells)
		ends[0] = math.Inf(1)
		for i, m := range mass {
			if c, m := int(g.cell[i])/by%(cells+1), float64(m); c < cells {
				ends[0], ends[c+1] = min(ends[0], m), max(ends[c+1], m)
			}
		}
		for c := 2; c <= cells; c++ {
			ends[c] = max(ends[c], ends[c-1])
		}
		all[v] = ends
	}
	return all
}

// keepMoments: the largest degree, the most rounds of steps, and the largest step, of the logarithm at an end of the range.
const (
	largestDegree = 2
	rounds        = 200
	largestStep   = 2.0
)

// polynomials returns the Legendre polynomials of each mass, of the degrees 1 to order, in each cell. Shares and masses are those of a
// lesson.
func polynomials(shares, masses []float64, variables, order int) (all [][]float64) {
	cells := massCells[variables]
	for v := range variables {
		_, at := places(sumsOf(shares, v, variables), masses[v*cells:][:cells])
		by := stride(v, variables, cells)
		for degree := 1; degree <= min(order, largestDegree); degree++ {
			p := make([]float64, len(shares))
			for c := range p {
				x := 0.0 // without the variable
				if own := c / by % (cells + 1); own < cells {
					x = at[own]
				}
				p[c] = [...]float64{1, x, (3*x*x - 1) / 2}[degree]
			}
			all = append(all, p)
		}
	}
	return all
}

// keepMoments multiplies multipliers with the exponential of a sum of polynomials. The planed background then has the means of the
// polynomials that the background has. The multipliers of the exact limit have them too:
// along a polynomial that the order allows no residual counts, and cross entropy alone decides, with the background as it is. Of all
// multipliers with these means they have the least entropy relative to those of planing. Newton steps for one polynomial at a time find it.
func keepMoments(multipliers, spectrum []float64, polynomials [][]float64) {
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
