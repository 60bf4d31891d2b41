package walk

import (
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/order"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
)

// crossing crosses the events of a chunk, a block at a time, in one goroutine. It goes from state to state by steps in one bin
// each (steps.go). A step e in bin b changes J by
//
//	2 e (M F)_b + M_bb e^2 - M_bb (change of V_b),   (M F)_b = F_b - x_b.X + y_b.Y
//
// and the correction for bounds comes on top.
//
// Where all weights are 1 and nothing else needs the changes of V_b, these are linear in F_b,
//
//	M_bb g_b (1 - 2 F_b - e),   g_b = e^2 times the factor of V_b
//
// so that the rows of the linear form hold them.
type crossing struct {
	in     *Integrand
	state  []bin
	linear []lanes.Linear
	c      []float64
	tracks bool // whether F_b and V_b are followed in state; otherwise the rows of the linear form have all that is needed
	scaled bool // whether steps need their scale
	bounds correcting

	bins      []uint32  // of the events of a block, as all that follows
	weights   []float64 // all 1 without weights
	scores, d []float64 // d: the changes of J

	ones    []float64
	split   steps     // of a block that has ties
	splitD  []float64 // and their changes of J
	ties    []tie     // of the block
	changes []float64 // of V_b, by step
}

// blockSize is a number of events that stay in cache between the loops over them.
const blockSize = 512

// start moves to the middle between where chunks k and l begin, and returns J there.
func (cr *crossing) start(in *Integrand, su *order.Sums, k, l int, weighted bool) float64 {
	cr.in, cr.state, cr.linear = in, par.Grown(cr.state, in.bins), par.Grown(cr.linear, len(in.linear.rows))
	cr.c = par.Grown(cr.c, in.linear.basis.Size)
	cr.tracks = weighted || in.correction != nil && in.variance != nil
	cr.scaled = cr.tracks || in.correction != nil
	for g := range cr.linear {
		li := &cr.linear[g]
		li.Rows, li.X, li.Y = append(li.Rows[:0], in.linear.rows[g]...), [4]float64{}, [4]float64{3: 1}
	}
	for i, step := range in.step {
		b := bin{step: step, square: in.linear.square[i], cdf: (su.Totals[k*in.bins+i] + su.Totals[l*in.bins+i]) / 2 * step}
		if in.variance != nil {
			b.total, b.factor, b.squares = in.variance.totals[i], in.variance.factor[i], b.cdf*step
			if su.Squares != nil {
				b.squares = (su.Squares[k*in.bins+i] + su.Squares[l*in.bins+i]) / 2
			}
		}
		cr.addToSums(uint32(i), b.cdf/step)
		row := &cr.linear[0].Rows[i]
		row.Y[3], row.X[3] = 2*step*b.cdf, 2*step*step
		if !cr.tracks {
			own := b.square * step * step
			g := own * b.factor
			row.Y[3] += own + g*step + g*(2*b.cdf-1)
			row.X[3] += 2 * g * step
		}
		cr.state[i] = b
	}
	j := in.linear.at(cr.state, cr.c)
	if in.correction != nil {
		j += cr.bounds.start(in.correction, cr.state)
	}
	return j
}

// addToSums adds an event of a weight in a bin to the sums of the linear form.
func (cr *crossing) addToSums(b uint32, weight float64) {
	for g := range cr.linear {
		li := &cr.linear[g]
		row := &li.Rows[b]
		for l := range 3 {
			li.X[l] -= weight * row.X[l]
			li.Y[l] += weight * row.Y[l]
		}
		row.Y[3] += weight * row.X[3]
	}
}

// load makes room for a block of n events, and returns where their scores and bins go.
func (cr *crossing) load(n int, weights []float64) (scores []float64, bins []uint32) {
	cr.bins, cr.scores, cr.d = par.Grown(cr.bins, n), par.Grown(cr.scores, n), par.Grown(cr.d, n)
	for len(cr.ones) < n {
		cr.ones = append(cr.ones, 1)
	}
	if cr.weights = weights; weights == nil {
		cr.weights = cr.ones[:n]
	}
	return cr.scores, cr.bins
}

// cross crosses the events of the block, and returns the share of their changes of J in an integral that ends at this score.
func (cr *crossing) cross(end float64) float64 {
	var jumps float64
	cr.ties = cr.ties[:0]
	radix.ForTies(cr.scores, func(from, to int) { cr.ties = append(cr.ties, tie{from, to}) })
	if len(cr.ties) == 0 {
		cr.walk(steps{cr.bins, cr.weights, cr.ones[:len(cr.bins)]}, cr.d)
	} else {
		cr.splitTies()
		cr.walkSplit()
		jumps = cr.join(end)
	}
	return lanes.Integrate(cr.d, cr.scores, end) + jumps
}

// walkSplit walks along the steps of a block that has ties.
func (cr *crossing) walkSplit() {
	cr.splitD = par.Grown(cr.splitD, len(cr.split.bins))
	cr.walk(cr.split, cr.splitD)
}

// walk walks along steps, and sets d to their changes of J.
func (cr *crossing) walk(st steps, d []float64) {
	if cr.tracks {
		cr.changes = par.Grown(cr.changes, len(d))
		state, weights, scale, changes := cr.state, st.weights[:len(d)], st.scale[:len(d)], cr.changes[:len(d)]
		for i, number := range st.bins[:len(d)] {
			b := &state[number]
			e := weights[i] * b.step
			square := e * e
			changes[i] = b.change(e, square*scale[i])
			d[i] = b.square * (square - changes[i])
			b.cdf, b.squares = b.cdf+e, b.squares+square*scale[i]
		}
	} else {
		clear(d)
	}
	for g := range cr.linear {
		cr.linear[g].Cross(st.bins, st.weights, d)
	}
	if cr.in.correction != nil {
		for i, scale := range st.scale {
			if scale != 1 {
				d[i] = 0 // without bounds, the changes by half events add up to 0
			}
		}
		cr.bounds.cross(st, cr.changes, d)
	}
}
