package constraint

import (
	"math"
	"slices"
	"sort"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// lesson is what a part of the state learns from a batch.
type lesson struct {
	*basis
	push          []float64 // the residual of the push: coefficients of the functions of masses and score
	tail, allowed []float64 // the relative residual and the allowed response at each threshold: a row for each function of the masses
	beyond        [][]float64
	rooms         []room
	shares, mass  []float64 // of the weights in each cell of the masses, and in each cell of each variable times its mean mass
	spectrum      []float64 // the sum of raw weights in each cell, over the sum of their sizes
	events        float64   // the number of events,
	effective     float64   // in effect, (sum |w|)^2 / sum w^2,
	moved         float64   // and of events that are pushed
}

// room is a distance of a moment from its bound at a threshold, 0 beyond it, and the coefficients of a residual that reaches the bound.
type room struct {
	threshold int
	distance  float64
	toward    []float64
}

// lesson returns what the part of the events learns but for the residual of the push. The residual of the tail is the distance of the
// efficiency of each bin from the allowed response, over the efficiency of all bins, the mean over the variables of mass.
//
// Moments of a batch are so noisy at tight cuts that most are beyond their bound. So the bound is on averages: a batch has the share
// share in them. Beyond it urgent times the least change of the response that reaches the bound is a residual. Otherwise the bound
// leaves room.
func (g *group[T]) lesson(options *moments.Options, averages []float64, share float64) lesson {
	cells, arena, size := g.basis.cells, &g.sc.Arena, g.basis.functions*thresholds
	sums := addUp(len(g.raw), (2+len(g.masses))*cells, g.sc, func(lo, hi int, sums []float64) {
		cell, weight, raw := g.cell[lo:hi], g.weight[lo:hi], g.raw[lo:hi]
		for i, c := range cell {
			sums[c] += math.Abs(weight[i])
			sums[cells+int(c)] += raw[i]
		}
		for v, mass := range g.masses {
			sums := sums[(2+v)*cells:]
			for i, m := range mass[lo:hi] {
				sums[cell[i]] += math.Abs(weight[i]) * float64(m)
			}
		}
	})
	floats.Scale(1/g.size, sums)
	le := lesson{basis: g.basis, events: g.count, effective: g.effective, moved: g.pushed}
	le.shares, le.spectrum = sums[:cells], sums[cells:2*cells]
	floats.Scale(g.size/g.sizes, le.spectrum)
	for v := range g.masses {
		le.mass = append(le.mass, sumsOf(sums[(2+v)*cells:][:cells], v, len(g.masses))...)
	}
	le.tail, le.allowed = par.Make[float64](arena, size), par.Make[float64](arena, size)
	for place := range g.views {
		v := &g.views[place]
		bins := v.Count()
		cdfs, inBins := g.cdfs(v)
		floats.Scale(1/g.size, inBins)
		functions := product(inBins, g.basis.values, g.basis.functions, arena)
		var bound *moments.Bound
		if options.Bounded() {
			bound = moments.NewBound(options, v.Basis)
			le.beyond = append(le.beyond, nil)
		}
		// Of each bin, at each threshold: the residual, and the allowed response.
		residuals, responses := par.Unset[float64](arena, len(cdfs)), par.Unset[float64](arena, 2*len(cdfs))
		copy(residuals, cdfs)
		v.Residuals(residuals)
		for k := range thresholds {
			unit := -1 / ((1 - rankOf[k]) * float64(len(g.views)))
			if bound != nil {
				own := averages[(v.Variable*thresholds+k)*(moments.MaxOrder+1):][:v.Basis.Size]
				excess, distances := v.limit(bound, cdfs, k, own, share)
				le.beyond[place] = append(le.beyond[place], excess...)
				for b, x := range excess {
					residuals[b*thresholds+k] += urgent * x
				}
				for l, distance := range distances {
					if math.IsInf(distance, 1) {
						continue
					}
					one := make([]float64, len(own))
					one[l] = 1
					toward := product(v.along(one), functions, g.basis.functions, arena)
					floats.Scale(unit, toward)
					if floats.Dot(toward, toward) > leastNorm {
						le.rooms = append(le.rooms, room{k, urgent * distance, toward})
					}
				}
			}
			for b := range bins {
				x, row := residuals[b*thresholds+k], responses[2*thresholds*b:]
				row[k], row[thresholds+k] = unit*x, -unit*(x+1-cdfs[b*thresholds+k]) // the efficiency less its distance from the allowed response
			}
		}
		sums := product(transposed(functions, g.basis.functions), responses, 2*thresholds, arena)
		for l := range g.basis.functions {
			floats.Add(le.tail[l*thresholds:][:thresholds], sums[2*l*thresholds:][:thresholds])
			floats.Add(le.allowed[l*thresholds:][:thresholds], sums[(2*l+1)*thresholds:][:thresholds])
		}
	}
	return le
}

// cdfs returns F_b at each threshold, a row for each bin of a view, and the sizes of the weights in the cells of each bin.
func (g *group[T]) cdfs(v *view[T]) (cdfs, inBins []float64) {
	cells, rows := g.basis.cells, v.Count()*thresholds
	sums := addUp(len(g.raw), rows+v.Count()*cells, g.sc, func(lo, hi int, sums []float64) {
		raw, cell, weight, rank, bin := g.raw[lo:hi], g.cell[lo:hi], g.weight[lo:hi], g.rank[lo:hi], v.bin[lo:hi]
		below, inBins, from := sums[:rows], sums[rows:], 0
		for k, q := range rankOf { // the weights between two thresholds
			to := from + sort.Search(len(rank)-from, func(i int) bool { return rank[from+i]+nearBorder >= q })
			for i, b := range bin[from:to] {
				if b != events.NoPair {
					below[int(b)*thresholds+k] += raw[from+i]
				}
			}
			from = to
		}
		for i, b := range bin {
			if b != events.NoPair {
				inBins[int(b)*cells+int(cell[i])] += math.Abs(weight[i])
			}
		}
	})
	cdfs = sums[:rows]
	for i := range cdfs {
		cdfs[i] *= v.each[i/thresholds]
		if i%thresholds > 0 {
			cdfs[i] += cdfs[i-1]
		}
	}
	return cdfs, sums[rows:]
}

// limit takes the moments of a batch at one threshold into their averages. It returns the excess of each F_b over what the bounds allow,
// and the distance of each moment from its bounds, 0 beyond one; Inf: it has none.
func (v *view[T]) limit(bound *moments.Bound, cdfs []float64, k int, averages []float64, share float64) (excess, distances []float64) {
	c := make([]float64, len(averages))
	for b := range v.Count() {
		floats.AddScaled(c, cdfs[b*thresholds+k], v.Basis.RowA(b))
	}
	for l := range averages {
		averages[l] += share * (c[l] - averages[l])
	}
	excess, distances = make([]float64, v.Count()), slices.Repeat([]float64{math.Inf(1)}, len(averages))
	for _, x := range bound.Excesses(averages) {
		for l, d := range x.Gradient {
			if d != 0 {
				distances[l] = min(distances[l], max(0, -x.By))
			}
		}
		if x.By > 0 {
			floats.AddScaled(excess, x.By, v.along(x.Gradient))
		}
	}
	return excess, distances
}

// along returns the response that changes the moments along a gradient, per square.
func (v *view[T]) along(gradient []float64) []float64 {
	response := make([]float64, v.Count())
	for b := range response {
		response[b] = floats.Dot(v.Basis.RowA(b), gradient)
	}
	if square := floats.Dot(response, response); square > leastNorm { // bins of one mass have no slope
		floats.Scale(1/square, response)
	} else {
		clear(response)
	}
	return response
}

// direction turns the gradient of the loss by the scores into a direction for logits. It returns its sum in each cell of masses and
// score, and the sum of its squares.
//
// The loss is an integral over scores. Over logits, with the weight 1/sqrt(q (1 - q)), each working point counts by its
// significance: the noise of a residual is in proportion to sqrt(q (1 - q)). A loss of CDFs also falls if all scores are
// squeezed together, which makes nothing flatter. That part is the mean of the gradient at a score
// (the derivative of J by the score, since sum_b f_b r_b = J'/2). The direction leaves out the mean per weight in each of
// 16 ranges of equal weight.
//
// What is beyond a bound, by view, is not in the gradient: the derivative of r_b^2 by the score of an event of the share e is -2 e r_b.
func (g *group[T]) direction(beyond [][]float64) (grid []float64, squares float64) {
	n := len(g.raw)
	ranges := max(1, min(thresholds, int(g.effective*(1+1e-12))/inRange))
	along := par.Unset[float64](&g.sc.Arena, n)
	sums := addUp(n, 2*thresholds, g.sc, func(lo, hi int, sums []float64) {
		rank, grad, weight, along := g.rank[lo:hi], g.grad[lo:hi], g.weight[lo:hi], along[lo:hi]
		lanes.InverseRoots(along, rank)
		at, sum, size := 0, 0.0, 0.0 // of a range, in registers
		for i, q := range rank {
			d := float64(grad[i]) * g.Factor
			if beyond != nil {
				d -= g.beyond(beyond, lo+i)
			}
			along[i] *= d
			if k := cellOf(q, ranges); k > at {
				sums[2*at], sums[2*at+1] = sum, size
				at, sum, size = k, 0, 0
			}
			sum += math.Copysign(1, weight[i]) * along[i]
			size += math.Abs(weight[i])
		}
		sums[2*at], sums[2*at+1] = sum, size
	})
	cells, means := g.basis.cells*ofScore.cells, [thresholds]float64{}
	for k := range means {
		means[k] = sums[2*k] / sums[2*k+1]
	}
	grid = addUp(n, cells+1, g.sc, func(lo, hi int, grid []float64) {
		rank, along, cell, squares := g.rank[lo:hi], along[lo:hi], g.cell[lo:hi], 0.0
		for i, w := range g.weight[lo:hi] {
			d := along[i] - w*means[cellOf(rank[i], ranges)]
			grid[int(cell[i])*mostCellsOfRank+cellOf(rank[i], mostCellsOfRank)] += d
			squares += d * d
		}
		grid[cells] = squares
	})
	return grid[:cells], grid[cells]
}

// beyond returns the derivative of the excess over a bound by the score of an event.
func (g *group[T]) beyond(excesses [][]float64, i int) (d float64) {
	for k, excess := range excesses {
		v, q := &g.views[k], g.rank[i]
		b, bins := int(v.bin[i]), v.Count()
		if v.bin[i] == events.NoPair {
			continue
		}
		beyond := excess[b] * 2 * q
		if q >= 0.5 {
			k, between := thresholdOf(min(q, highestRank))
			beyond = excess[k*bins+b]*(1-between) + excess[(k+1)*bins+b]*between
		}
		d += 2 * g.Factor / float64(bins*len(g.views)) * g.raw[i] * v.each[b] * beyond
	}
	return d
}
