package push

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// Group has the background events of one label and category that take part: they have a weight that is not 0, and a mass
// inside its limits.
type Group[T events.Float] struct {
	label     int
	place     []uint32 // in the input
	score     []T
	masses    [][]T     // NaN outside the limits of a variable
	weight    []float64 // of either sign
	total     float64   // of the sizes |weight|
	rank      []float64 // of the score
	cell      []uint32  // of the masses and the score
	basis     *basis    // of the masses
	direction []float64 // first the gradient, last the push
	arena     *par.Arena
}

// Collect returns the groups of a division, with the gradient as direction. If the division has no Index, it is the input. The
// groups use the memory of the arena.
func Collect[T events.Float](di *events.Division[T], grad []T, limits [][2]float64, joint bool, arena *par.Arena) []Group[T] {
	groups := make([]Group[T], 0, len(di.Subsets))
	for _, su := range di.Subsets {
		g := newGroup[T](su, len(limits), arena)
		if g.collect(di, su, grad, limits, joint); len(g.place) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// newGroup returns a group with room for the events of a subset.
func newGroup[T events.Float](su events.Subset, variables int, arena *par.Arena) Group[T] {
	n := su.Size()
	g := Group[T]{label: su.Label, masses: make([][]T, variables), basis: &ofMasses[variables], arena: arena}
	for v := range g.masses {
		g.masses[v] = par.Make[T](arena, n)
	}
	g.place, g.score = par.Make[uint32](arena, n), par.Make[T](arena, n)
	g.weight, g.direction = par.Make[float64](arena, n), par.Make[float64](arena, n)
	return g
}

// collect copies the events of a subset that take part. Each event is written to the next free place, and the place stays free
// if the event takes no part.
func (g *Group[T]) collect(di *events.Division[T], su events.Subset, grad []T, limits [][2]float64, joint bool) {
	ev, all, missing, next := &di.Events, di.Events.Variables(), T(math.NaN()), 0
	for i := su.Lo; i < su.Hi; i++ {
		present := 0
		for v, mass := range all {
			value := mass[i]
			if m := float64(value); m >= limits[v][0] && m <= limits[v][1] {
				present++
			} else {
				value = missing
			}
			g.masses[v][next] = value
		}
		w, at := 1.0, uint32(i)
		if ev.Weight != nil {
			w = float64(ev.Weight[i])
		}
		if di.Index != nil {
			at = di.Index[i]
		}
		g.place[next], g.score[next], g.weight[next], g.direction[next] = at, ev.Score[i], w, float64(grad[at])
		if w != 0 && present > 0 && (!joint || present == len(all)) {
			next++
		}
	}
	for v := range all {
		g.masses[v] = g.masses[v][:next]
	}
	g.place, g.score, g.weight, g.direction = g.place[:next], g.score[:next], g.weight[:next], g.direction[:next]
}

// scaleWeights multiplies the weights with a number, and returns the sum of their sizes.
func (g *Group[T]) scaleWeights(by float64) float64 {
	floats.Scale(by, g.weight)
	g.total = floats.Norm(g.weight, 1)
	return g.total
}

// setCells sets the ranks and cells of the events.
func (g *Group[T]) setCells() {
	n := len(g.score)
	cells := massCells[len(g.masses)]
	g.cell, g.rank = par.Make[uint32](g.arena, n), par.Make[float64](g.arena, n)
	words := par.Make[uint64](g.arena, n)
	for _, mass := range g.masses {
		ranks(g.rank, mass, g.weight, words)
		for i, q := range g.rank {
			c := cells
			if q == q {
				c = uint32(q * float64(cells))
			}
			g.cell[i] = g.cell[i]*(cells+1) + c
		}
	}
	ranks(g.rank, g.score, g.weight, words)
	for i, q := range g.rank {
		g.cell[i] = g.cell[i]*uint32(ofScore.cells) + uint32(q*float64(ofScore.cells))
	}
}

// Ranges of scores in each of which the direction has the mean 0, and the effective events that each needs.
const (
	mostRanges = 16
	inRange    = 20
)

// direct turns the gradient of the loss by the scores into a direction for logits.
//
// The loss is an integral over scores. Over logits, with the weight 1/sqrt(q (1 - q)), each working point counts by its
// significance: the noise of a residual is in proportion to sqrt(q (1 - q)). A loss of CDFs also falls if all scores are
// squeezed together, which makes nothing flatter. That part is the mean of the gradient at a score
// (the derivative of J by the score, since sum_b f_b r_b = J'/2). The direction leaves out the mean per weight in each of
// 16 ranges of equal weight.
func (g *Group[T]) direct() {
	grad := g.direction
	effective := int(g.total * g.total / floats.Dot(g.weight, g.weight))
	count := float64(max(1, min(mostRanges, effective/inRange)))
	var sums, sizes [mostRanges]float64
	for i, q := range g.rank {
		grad[i] /= math.Sqrt(q * (1 - q))
		k := int(q * count)
		sums[k] += math.Copysign(1, g.weight[i]) * grad[i]
		sizes[k] += math.Abs(g.weight[i])
	}
	for i, q := range g.rank {
		k := int(q * count)
		grad[i] -= g.weight[i] * sums[k] / sizes[k]
	}
}

// residual returns the coefficients of the direction per weight in the functions: a row for each function of the masses.
func (g *Group[T]) residual(unit float64) []float64 {
	grid := par.Make[float64](g.arena, g.basis.cells*ofScore.cells)
	for i, d := range g.direction {
		grid[g.cell[i]] += d * unit / g.total
	}
	return g.product(g.basis.transposed, g.product(grid, ofScore.values, ofScore.functions), ofScore.functions)
}

// push sets direction to the function with these coefficients at each event, times the event's weight.
func (g *Group[T]) push(coefficients []float64) {
	grid := g.product(g.product(g.basis.values, coefficients, ofScore.functions), ofScore.transposed, ofScore.cells)
	for i, c := range g.cell {
		g.direction[i] = grid[c] * g.weight[i]
	}
}

// product returns the product of two matrices. The rows of a have as many numbers as b has rows; columns is the length of
// the rows of b.
func (g *Group[T]) product(a, b []float64, columns int) []float64 {
	inner := len(b) / columns
	found := par.Make[float64](g.arena, len(a)/inner*columns)
	for i, x := range a {
		if x != 0 {
			floats.AddScaled(found[i/inner*columns:][:columns], x, b[i%inner*columns:][:columns])
		}
	}
	return found
}
