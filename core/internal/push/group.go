package push

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
	"gonum.org/v1/gonum/floats"
)

// group is the background of one label and one category.
type group struct {
	label  int
	masses *basis
	weight []float64 // of either sign, none 0
	size   []float64 // |weight|
	total  float64   // of the sizes
	rank   []float64 // of the score
	cell   []uint32  // of the masses and the score
}

// newGroup returns the group of these events. An event has no value of a mass that is NaN.
func newGroup[T events.Float](label int, score []T, masses [][]T, weight []float64) group {
	n := len(score)
	g := group{label, &ofMasses[len(masses)], weight, make([]float64, n), floats.Norm(weight, 1), make([]float64, n), make([]uint32, n)}
	for i, w := range weight {
		g.size[i] = math.Abs(w)
	}
	cells, place := massCells[len(masses)], make([]float64, n)
	for _, mass := range masses {
		ranks(place, mass, g.size)
		for i, q := range place {
			c := cells
			if q == q {
				c = math.Floor(q * cells)
			}
			g.cell[i] = g.cell[i]*uint32(cells+1) + uint32(c)
		}
	}
	ranks(g.rank, score, g.size)
	for i, q := range g.rank {
		g.cell[i] = g.cell[i]*uint32(ofScore.cells) + uint32(q*float64(ofScore.cells))
	}
	return g
}

// Ranges of scores in each of which the direction has the mean 0, and the effective events that each needs.
const (
	mostRanges = 16
	inRange    = 20
)

// direct turns the gradient of the loss by the scores into a direction for logits.
//
// The loss is an integral over scores. Over logits, with the weight 1/sqrt(q (1 - q)), each working point counts by its
// significance: the noise of a residual is in proportion to sqrt(q (1 - q)). A loss of CDFs also falls where scores are
// squeezed, signal and background alike, which makes nothing flatter. That part is the mean of the gradient at a score
// (the derivative of J by the score, since sum_b f_b r_b = J'/2). The direction leaves out the mean per weight in each of
// 16 ranges of equal weight.
func (g *group) direct(grad []float64) {
	effective := int(g.total * g.total / floats.Dot(g.weight, g.weight))
	count := float64(max(1, min(mostRanges, effective/inRange)))
	var sums, sizes [mostRanges]float64
	for i, q := range g.rank {
		grad[i] /= math.Sqrt(q * (1 - q))
		k := int(q * count)
		sums[k] += math.Copysign(1, g.weight[i]) * grad[i]
		sizes[k] += g.size[i]
	}
	for i, q := range g.rank {
		k := int(q * count)
		grad[i] -= g.weight[i] * sums[k] / sizes[k]
	}
}

// residual returns the coefficients of a direction per weight in the functions: a row for each function of the masses.
func (g *group) residual(direction []float64, unit float64) []float64 {
	grid := make([]float64, g.masses.cells*ofScore.cells)
	for i, d := range direction {
		grid[g.cell[i]] += d * unit / g.total
	}
	return product(g.masses.transposed, product(grid, ofScore.values, ofScore.functions), ofScore.functions)
}

// push sets dst to the function with these coefficients at each event, times the event's weight.
func (g *group) push(dst, coefficients []float64) {
	grid := product(product(g.masses.values, coefficients, ofScore.functions), ofScore.transposed, ofScore.cells)
	for i, c := range g.cell {
		dst[i] = grid[c] * g.weight[i]
	}
}
