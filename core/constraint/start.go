package constraint

import (
	"math"
	"slices"
	"sort"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/moments"
	"gonum.org/v1/gonum/floats"
)

// mostStart is the largest start: a background event counts at most as so many.
const mostStart = 150

// cells are the cells of all variables of mass together, of one part.
type cells struct {
	*part
	variables, each int // each: the cells of a variable
}

func (p *part) cells(variables int) cells { return cells{p, variables, cellsOfMass[variables]} }

// count returns the number of cells of all variables together. Each variable has one cell more, for events without a value.
func (c cells) count() int { return int(math.Pow(float64(c.each+1), float64(c.variables))) }

// endsOf returns the upper ends of the cells of a variable but the last.
func (c cells) endsOf(v int) []float64 { return c.ends[v*(c.each-1):][:c.each-1] }

// draw sets the ends of the cells to quantiles of the masses of events, as numpy.quantile, at most so many different ones.
func (c cells) draw(masses [][]float64, limits [][2]float64, most int) {
	c.drawn = float64(len(masses[0]))
	for v, mass := range masses {
		var sorted []float64
		for _, m := range mass {
			if m >= limits[v][0] && m <= limits[v][1] {
				sorted = append(sorted, m)
			}
		}
		slices.Sort(sorted)
		ends, last := c.endsOf(v), len(sorted)-1
		for k := 0; k < len(ends) && last >= 0; k++ {
			at := (k + 1) * most / c.each * last // in units of 1/most, so that no rounding moves an end over an event
			i := at / most
			ends[k] = sorted[i] + float64(at%most)/float64(most)*(sorted[min(i+1, last)]-sorted[i])
		}
	}
}

// cellOf returns the number of the ends that are not above a mass.
func cellOf(ends []float64, m float64) int {
	return sort.Search(len(ends), func(k int) bool { return ends[k] > m })
}

// place returns the cell of an event, from its masses inside of the limits, and in how many variables it has one.
func place[T events.Float](c cells, masses [][]T, limits [][2]float64, i int) (cell, present int) {
	for v, mass := range masses {
		own, m := c.each, float64(mass[i])
		if m >= limits[v][0] && m <= limits[v][1] && events.IsFinite(m) {
			own = cellOf(c.endsOf(v), m)
			present++
		}
		cell = cell*(c.each+1) + own
	}
	return cell, present
}

// setSpectra sets the cells of the background, and the spectra of the lesson. Signal has none of the background labels, and the category
// of the background if there are categories. Its masses and weights alone are read; a mass that is not finite or out of range counts
// for nothing.
func (ca *call[T]) setSpectra(all []*group) {
	labels, variables := len(ca.plan.BackgroundLabel), len(ca.limits)
	lessons := make([]cells, len(ca.lesson.parts)) // of the parts that have background in this batch
	for _, g := range all {
		if len(g.place) == 0 {
			continue
		}
		number := ca.part(g.Label, g.Category)
		lesson, known := &ca.lesson.parts[number], &ca.known.parts[number]
		c := lesson.cells(variables)
		lessons[number] = c
		if n := float64(len(g.place)); n >= 2*known.drawn {
			wanted := c.each
			if ca.whole {
				wanted = most(g.ranks.Weight, len(g.place), variables, c.each)
			}
			c.draw(g.ranks.Masses, ca.limits, wanted)
		} else {
			lesson.drawn, lesson.ends = known.drawn, known.ends
		}
		g.cell = make([]uint8, len(g.place))
		sizes := 0.0
		for k := range g.cell {
			cell, _ := place(c, g.ranks.Masses, ca.limits, k)
			w := 1.0
			if g.ranks.Weight != nil {
				w = g.ranks.Weight[k]
			}
			g.cell[k] = uint8(cell)
			lesson.background[cell] += w
			sizes += math.Abs(w)
		}
		floats.Scale(1/sizes, lesson.background[:])
	}
	masses, unit, sizes := ca.Variables(), 1.0, make([]float64, len(lessons))
	if ca.Weight != nil {
		largest := 0.0
		for _, w := range ca.Weight {
			if w := math.Abs(float64(w)); events.IsFinite(w) {
				largest = max(largest, w)
			}
		}
		unit = events.UnitOf(largest)
	}
	ca.EachOther(ca.plan.BackgroundLabel, func(i int, category int64) {
		w := 1.0
		if ca.Weight != nil {
			w = float64(ca.Weight[i]) * unit
		}
		if category < 0 || category >= int64(max(ca.Categories, 1)) || !events.IsFinite(w) {
			return
		}
		for label := range labels {
			number := ca.part(label, category)
			if lessons[number].part == nil {
				continue
			}
			if cell, present := place(lessons[number], masses, ca.limits, i); present > 0 && (!ca.plan.Joint || present == variables) {
				lessons[number].signal[cell] += w
				sizes[number] += math.Abs(w)
			}
		}
	})
	for number, size := range sizes {
		if size > 0 {
			lessons[number].signals = 1
			floats.Scale(1/size, lessons[number].signal[:])
		}
	}
}

// starts returns the start of each cell: the ratio of the densities of signal and background, with a floor, times the exponential of
// the polynomial with which the planed background keeps the means of polynomials up to the order.
func (c cells) starts(order int, floor float64) []float64 {
	background, signal := c.background[:c.count()], c.signal[:c.count()]
	starts := slices.Repeat([]float64{1}, len(signal))
	all, ofSignal := floats.Sum(background), floats.Sum(signal)
	if c.signals == 0 || !(all > 0 && ofSignal > 0) {
		return starts
	}
	for k := range starts {
		if background[k] > 0 { // 1 is of a cell whose background weighs nothing
			starts[k] = (1-floor)*max(0, signal[k]/ofSignal)/(background[k]/all) + floor
		}
		starts[k] = min(starts[k], mostStart)
	}
	if order > 0 {
		c.keepMeans(starts, order)
	}
	for k := range starts {
		starts[k] = max(floor, min(starts[k], mostStart))
	}
	return starts
}

// Of the polynomials of keepMeans: the largest degree, the most Newton steps, and the largest change of the exponent in one.
const (
	largestDegree = 2
	mostSteps     = 50
	largestStep   = 2.0
)

// tilt is the power of the exponential of keepMeans.
const tilt = 1

// keepMeans multiplies starts by the exponential of a polynomial of the rank of the mass. With it the planed background has the means of
// the polynomials that the background has, and its size. The multipliers of the exact limit have these means too: along a polynomial that
// the order allows no residual counts, and cross entropy alone decides, with the background as it is. Of all multipliers with these means
// they have the least entropy relative to planing. Newton's method finds them.
func (c cells) keepMeans(starts []float64, order int) {
	polynomials, background := c.polynomials(min(order, largestDegree)), make([]float64, len(starts))
	for k := range background {
		background[k] = max(0, c.background[k])
	}
	size, total, planed := len(polynomials), floats.Sum(background), make([]float64, len(background))
	mean, step, exponent, change := make([]float64, size), make([]float64, size), make([]float64, len(starts)), make([]float64, len(starts))
	covariance := make([]float64, size*size)
	for range mostSteps {
		for k, b := range background {
			planed[k] = b * starts[k] * math.Exp(exponent[k])
		}
		floats.Scale(1/floats.Sum(planed), planed)
		for a, p := range polynomials {
			mean[a] = floats.Dot(planed, p)
			step[a] = floats.Dot(background, p)/total - mean[a]
		}
		for a, p := range polynomials {
			for b, q := range polynomials[:a+1] {
				sum := 0.0
				for k, x := range planed {
					sum += x * (p[k] - mean[a]) * (q[k] - mean[b])
				}
				covariance[a*size+b], covariance[b*size+a] = sum, sum
			}
		}
		solve(covariance, step)
		clear(change)
		for a, p := range polynomials {
			floats.AddScaled(change, step[a], p)
		}
		largest := floats.Norm(change, math.Inf(1))
		floats.AddScaled(exponent, min(1, largestStep/largest), change)
		if !(largest > 1e-12) {
			break
		}
	}
	planedSize := 0.0
	for k, x := range exponent {
		starts[k] *= math.Exp(tilt * x)
		planedSize += background[k] * starts[k]
	}
	floats.Scale(total/planedSize, starts)
}

// solve replaces b by the solution x of a x = b, for a symmetric matrix a without a negative eigenvalue. Along what a does not know, x is 0.
func solve(a, b []float64) {
	n, largest := len(b), floats.Norm(a, math.Inf(1))
	for j := range n {
		pivot := a[j*n+j]
		known := pivot > 1e-12*largest
		for i := j + 1; i < n && known; i++ {
			factor := a[i*n+j] / pivot
			floats.AddScaled(a[i*n+j:][:n-j], -factor, a[j*n+j:][:n-j])
			b[i] -= factor * b[j]
		}
		if !known {
			for i := range n {
				a[j*n+i], a[i*n+j] = 0, 0
			}
			b[j], a[j*n+j] = 0, 1
		}
	}
	for j := n - 1; j >= 0; j-- {
		b[j] = (b[j] - floats.Dot(a[j*n+j+1:][:n-j-1], b[j+1:])) / a[j*n+j]
	}
}

// polynomials returns the Legendre polynomials of the rank of each mass, of the degrees from 1 on, in each cell.
func (c cells) polynomials(degree int) (all [][]float64) {
	values, by := make([]float64, degree+1), c.count()
	for range c.variables {
		by /= c.each + 1
		rows := make([][]float64, degree)
		for l := range rows {
			rows[l] = make([]float64, c.count())
		}
		for k := range c.count() {
			if own := k / by % (c.each + 1); own < c.each { // 0 without the variable
				moments.Legendre(values, 2*float64(own)/float64(c.each-1)-1)
				for l := range rows {
					rows[l][k] = values[l+1]
				}
			}
		}
		all = append(all, rows...)
	}
	return all
}
