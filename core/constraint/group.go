package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// collected has the background events of one label and category, in order of their places in the input. An event takes part if it has
// a weight, and a mass inside its limits.
type collected[T events.Float] struct {
	*measured[T]
	part    int // of the state
	basis   *basis
	views   []view[T]
	raw     []float64 // the weights, of either sign, per largest weight; 0: the event takes no part
	largest float64   // weight
	sizes   float64   // the sum of |raw|
	count   int       // of events that take part,
	pushed  int       // and of those among them that are in the batch
	sc      *par.Scratch
}

// view has the bins of one variable of mass, or of all variables together.
type view[T events.Float] struct {
	*loss.Prepared[T]
	bin    []uint32  // of each event, or events.NoPair
	each   []float64 // 1 over the sum of the raw weights in each bin
	ratios []float64 // of the mean size of all weights to the mean size in each bin,
	roots  []float64 // and their square roots
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

// collect returns the events of a subset that take part in a call.
func collect[T events.Float](ca *call[T], m *measured[T], sc *par.Scratch) collected[T] {
	n, weight := m.Size(), m.events.Weight
	c := collected[T]{measured: m, basis: &ofMasses[len(ca.limits)], raw: par.Make[float64](&sc.Arena, n), sc: sc}
	c.part = m.Label*max(ca.Categories, 1) + int(m.Category)
	for _, pr := range m.prs {
		c.views = append(c.views, view[T]{Prepared: pr.Unbounded(), bin: par.Unset[uint32](&sc.Arena, n)})
	}
	counts := addUp(n, 2, sc, func(lo, hi int, counts []float64) {
		for v := range c.views {
			bin := c.views[v].bin[lo:hi]
			m.prs[v].FindBins(bin, lo)
			for i, b := range bin {
				if b == events.NoPair {
					continue
				}
				c.raw[lo+i] = 1
				if weight != nil {
					c.raw[lo+i] = float64(weight[lo+i])
				}
			}
		}
		for i, w := range c.raw[lo:hi] {
			if w != 0 {
				counts[0]++
				if m.place(lo+i) < len(ca.push) {
					counts[1]++
				}
			}
		}
	})
	c.count, c.pushed = int(counts[0]), int(counts[1])
	for _, w := range c.raw {
		if size := math.Abs(w); size > c.largest { // floats.Norm takes 7 ns a weight
			c.largest = size
		}
	}
	return c
}

// weighed has collected events with the weights of the law.
type weighed[T events.Float] struct {
	collected[T]
	weight    []float64 // with which F_b counts events, see weigh
	size      float64   // the sum of |weight|
	total     float64   // of the sizes of the raw weights, where all events of a call have the mean 1
	effective float64   // the number of events in effect, (sum |weight|)^2 / sum weight^2
}

// mostRatio is the largest ratio of mean weights that the gradient is lifted by: no multiplier is larger than exp(mostLevel).
var mostRatio = math.Exp(2 * mostLevel)

// weigh sets the weights to those with which F_b counts events: the weight over the sum of weights in the bin, the mean of the
// variables of mass that the event has. So a mean weight that depends on the mass leaves no part of the mass without a push.
//
// Where weights are small the gradient of the classification is, and the push would be all that moves the scores. So the gradient is
// multiplied by the square root of the mean size of all weights over that of the weights in the bin, again the mean of the variables.
func (c collected[T]) weigh() weighed[T] {
	scale := min(1/c.largest, math.MaxFloat64) // 1/largest may overflow
	width := 1
	for v := range c.views {
		width += 3 * c.views[v].Count()
	}
	sums := addUp(len(c.raw), width, c.sc, func(lo, hi int, sums []float64) {
		raw, at := c.raw[lo:hi], sums[1:]
		for i, w := range raw {
			raw[i] = w * scale
			sums[0] += math.Abs(w * scale)
		}
		for v := range c.views {
			for i, b := range c.views[v].bin[lo:hi] {
				if w := raw[i]; w != 0 && b != events.NoPair {
					sums := at[3*b:][:3]
					sums[0] += w
					sums[1] += math.Abs(w)
					sums[2]++
				}
			}
			at = at[3*c.views[v].Count():]
		}
	})
	c.sizes = sums[0]
	mean, at := c.sizes/float64(c.count), sums[1:]
	for v := range c.views {
		view := &c.views[v]
		view.each, view.ratios, view.roots = make([]float64, view.Count()), make([]float64, view.Count()), make([]float64, view.Count())
		for b := range view.each {
			view.each[b], view.ratios[b] = 1/at[3*b], min(mean*at[3*b+2]/at[3*b+1], mostRatio)
			view.roots[b] = math.Sqrt(view.ratios[b])
		}
		at = at[3*view.Count():]
	}
	w := weighed[T]{collected: c, weight: par.Make[float64](&c.sc.Arena, len(c.raw))}
	sums = addUp(len(c.raw), 2, c.sc, func(lo, hi int, sums []float64) {
		weight, raw := w.weight[lo:hi], c.raw[lo:hi]
		for v := range c.views {
			each, share := c.views[v].each, 1/float64(c.views[v].Count())
			for i, b := range c.views[v].bin[lo:hi] {
				if b != events.NoPair {
					weight[i] += raw[i] * each[b] * share
				}
			}
		}
		var sum, squares float64
		for i, x := range weight {
			if len(c.views) > 1 && x != 0 {
				x /= float64(c.present(lo + i))
				weight[i] = x
			}
			sum += math.Abs(x)
			squares += x * x
		}
		sums[0], sums[1] = sum, squares
	})
	w.size, w.effective = sums[0], sums[0]*sums[0]/sums[1]
	return w
}

// present returns in how many views an event has a bin.
func (c *collected[T]) present(i int) (views int) {
	for v := range c.views {
		if c.views[v].bin[i] != events.NoPair {
			views++
		}
	}
	return views
}

// lift returns what the gradient of an event is multiplied by, see weigh.
func (c *collected[T]) lift(i int) float64 {
	if len(c.views) == 1 {
		return c.views[0].roots[c.views[0].bin[i]]
	}
	var ratio, present float64
	for v := range c.views {
		if b := c.views[v].bin[i]; b != events.NoPair {
			ratio += c.views[v].ratios[b]
			present++
		}
	}
	return math.Sqrt(ratio / present)
}

// leastTotal is the least sum of weights of a label and category, per largest weight of all, so that ratios to it are finite.
const leastTotal = 1e-100
