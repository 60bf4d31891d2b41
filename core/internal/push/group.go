package push

import (
	"math"

	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
)

// Group is background of one label and one category, whose response is to be smooth.
type Group struct {
	variables int
	weight    []float64 // of either sign, none 0
	size      []float64 // |weight|
	total     float64   // of the sizes
	rank      []float64 // of the score
	cell      []uint32  // of the masses and the score

	grid         []float64 // by cell
	place        []float64
	some, share  []float64
	of           []uint32
	ranker       ranker
	sums, weighs [parts]float64
}

// Set takes the events of a group. An event has no value of a mass where that is NaN.
func Set[T radix.Float](g *Group, score []T, masses [][]T, weight []float64) {
	n := len(score)
	g.variables, g.weight, g.total = len(masses), weight, 0
	g.size, g.rank, g.cell, g.place = par.Grown(g.size, n), par.Grown(g.rank, n), par.Grown(g.cell, n), par.Grown(g.place, n)
	for i, w := range weight {
		g.size[i] = math.Abs(w)
		g.total += g.size[i]
	}
	clear(g.cell)
	cells := ofMass[len(masses)].cells
	for _, mass := range masses {
		place := g.place[:n]
		ranksOfPresent(place, mass, g)
		for i, q := range place {
			c := uint32(cells)
			if q == q {
				c = uint32(q * float64(cells))
			}
			g.cell[i] = g.cell[i]*uint32(cells+1) + c
		}
	}
	ranks(g.rank, score, g.size, &g.ranker)
	for i, q := range g.rank {
		g.cell[i] = g.cell[i]*scoreCells + uint32(q*scoreCells)
	}
}

// ranksOfPresent sets dst to the ranks of masses among those that are not NaN, and to NaN for the others.
func ranksOfPresent[T radix.Float](dst []float64, mass []T, g *Group) {
	var some []T
	g.of, g.share = g.of[:0], g.share[:0]
	for i, m := range mass {
		if m != m {
			dst[i] = math.NaN()
			continue
		}
		g.of = append(g.of, uint32(i))
	}
	if len(g.of) == len(mass) {
		ranks(dst, mass, g.size, &g.ranker)
		return
	}
	if len(g.of) == 0 {
		return
	}
	for _, i := range g.of {
		some = append(some, mass[i])
		g.share = append(g.share, g.size[i])
	}
	g.some = par.Grown(g.some, len(some))
	ranks(g.some, some, g.share, &g.ranker)
	for j, i := range g.of {
		dst[i] = g.some[j]
	}
}

// Ranges of scores, in each of which the direction has the mean 0, and how many effective events each needs.
const (
	parts  = 16
	inPart = 20
)

// Direct makes of the gradient of the loss by the scores a direction for logits.
//
// The loss is an integral over scores. Over logits, with the weight 1/sqrt(q (1 - q)), each working point counts by what
// can be seen at it: the noise of a residual is in proportion to sqrt(q (1 - q)). A loss of CDFs also falls where scores
// are squeezed, signal and background alike, which makes nothing flatter. That part is the mean of the gradient at a
// score (the derivative of J by the score, since sum_b f_b r_b = J'/2), and is taken out as the mean per weight in each
// of 16 ranges of equal weight.
func (g *Group) Direct(grad []float64) {
	var squares float64
	for _, w := range g.weight {
		squares += w * w
	}
	count := max(1, min(parts, int(g.total*g.total/squares)/inPart))
	sums, sizes := g.sums[:count], g.weighs[:count]
	clear(sums)
	clear(sizes)
	for i, q := range g.rank {
		grad[i] /= math.Sqrt(q * (1 - q))
		k := int(q * float64(count))
		sums[k] += math.Copysign(1, g.weight[i]) * grad[i]
		sizes[k] += g.size[i]
	}
	for k, size := range sizes {
		if size > 0 {
			sums[k] /= size
		}
	}
	for i, q := range g.rank {
		grad[i] -= g.weight[i] * sums[int(q*float64(count))]
	}
}

// Residual sets dst to the coefficients of a direction per weight in the functions, a row for each of the masses.
func (g *Group) Residual(dst, direction []float64, unit float64) {
	table := massTables[g.variables]
	masses, _ := Functions(g.variables)
	rows := len(table) / masses
	g.grid = par.Grown(g.grid, rows*scoreCells)
	clear(g.grid)
	for i, d := range direction {
		g.grid[g.cell[i]] += d
	}
	clear(dst)
	var row [ofScore]float64
	for r := range rows {
		row = [ofScore]float64{}
		for c, sum := range g.grid[r*scoreCells : (r+1)*scoreCells] {
			if sum != 0 {
				for k, f := range scoreTable[c*ofScore : (c+1)*ofScore] {
					row[k] += sum * f
				}
			}
		}
		for l, f := range table[r*masses : (r+1)*masses] {
			if f *= unit / g.total; f != 0 {
				to := dst[l*ofScore : (l+1)*ofScore]
				for k, x := range row {
					to[k] += f * x
				}
			}
		}
	}
}

// Push sets dst to the value at each event of the function that has these coefficients, times the event's weight.
func (g *Group) Push(dst, coefficients []float64) {
	table := massTables[g.variables]
	masses, _ := Functions(g.variables)
	var row [ofScore]float64
	for r := range len(table) / masses {
		row = [ofScore]float64{}
		for l, f := range table[r*masses : (r+1)*masses] {
			for k, x := range coefficients[l*ofScore : (l+1)*ofScore] {
				row[k] += f * x
			}
		}
		for c := range scoreCells {
			var sum float64
			for k, f := range scoreTable[c*ofScore : (c+1)*ofScore] {
				sum += f * row[k]
			}
			g.grid[r*scoreCells+c] = sum
		}
	}
	for i, c := range g.cell {
		dst[i] = g.grid[c] * g.weight[i]
	}
}

// Total returns the sum of |weight|.
func (g *Group) Total() float64 { return g.total }
