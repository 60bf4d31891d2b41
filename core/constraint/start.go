package constraint

import (
	"cmp"
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

// draw sets the ends of the cells: halves of halves of background and signal in equal parts. Signal on a tail of the background would
// lie in one cell of the background's own quantiles. Cells that are too many for the events are empty: they begin and end at the first cut.
func draw[T events.Float](c *cells, background, signal *events.Events[T]) {
	c.drawn = float64(len(background.Variables()[0]) + len(signal.Variables()[0]))
	for v := range c.plan.Masses {
		points := append(pointsOf(c, background, v, false), pointsOf(c, signal, v, true)...)
		slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.mass, b.mass) })
		ends, cuts := c.endsOf(v), cutsOf(points, len(c.endsOf(v)))
		if len(cuts) == 0 {
			cuts = []float64{-math.MaxFloat32} // one cell for all; JAX may keep a state in float32
		}
		slices.Sort(cuts)
		for k := range ends {
			ends[k] = cuts[max(0, k+len(cuts)-len(ends))]
		}
	}
}

// point is an event on the axis of a mass. Its size is its part of the number of events of its class.
type point struct {
	mass, weight, size float64
	isSignal           bool
}

// pointsOf returns the events of a class that have a value of a variable.
func pointsOf[T events.Float](c *cells, ev *events.Events[T], variable int, isSignal bool) (points []point) {
	unit, limits := events.UnitOfWeights(ev.Weight), c.plan.Masses[variable].Mass
	for i, m := range ev.Variables()[variable] {
		p := point{float64(m), 1, 0, isSignal}
		if ev.Weight != nil {
			p.weight = float64(ev.Weight[i]) * unit
		}
		if p.mass >= limits[0] && p.mass <= limits[1] && events.IsFinite(p.mass) && events.IsFinite(p.weight) {
			points = append(points, p)
		}
	}
	for k := range points {
		points[k].size = 1 / float64(len(points))
	}
	return points
}

// sums are those of sizes, and of the weights and their squares.
type sums struct{ size, background, squares, signal float64 }

// cutsOf returns up to most masses between sorted points. Each cuts the largest part that can be cut, near its middle.
func cutsOf(points []point, most int) (cuts []float64) {
	below := make([]sums, len(points)+1) // of the points before each
	for i, p := range points {
		sum := below[i]
		if sum.size += p.size; p.isSignal {
			sum.signal += p.weight
		} else {
			sum.background, sum.squares = sum.background+p.weight, sum.squares+p.weight*p.weight
		}
		below[i+1] = sum
	}
	size := func(part [2]int) float64 { return below[part[1]].size - below[part[0]].size }
	for parts := [][2]int{{0, len(points)}}; len(parts) > 0 && len(cuts) < most; {
		largest, cut, distance := 0, 0, math.Inf(1)
		for k := range parts {
			if size(parts[k]) > size(parts[largest])+rounding {
				largest = k
			}
		}
		lo, hi := parts[largest][0], parts[largest][1]
		for i := lo + 1; i < hi; i++ {
			d := math.Abs(below[lo].size + below[hi].size - 2*below[i].size)
			if d < distance-rounding && points[i-1].mass < points[i].mass && haveEnough(below[lo], below[i]) && haveEnough(below[i], below[hi]) {
				cut, distance = i, d
			}
		}
		if parts = slices.Delete(parts, largest, largest+1); cut > 0 {
			cuts = append(cuts, points[cut-1].mass/2+points[cut].mass/2)
			parts = append(parts, [2]int{lo, cut}, [2]int{cut, hi})
		}
	}
	return cuts
}

// inCell is the least effective number of background events in a cell, and rounding is what sums may lose, relative to their size.
const (
	inCell   = 10
	rounding = 1e-9
)

// haveEnough reports whether the events between two sums have a ratio of signal and background.
func haveEnough(from, to sums) bool {
	b := to.background - from.background
	return b > 0 && b*b >= (inCell-rounding)*(to.squares-from.squares) && to.signal >= from.signal
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
	needed, sizes, unit := 1, 0.0, events.UnitOfWeights(ev.Weight)
	if c.plan.Joint {
		needed = len(c.plan.Masses)
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
	masses := events.Events[T]{Mass: ev.Mass, Masses: ev.Masses, Weight: ev.Weight}
	masses = masses.Chosen(signal, sc)
	if len(signal) == 0 || len(g.Score)+len(signal) < 2*int(g.known.drawn) {
		g.taught.drawn, g.taught.ends = g.known.drawn, g.known.ends
	} else {
		draw(g.cells(g.taught), &g.Events, &masses)
	}
	taught, cell := g.cells(g.taught), par.Make[uint8](&sc.Arena, len(g.Score))
	place(taught, g.taught.background[:], &g.Events, cell)
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

// Of keepMeans: the largest degree, the most Newton steps, the largest change of the exponent in one, the least size of a free polynomial.
const (
	largestDegree = 2
	mostSteps     = 100
	largestStep   = 2.0
	dependent     = 1e-6
)

// keepMeans multiplies starts by the exponential of a polynomial of the rank of the mass. With it the planed background has the means of
// the polynomials that the background has, and its size. The multipliers of the exact limit have these means too: along a polynomial that
// the order allows no residual counts, and cross entropy alone decides, with the background as it is. Of all multipliers with these means
// they have the least entropy relative to planing. Newton's method finds them.
func (c *cells) keepMeans(starts []float64, degree int) {
	background, exponent, planed := make([]float64, mostCells), make([]float64, mostCells), make([]float64, mostCells)
	for k, b := range c.background {
		background[k] = max(0, b)
	}
	total, polynomials := floats.Sum(background), c.polynomials(degree)
	free, term := make([][]float64, len(polynomials)), make([]float64, mostCells)
	for range mostSteps {
		for k, b := range background {
			planed[k] = b * starts[k] * math.Exp(exponent[k])
		}
		floats.Scale(1/floats.Sum(planed), planed)
		step := make([]float64, mostCells)
		for l, p := range polynomials { // what it has beside a constant and the polynomials before it, with the mean square 1
			free[l] = append(free[l][:0], p...)
			floats.AddConst(-floats.Dot(planed, p), free[l])
			for _, other := range free[:l] {
				floats.AddScaled(free[l], -floats.Dot(floats.MulTo(term, planed, other), free[l]), other)
			}
			size := math.Sqrt(floats.Dot(floats.MulTo(term, planed, free[l]), free[l]))
			if floats.Scale(1/size, free[l]); !(size > dependent) {
				clear(free[l])
			}
			floats.AddScaled(step, floats.Dot(background, free[l])/total, free[l])
		}
		change := floats.Norm(step, math.Inf(1))
		if floats.AddScaled(exponent, min(1, largestStep/change), step); !(change >= 1e-10) {
			break
		}
	}
	if !c.plan.Monotonic {
		floats.Scale(tilt, exponent)
	}
	for k, x := range exponent {
		starts[k] *= math.Exp(x)
	}
	floats.Scale(total/floats.Dot(background, starts), starts)
}

// polynomials returns the Legendre polynomials of the rank of each mass, of the degrees from 1 on, in each cell.
func (c *cells) polynomials(degree int) (all [][]float64) {
	values, by := make([]float64, degree+1), 1
	for range c.plan.Masses {
		ranks, below := make([]float64, c.each), 0.0
		for k, b := range c.background {
			if own := k / by % (c.each + 1); own < c.each {
				ranks[own] += max(0, b)
			}
		}
		total := floats.Sum(ranks)
		for own, b := range ranks {
			ranks[own] = 2*(below+b/2)/total - 1
			below += b
		}
		for l := range degree {
			p := make([]float64, mostCells)
			for k := range p {
				if own := k / by % (c.each + 1); own < c.each { // 0 without the variable
					moments.Legendre(values, ranks[own])
					p[k] = values[l+1]
				}
			}
			all = append(all, p)
		}
		by *= c.each + 1
	}
	return all
}
