package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
	"gonum.org/v1/gonum/floats"
)

// group has the background events of one label and category that take part, in order of score: those with a weight, and with a mass
// inside its limits.
type group[T events.Float] struct {
	events.Subset
	basis     *basis
	sc        *par.Scratch
	views     []view[T]
	place     []uint32 // of each event in the input
	score     []float64
	masses    [][]T
	grad      []T       // of the loss
	raw       []float64 // the weights, of either sign, times unit
	weight    []float64 // with which F_b counts events, see weigh
	lift      []float64 // see weigh; nil: 1
	rank      []float64
	cell      []uint8 // of the masses
	unit      float64
	count     float64 // of events,
	pushed    float64 // of events that are in the batch,
	effective float64 // and of events in effect, (sum |weight|)^2 / sum weight^2
	sizes     float64 // the sum of |raw|
	size      float64 // the sum of |weight|
	total     float64 // sizes in a unit in which all events of a call have the mean 1
}

// view has the bins of one variable of mass, or of all variables together.
type view[T events.Float] struct {
	*loss.Prepared[T]
	bin  []uint32  // of each event, or events.NoPair
	each []float64 // 1 over the sum of the raw weights in each bin
}

// block is the number of events that a goroutine handles at a time, and mostSums the most numbers that goroutines have for sums.
const (
	block    = 1 << 14
	mostSums = 1 << 22
)

// inRange is how many effective events each of the ranges of scores needs in which the direction has the mean 0. There are at most as many
// ranges as thresholds.
const inRange = 20

// addUp returns the sums of what add adds to numbers of its own for each block of n events. They do not depend on the number of
// threads.
func addUp(n, width int, sc *par.Scratch, add func(lo, hi int, sums []float64)) []float64 {
	size := block
	for size < n && n/size*width > mostSums {
		size *= 2
	}
	all := par.Make[float64](&sc.Arena, (n+size-1)/size*width)
	sc.Team.Blocks(n, size, func(lo, hi int) { add(lo, hi, all[lo/size*width:][:width]) })
	for k := width; k < len(all); k += width {
		floats.Add(all[:width], all[k:][:width])
	}
	return all[:width]
}

// newGroup returns the events of a subset that take part in a call. There may be none.
func newGroup[T events.Float](ca *call[T], m *measured[T], sc *par.Scratch) *group[T] {
	ev, arena := &m.events, &sc.Arena
	words, index := m.prs[0].Order().Words, m.prs[0].Order().IndexMask
	if len(m.prs) > 1 { // no view has the order of all events
		sorted := radix.SortValues(ev.Score, sc)
		words, index = sorted.Words, sorted.IndexMask
	}
	g := &group[T]{Subset: m.Subset, basis: &ofMasses[len(ca.limits)], sc: sc, grad: m.grad}
	if len(m.prs) > 1 {
		g.grad = par.Unset[T](arena, len(words))
		for k, word := range words {
			g.grad[k] = m.grad[word&index]
		}
	}
	chosen := par.Unset[uint32](arena, len(words)) // places in the subset
	for k, word := range words {
		chosen[k] = uint32(word & index)
	}
	largest := 1.0 // of the weights
	if ev.Weight != nil || len(m.prs) > 1 {
		chosen, largest = m.choose(chosen, g.grad)
	}
	n := len(chosen)
	g.unit = events.UnitOf(largest)
	g.place, g.score, g.raw = chosen, par.Unset[float64](arena, n), par.Unset[float64](arena, n)
	if m.index != nil {
		g.place = par.Unset[uint32](arena, n)
	}
	for range ca.limits {
		g.masses = append(g.masses, par.Unset[T](arena, n))
	}
	for _, pr := range m.prs {
		g.views = append(g.views, view[T]{Prepared: pr.Unbounded(), bin: par.Unset[uint32](arena, n)})
	}
	sc.Team.Blocks(n, block, func(lo, hi int) {
		chosen := chosen[lo:hi]
		for v, mass := range ev.Variables() {
			events.Pick(g.masses[v][lo:hi], mass, chosen)
		}
		raw, score := g.raw[lo:hi], g.score[lo:hi]
		if len(m.prs) == 1 && n == len(words) {
			m.prs[0].Order().Decode(lo, hi, score, g.views[0].bin[lo:hi])
		} else {
			for v, pr := range m.prs {
				pr.PickBins(g.views[v].bin[lo:hi], chosen)
			}
			for j, i := range chosen {
				score[j] = float64(ev.Score[i])
			}
		}
		for j := range raw {
			raw[j] = 1
		}
		if ev.Weight != nil {
			for j, i := range chosen {
				raw[j] = float64(ev.Weight[i]) * g.unit
			}
		}
		if m.index != nil {
			events.Pick(g.place[lo:hi], m.index, chosen)
		}
	})
	if n > 0 {
		g.weigh(ev.Weight != nil, len(ca.push))
		g.setRanks()
		g.cell = par.Make[uint8](arena, n)
		for v, mass := range g.masses {
			g.addCells(mass, ca.limits[v], massCells[len(ca.limits)])
		}
	}
	return g
}

// mostRatio is the largest ratio of mean weights that the gradient is lifted by: no multiplier is larger than exp(mostLevel).
var mostRatio = math.Exp(2 * mostLevel)

// weigh sets the weights to those with which F_b counts events: the weight over the sum of weights in the bin, the mean of the
// variables of mass that the event has. So a mean weight that depends on the mass leaves no part of the mass without a push.
//
// Where weights are small the gradient of the classification is, and the push would be all that moves the scores. So the lift of the
// gradient is the square root of the mean size of all weights over that of the weights in the bin, again the mean of the variables.
func (g *group[T]) weigh(lifts bool, batch int) {
	n := len(g.raw)
	g.count, g.sizes = float64(n), floats.Norm(g.raw, 1)
	mean, shares, ratios := g.sizes/g.count, make([][]float64, len(g.views)), make([][]float64, len(g.views))
	for v := range g.views {
		view := &g.views[v]
		bins := view.Count()
		view.each, shares[v], ratios[v] = make([]float64, bins), make([]float64, bins), make([]float64, bins)
		for b, sum := range g.inBins(view, lifts) {
			view.each[b], ratios[v][b] = 1/sum[0], min(mean*sum[2]/sum[1], mostRatio)
			shares[v][b] = view.each[b] / float64(bins)
		}
	}
	g.weight = par.Make[float64](&g.sc.Arena, n)
	if lifts {
		g.lift = par.Make[float64](&g.sc.Arena, n)
	}
	sums := addUp(n, 3, g.sc, func(lo, hi int, sums []float64) {
		weight := g.weight[lo:hi]
		for v := range g.views {
			share, ratio := shares[v], ratios[v]
			for i, b := range g.views[v].bin[lo:hi] {
				if b == events.NoPair {
					continue
				}
				if weight[i] += share[b]; lifts {
					g.lift[lo+i] += ratio[b]
				}
			}
		}
		var size, squares float64
		for i, w := range g.raw[lo:hi] {
			if w *= weight[i]; lifts || len(g.views) > 1 {
				present := g.present(lo + i)
				if w /= present; lifts {
					g.lift[lo+i] = math.Sqrt(g.lift[lo+i] / present)
				}
			}
			weight[i] = w
			size += math.Abs(w)
			squares += w * w
		}
		sums[0], sums[1] = size, squares
		pushed := 0
		for _, at := range g.place[lo:hi] {
			if int(at) < batch {
				pushed++
			}
		}
		sums[2] = float64(pushed)
	})
	g.size, g.effective, g.pushed = sums[0], sums[0]*sums[0]/sums[1], sums[2]
}

// inBins returns the sum of the weights, the sum of their sizes, and the number of events in each bin of a view.
func (g *group[T]) inBins(v *view[T], weighted bool) [][3]float64 {
	bins := v.Count()
	all := make([][3]float64, bins)
	if !weighted {
		for b, count := range v.Order().Totals() {
			all[b] = [3]float64{count, count, count}
		}
		return all
	}
	sums := addUp(len(g.raw), 3*bins, g.sc, func(lo, hi int, sums []float64) {
		raw := g.raw[lo:hi]
		for i, b := range v.bin[lo:hi] {
			if b != events.NoPair {
				sums := sums[3*b:][:3]
				sums[0] += raw[i]
				sums[1] += math.Abs(raw[i])
				sums[2]++
			}
		}
	})
	for b := range all {
		all[b] = [3]float64(sums[3*b:])
	}
	return all
}

// present returns in how many views an event has a bin.
func (g *group[T]) present(i int) (views float64) {
	for v := range g.views {
		if g.views[v].bin[i] != events.NoPair {
			views++
		}
	}
	return views
}
