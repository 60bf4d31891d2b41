package constraint

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// mostStart is the largest start. No background event counts as more than 150 events.
const mostStart = 150

// none is the cell of an event that takes no part.
const none = math.MaxUint8

// cells are the cells of all variables of mass together, for one part of a state. Each variable has one cell more, for events without a
// value.
type cells struct {
	*part
	plan *loss.Plan
	each int // the cells of a variable
}

// cells returns the cells of a part.
func (g *group[T]) cells(p *part) *cells { return &cells{p, g.plan, cellsOfMass[len(g.plan.Masses)]} }

// endsOf returns the upper ends of the cells of a variable but the last.
func (c *cells) endsOf(v int) []float64 { return c.ends[v*(c.each-1):][:c.each-1] }

// draw sets the ends of the cells to quantiles of masses, as numpy.quantile.
func draw[T events.Float](c *cells, masses [][]T) {
	c.drawn = float64(len(masses[0]))
	for v, mass := range masses {
		sorted := make([]float64, 0, len(mass))
		for _, m := range mass {
			if limits := &c.plan.Masses[v].Mass; float64(m) >= limits[0] && float64(m) <= limits[1] && events.IsFinite(float64(m)) {
				sorted = append(sorted, float64(m))
			}
		}
		slices.Sort(sorted)
		last := len(sorted) - 1
		for k := range c.endsOf(v) {
			if at := (k + 1) * last; last >= 0 { // in units of 1/each, so that no rounding moves an end over an event
				i := at / c.each
				c.endsOf(v)[k] = sorted[i] + float64(at%c.each)/float64(c.each)*(sorted[min(i+1, last)]-sorted[i])
			}
		}
	}
}

// strips is the number of strips of equal width, in which place looks for a cell first. Most strips have no end of a cell inside.
const strips = 1024

// place sets the cells of events from their masses, and adds the part of the weights in each cell to a spectrum. A weight that is not
// finite is that of signal, and does not count. It reports whether any event takes part.
func place[T events.Float](c *cells, spectrum []float64, ev *events.Events[T], cell []uint8) bool {
	present := make([]uint8, len(cell))
	for v, mass := range ev.Variables() {
		ends, begin, k := c.endsOf(v), [strips]uint8{}, 0
		scale := strips / (ends[len(ends)-1] - ends[0])
		if !events.IsFinite(scale) {
			scale = 0
		}
		for s := range begin {
			for k < len(ends)-1 && int((ends[k]-ends[0])*scale) < s {
				k++
			}
			begin[s] = uint8(k)
		}
		limits, first, each := c.plan.Masses[v].Mass, ends[0], c.each
		for i, mass := range mass {
			own, m := each, float64(mass)
			if m >= limits[0] && m <= limits[1] && events.IsFinite(m) {
				strip := (m - first) * scale
				if own = 0; strip >= strips {
					own = int(begin[strips-1])
				} else if strip > 0 {
					own = int(begin[int(strip)])
				}
				for own < len(ends) && ends[own] <= m {
					own++
				}
				present[i]++
			}
			cell[i] = cell[i]*uint8(each+1) + uint8(own)
		}
	}
	needed, sizes, unit := 1, 0.0, 1.0
	if c.plan.Joint {
		needed = len(c.plan.Masses)
	}
	if largest := 0.0; ev.Weight != nil {
		for _, w := range ev.Weight {
			if w := math.Abs(float64(w)); events.IsFinite(w) {
				largest = max(largest, w)
			}
		}
		unit = events.UnitOf(largest)
	}
	for i, at := range cell {
		w := 1.0
		if ev.Weight != nil {
			w = float64(ev.Weight[i]) * unit
		}
		if int(present[i]) < needed || !events.IsFinite(w) {
			cell[i] = none
			continue
		}
		spectrum[at] += w
		sizes += math.Abs(w)
	}
	if sizes > 0 {
		floats.Scale(1/sizes, spectrum)
	}
	return sizes > 0
}

// setSpectra sets the spectra of the lesson, and returns the cells of the background. Signal has none of the background labels, and the
// category of the background if there are categories. Its masses and weights alone are read; a mass that is not finite or out of range
// counts for nothing.
func (g *group[T]) setSpectra(ev *events.Events[T], signal []uint32, sc *par.Scratch) []uint8 {
	if len(g.Score) < 2*int(g.known.drawn) {
		g.taught.drawn, g.taught.ends = g.known.drawn, g.known.ends
	} else {
		draw(g.cells(g.taught), g.Variables())
	}
	taught, cell := g.cells(g.taught), par.Make[uint8](&sc.Arena, len(g.Score))
	place(taught, g.taught.background[:], &g.Events, cell)
	masses := events.Events[T]{Mass: ev.Mass, Masses: ev.Masses, Weight: ev.Weight}
	masses = masses.Chosen(signal, sc)
	if place(taught, g.taught.signal[:], &masses, par.Make[uint8](&sc.Arena, len(signal))) {
		g.taught.signals = 1
	}
	return cell
}

// starts returns the start of each cell: the ratio of the densities of signal and background, with a floor, times the exponential of
// the polynomial with which the planed background keeps the means of polynomials up to the order.
func (c *cells) starts(order int, floor float64) []float64 {
	starts, all, ofSignal := slices.Repeat([]float64{1}, mostCells), floats.Sum(c.background[:]), floats.Sum(c.signal[:])
	if c.signals == 0 || !(all > 0 && ofSignal > 0) {
		return starts
	}
	for k, b := range c.background {
		if b > 0 { // 1 is of a cell whose background weighs nothing
			starts[k] = min(mostStart, (1-floor)*max(0, c.signal[k]/ofSignal)/(b/all)+floor)
		}
	}
	if order > 0 {
		c.keepMeans(starts, min(order, largestDegree))
	}
	for k := range starts {
		starts[k] = max(floor, min(starts[k], mostStart))
	}
	return starts
}

// Of the polynomials of keepMeans: the largest degree, the most Newton steps, and the largest change of the exponent in one.
const (
	largestDegree = 2
	mostSteps     = 100
	largestStep   = 2.0
)

// keepMeans multiplies starts by the exponential of a polynomial of the rank of the mass. With it the planed background has the means of
// the polynomials that the background has, and its size. The multipliers of the exact limit have these means too: along a polynomial that
// the order allows no residual counts, and cross entropy alone decides, with the background as it is. Of all multipliers with these means
// they have the least entropy relative to planing. Newton's method finds them, for one polynomial at a time.
func (c *cells) keepMeans(starts []float64, degree int) {
	background, exponent, planed := make([]float64, mostCells), make([]float64, mostCells), make([]float64, mostCells)
	for k, b := range c.background {
		background[k] = max(0, b)
	}
	total, polynomials := floats.Sum(background), c.polynomials(degree)
	for range mostSteps {
		largest := 0.0
		for _, p := range polynomials {
			for k, b := range background {
				if planed[k] = 0; b > 0 {
					planed[k] = b * starts[k] * math.Exp(exponent[k])
				}
			}
			sum := floats.Sum(planed)
			mean, variance := floats.Dot(planed, p)/sum, 0.0
			for k, x := range p {
				variance += planed[k] / sum * (x - mean) * (x - mean)
			}
			if variance > 0 {
				step := max(-largestStep, min(largestStep, (floats.Dot(background, p)/total-mean)/variance))
				floats.AddScaled(exponent, step, p)
				largest = max(largest, math.Abs(step))
			}
		}
		if largest < 1e-10 {
			break
		}
	}
	power := tilt
	if c.plan.Monotonic {
		power = tiltOfMonotonic
	}
	for k, x := range exponent {
		starts[k] *= math.Exp(power * x)
	}
	floats.Scale(total/floats.Dot(background, starts), starts)
}

// polynomials returns the Legendre polynomials of the rank of each mass, of the degrees from 1 on, in each cell.
func (c *cells) polynomials(degree int) (all [][]float64) {
	values, by := make([]float64, degree+1), 1
	for range c.plan.Masses {
		for l := range degree {
			p := make([]float64, mostCells)
			for k := range p {
				if own := k / by % (c.each + 1); own < c.each { // 0 without the variable
					moments.Legendre(values, 2*float64(own)/float64(c.each-1)-1)
					p[k] = values[l+1]
				}
			}
			all = append(all, p)
		}
		by *= c.each + 1
	}
	return all
}
