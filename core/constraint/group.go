package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// group has the background events of one label and category that take part: they have a weight that is not 0, and a mass
// inside its limits.
type group[T events.Float] struct {
	label     int
	part      int // of the state
	category  int64
	place     []uint32 // in the input, increasing
	score     []T
	masses    [][]T     // NaN outside the limits of a variable
	raw       []float64 // the weights, of either sign, per largest weight of the group
	largest   float64   // weight of the group
	factor    float64   // of its loss
	weight    []float64 // of the law, see balance
	lift      []float64 // of the gradient, see balance
	start     []float64 // of the multiplier in each cell of the masses, see start; nil: 1
	total     float64   // of the sizes |weight|
	effective float64   // the number of events in effect, (sum |weight|)^2 / sum weight^2
	views     []view[T]
	rank      []float64 // of the score
	cell      []uint32  // of the masses and the score
	basis     *basis    // of the masses
	direction []float64 // first the gradient, last the push
	sc        *par.Scratch
}

// view has the bins of one variable of mass, or of all variables together.
type view[T events.Float] struct {
	*loss.Prepared[T]
	bin  []uint32  // of the events of the group, or events.NoPair
	sums []float64 // of the raw weights in each bin
}

// block is the number of events that a goroutine handles at a time.
const block = 1 << 14

// collect returns the events of a subset that take part, with the gradient as direction. The events are divided into so many
// categories. The group uses the memory of the scratch.
func collect[T events.Float](di *events.Division[T], su *measured[T], limits [][2]float64, joint bool, divided int, sc *par.Scratch) group[T] {
	g := group[T]{label: su.Label, part: su.Label*max(divided, 1) + int(su.Category), category: su.Category, factor: su.Factor, basis: &ofMasses[len(limits)], sc: sc}
	ev, all, n, arena := &di.Events, di.Events.Variables(), su.Size(), &g.sc.Arena
	inside := func(v, i int) bool {
		m := float64(all[v][i])
		return m >= limits[v][0] && m <= limits[v][1]
	}
	from := par.Unset[uint32](arena, n)[:0] // the places in the division of the events that take part
	for i := su.Lo; i < su.Hi; i++ {
		present := 0
		for v := range all {
			if inside(v, i) {
				present++
			}
		}
		if present > 0 && (!joint || present == len(all)) && (ev.Weight == nil || ev.Weight[i] != 0) {
			from = append(from, uint32(i))
		}
	}
	count := len(from)
	g.place, g.score = par.Make[uint32](arena, count), par.Make[T](arena, count)
	g.raw, g.direction = par.Make[float64](arena, count), par.Make[float64](arena, count)
	g.masses = make([][]T, len(all))
	for v := range all {
		g.masses[v] = par.Make[T](arena, count)
	}
	bins := make([][]uint32, len(su.prs))
	for v, pr := range su.prs {
		bins[v] = par.Unset[uint32](arena, n)
		pr.FindBins(bins[v], 0)
		g.views = append(g.views, view[T]{Prepared: pr.Unbounded(), bin: par.Unset[uint32](arena, count)})
	}
	g.sc.Team.Blocks(count, block, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			i, w := int(from[k]), 1.0
			if ev.Weight != nil {
				w = float64(ev.Weight[i])
			}
			g.place[k], g.score[k], g.raw[k], g.direction[k] = uint32(di.Place(i)), ev.Score[i], w, float64(su.grad[i-su.Lo])*su.Factor
			for v := range all {
				g.masses[v][k] = T(math.NaN())
				if inside(v, i) {
					g.masses[v][k] = all[v][i]
				}
			}
			for v := range g.views {
				g.views[v].bin[k] = bins[v][i-su.Lo]
			}
		}
	})
	for _, w := range g.raw {
		if size := math.Abs(w); size > g.largest { // floats.Norm takes 7 ns a weight
			g.largest = size
		}
	}
	return g
}

// mostSums is the most numbers that goroutines have for sums.
const mostSums = 1 << 22

// sums returns the sums of what f adds to numbers of its own for each block of events. They do not depend on the number of
// threads.
func (g *group[T]) sums(width int, f func(lo, hi int, sums []float64)) []float64 {
	n, size := len(g.place), block
	for size < n && n/size*width > mostSums {
		size *= 2
	}
	all := par.Make[float64](&g.sc.Arena, (n+size-1)/size*width)
	g.sc.Team.Blocks(n, size, func(lo, hi int) { f(lo, hi, all[lo/size*width:][:width]) })
	for k := width; k < len(all); k += width {
		floats.Add(all[:width], all[k:][:width])
	}
	return all[:width]
}

// sum returns the sum of what f returns for each block of events.
func (g *group[T]) sum(f func(lo, hi int) float64) float64 {
	return g.sums(1, func(lo, hi int, sums []float64) { sums[0] = f(lo, hi) })[0]
}

// leastTotal is the least sum of weights of a group, in units of the largest weight of all groups, so that ratios to it are finite.
const leastTotal = 1e-100

// weigh sets the weights of all groups, whose sizes have the mean 1, and returns the number of events.
func weigh[T events.Float](groups []group[T]) (n float64) {
	var largest, total float64
	for k := range groups {
		n += float64(len(groups[k].place))
		largest = max(largest, groups[k].largest)
	}
	for k := range groups {
		groups[k].balance(largest)
		total += groups[k].total
	}
	for k := range groups {
		groups[k].scaleWeights(n / total)
	}
	return n
}

// mostRatio is the largest ratio of mean weights that the gradient is lifted by: no multiplier is larger than exp(mostLevel).
var mostRatio = math.Exp(2 * mostLevel)

// balance sets the weights to those with which F_b counts events: the weight over the sum of weights in the bin, the mean of the
// variables of mass that the event has. So a mean weight that depends on the mass leaves no part of the mass without a push. The
// sum of their sizes is the sum of the sizes of the original weights, over unit.
//
// Where weights are small the gradient of the classification is, and the push would be all that moves the scores. So the gradient is
// multiplied by the square root of the mean size of all weights over that of the weights in the bin, again the mean of the variables.
func (g *group[T]) balance(unit float64) {
	scale := min(1/g.largest, math.MaxFloat64) // 1/largest may overflow
	sizes := g.sum(func(lo, hi int) (sum float64) {
		for i, w := range g.raw[lo:hi] {
			w *= scale
			g.raw[lo+i] = w
			sum += math.Abs(w)
		}
		return sum
	})
	mean := sizes / float64(len(g.raw))
	ratios := make([][]float64, len(g.views)) // of the mean size of all weights to that in each bin
	for v := range g.views {
		of := &g.views[v]
		found := g.sums(3*of.Count(), func(lo, hi int, sums []float64) {
			for i, b := range of.bin[lo:hi] {
				if b != events.NoPair {
					w := g.raw[lo+i]
					sums[3*b] += w
					sums[3*b+1] += math.Abs(w)
					sums[3*b+2]++
				}
			}
		})
		of.sums, ratios[v] = make([]float64, of.Count()), make([]float64, of.Count())
		for b := range of.sums {
			of.sums[b] = found[3*b]
			ratios[v][b] = min(mean*found[3*b+2]/found[3*b+1], mostRatio)
		}
	}
	g.weight, g.lift = par.Make[float64](&g.sc.Arena, len(g.raw)), par.Make[float64](&g.sc.Arena, len(g.raw))
	balanced := g.sum(func(lo, hi int) (sum float64) {
		for i := lo; i < hi; i++ {
			var weight, ratio, present float64
			for v := range g.views {
				of := &g.views[v]
				if b := of.bin[i]; b != events.NoPair {
					present++
					weight += g.raw[i] / of.sums[b] / float64(of.Count())
					ratio += ratios[v][b]
				}
			}
			g.weight[i] = weight / present
			g.lift[i] = math.Sqrt(ratio / present)
			sum += math.Abs(g.weight[i])
		}
		return sum
	})
	g.scaleWeights(1 / balanced)
	g.total = 1
	g.scaleWeights(max(sizes*(g.largest/unit), leastTotal))
}

// scaleWeights multiplies the weights with a number.
func (g *group[T]) scaleWeights(by float64) {
	g.total *= by
	g.sc.Team.Blocks(len(g.weight), block, func(lo, hi int) { floats.Scale(by, g.weight[lo:hi]) })
}

// massCell returns the cell of the masses of event i.
func (g *group[T]) massCell(i int) int { return int(g.cell[i]) / ofScore.cells }

// setCells sets the ranks and cells of the events.
func (g *group[T]) setCells() {
	n := len(g.score)
	g.cell, g.rank = par.Make[uint32](&g.sc.Arena, n), par.Make[float64](&g.sc.Arena, n)
	addCells := func(cells, room uint32) { // NaN has the last cell of the room
		g.sc.Team.Blocks(n, block, func(lo, hi int) {
			for i, q := range g.rank[lo:hi] {
				c := cells
				if q == q {
					c = uint32(cellOf(q, int(cells)))
				}
				g.cell[lo+i] = g.cell[lo+i]*room + c
			}
		})
	}
	for _, mass := range g.masses {
		ranks(g.rank, mass, g.weight, g.sc)
		addCells(massCells[len(g.masses)], massCells[len(g.masses)]+1)
	}
	ranks(g.rank, g.score, g.weight, g.sc)
	addCells(uint32(ofScore.cells), uint32(ofScore.cells))
}

// inRange is how many effective events each of the ranges of scores needs in which the direction has the mean 0. There are at most as many
// ranges as thresholds.
const inRange = 20

// direct turns the gradient of the loss by the scores into a direction for logits, and returns the sum of its squares.
//
// The loss is an integral over scores. Over logits, with the weight 1/sqrt(q (1 - q)), each working point counts by its
// significance: the noise of a residual is in proportion to sqrt(q (1 - q)). A loss of CDFs also falls if all scores are
// squeezed together, which makes nothing flatter. That part is the mean of the gradient at a score
// (the derivative of J by the score, since sum_b f_b r_b = J'/2). The direction leaves out the mean per weight in each of
// 16 ranges of equal weight.
//
// What is beyond a bound, by view, is not in the gradient: the derivative of r_b^2 by the score of an event of the share e is -2 e r_b.
func (g *group[T]) direct(beyond [][]float64) float64 {
	for k, x := range beyond {
		v := &g.views[k]
		unit := 2 * g.factor / float64(v.Count()*len(g.views))
		for i, b := range v.bin {
			if b != events.NoPair {
				g.direction[i] -= unit * g.raw[i] / v.sums[b] * beyondAt(x, g.rank[i], int(b), v.Count())
			}
		}
	}
	squares := g.sum(func(lo, hi int) float64 { return floats.Dot(g.weight[lo:hi], g.weight[lo:hi]) })
	g.effective = g.total * g.total / squares
	count := max(1, min(thresholds, int(g.effective*(1+1e-12))/inRange))
	sums := g.sums(2*thresholds, func(lo, hi int, sums []float64) {
		for i, q := range g.rank[lo:hi] {
			i += lo
			g.direction[i] /= math.Sqrt(q * (1 - q))
			k := 2 * cellOf(q, count)
			sums[k] += math.Copysign(1, g.weight[i]) * g.direction[i]
			sums[k+1] += math.Abs(g.weight[i])
		}
	})
	return g.sum(func(lo, hi int) float64 {
		for i, q := range g.rank[lo:hi] {
			k := 2 * cellOf(q, count)
			g.direction[lo+i] -= g.weight[lo+i] * sums[k] / sums[k+1]
		}
		return floats.Dot(g.direction[lo:hi], g.direction[lo:hi])
	})
}

// residual returns the coefficients of the direction per weight in the functions: a row for each function of the masses.
func (g *group[T]) residual(unit float64) []float64 {
	grid := g.sums(g.basis.cells*ofScore.cells, func(lo, hi int, grid []float64) {
		for i, d := range g.direction[lo:hi] {
			grid[g.cell[lo+i]] += d
		}
	})
	floats.Scale(unit/g.total, grid)
	return g.product(g.basis.transposed, g.product(grid, ofScore.values, ofScore.functions), ofScore.functions)
}

// function returns the function with these coefficients in each cell of masses and score.
func (g *group[T]) function(coefficients []float64) []float64 {
	return g.product(g.product(g.basis.values, coefficients, ofScore.functions), ofScore.transposed, ofScore.cells)
}

// product returns the product of two matrices. The rows of a have as many numbers as b has rows; columns is the length of
// the rows of b.
func (g *group[T]) product(a, b []float64, columns int) []float64 {
	inner := len(b) / columns
	found := par.Make[float64](&g.sc.Arena, len(a)/inner*columns)
	for i, x := range a {
		if x != 0 {
			floats.AddScaled(found[i/inner*columns:][:columns], x, b[i%inner*columns:][:columns])
		}
	}
	return found
}
