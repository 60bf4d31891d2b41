package walk

import (
	"sync"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/order"
	"github.com/libmode/libmode/core/internal/par"
)

// crossing crosses the events of a chunk, a block at a time, in one goroutine. An event with a step e in bin b changes J by
//
//	2 e (M F)_b + M_bb e^2 - M_bb (change of V_b),   (M F)_b = F_b - x_b.X + y_b.Y
//
// and the correction for bounds comes on top. An event of a tie crosses the middle of the tie. As J without bounds is
// quadratic in the state, the changes of these events add up to that of the tie.
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
	tracks bool // whether a loop over the events follows F_b and V_b
	bounds correcting

	bins      []uint32  // of the events of a block, as all that follows
	weights   []float64 // all 1 without weights
	ones      []float64
	scores, d []float64 // d: the changes of J
	changes   []float64 // of V_b
	end       float64   // where the integral over the chunk ends
	jumps     float64   // the integral of what J changes at ties beside d
}

var crossings = sync.Pool{New: func() any { return new(crossing) }}

// blockSize is a number of events that stay in cache between the loops over them.
const blockSize = 512

// start moves to the middle between where chunks k and l begin, and returns J there.
func (cr *crossing) start(in *Integrand, su *order.Sums, k, l int, weighted bool) float64 {
	cr.in, cr.state, cr.linear = in, par.Grown(cr.state, in.bins), par.Grown(cr.linear, len(in.linear.rows))
	cr.c = par.Grown(cr.c, in.linear.basis.Size)
	cr.tracks = weighted || in.correction != nil && in.variance != nil
	for g := range cr.linear {
		li := &cr.linear[g]
		li.Rows, li.X, li.Y = append(li.Rows[:0], in.linear.rows[g]...), [4]float64{}, [4]float64{3: 1}
	}
	for i, unit := range in.unit {
		b := bin{unit: unit, square: in.linear.square[i], cdf: (su.Totals[k*in.bins+i] + su.Totals[l*in.bins+i]) / 2 * unit}
		if in.variance != nil {
			b.total, b.factor, b.squares = in.variance.totals[i], in.variance.factor[i], b.cdf*unit
			if su.Squares != nil {
				b.squares = (su.Squares[k*in.bins+i] + su.Squares[l*in.bins+i]) / 2
			}
		}
		cr.addToSums(uint32(i), b.cdf/unit)
		row := &cr.linear[0].Rows[i]
		row.Y[3], row.X[3] = 2*unit*b.cdf, 2*unit*unit
		if !cr.tracks {
			own := b.square * unit * unit
			g := own * b.factor
			b.offset = own + g*unit
			row.Y[3] += b.offset + g*(2*b.cdf-1)
			row.X[3] += 2 * g * unit
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
	cr.bins, cr.scores, cr.d, cr.changes = par.Grown(cr.bins, n), par.Grown(cr.scores, n), par.Grown(cr.d, n), par.Grown(cr.changes, n)
	if cr.weights = weights; weights == nil {
		for len(cr.ones) < n {
			cr.ones = append(cr.ones, 1)
		}
		cr.weights = cr.ones[:n]
	}
	return cr.scores, cr.bins
}

// cross crosses the events of the block, and returns what their changes of J add to an integral that ends at a score.
func (cr *crossing) cross(end float64) float64 {
	cr.end, cr.jumps = end, 0
	done := 0
	forTies(cr.scores, func(from, to int) {
		cr.crossRun(done, from)
		cr.crossHalf(from, to)
		cr.crossMiddle(from, to)
		cr.crossHalf(from, to)
		if cr.in.correction != nil {
			cr.bounds.addPoint(cr, jumpAt(from), 0, 0, 0)
		}
		done = to
	})
	cr.crossRun(done, len(cr.bins))
	if cr.in.correction != nil {
		cr.bounds.finish(cr)
	}
	return lanes.Integrate(cr.d, cr.scores, end) + cr.jumps
}

// crossTie finds the changes of J by the events of the block, all of one tie in whose middle the walk is.
func (cr *crossing) crossTie() {
	cr.crossMiddle(0, len(cr.bins))
	if cr.in.correction != nil {
		cr.bounds.finish(cr)
	}
}

// forTies calls f for each tie among sorted scores, from..to-1.
func forTies(scores []float64, f func(from, to int)) {
	for i := lanes.FirstTie(scores); i < len(scores)-1; {
		end := i + 2
		for end < len(scores) && scores[i] == scores[end] {
			end++
		}
		f(i, end)
		if i = end; i < len(scores) {
			i += lanes.FirstTie(scores[i:])
		}
	}
}

// crossRun crosses the events from..to-1, none of which is tied.
func (cr *crossing) crossRun(from, to int) {
	bins, weights, d, changes := cr.bins[from:to], cr.weights[from:to], cr.d[from:to], cr.changes[from:to]
	if cr.tracks {
		state := cr.state
		for i, number := range bins {
			b := &state[number]
			e := weights[i] * b.unit
			square := e * e
			changes[i] = b.change(e, square)
			d[i] = b.square * (square - changes[i])
			b.move(e, square)
		}
	} else {
		clear(d)
	}
	for g := range cr.linear {
		cr.linear[g].Cross(bins, weights, d)
	}
	if cr.in.correction != nil {
		cr.bounds.crossRun(cr, from, to)
	}
}

// crossHalf crosses half of each event of a tie.
func (cr *crossing) crossHalf(from, to int) {
	for i := from; i < to; i++ {
		b, weight := &cr.state[cr.bins[i]], cr.weights[i]/2
		e := weight * b.unit
		square := 2 * e * e
		if cr.in.correction != nil {
			cr.bounds.add(cr.bins[i], weight, b.change(e, square))
		}
		b.move(e, square)
		cr.addToSums(cr.bins[i], weight)
	}
}

// crossMiddle finds the changes of J by events of a tie about its middle, where the walk is.
func (cr *crossing) crossMiddle(from, to int) {
	for i := from; i < to; i++ {
		b, weight := &cr.state[cr.bins[i]], cr.weights[i]
		e := weight * b.unit
		var down, up float64
		if cr.tracks {
			down, up = b.change(-e/2, -e*e/2), b.change(e/2, e*e/2)
		}
		sum := -b.offset
		for g := range cr.linear {
			li := &cr.linear[g]
			row := &li.Rows[cr.bins[i]]
			for l, y := range row.Y {
				sum += y*li.Y[l] + row.X[l]*li.X[l]
			}
		}
		cr.d[i] = weight*sum - b.square*(up-down)
		if cr.in.correction != nil {
			cr.bounds.addPoint(cr, jumpAt(from), cr.bins[i], -weight/2, down)
			cr.bounds.addPoint(cr, i, cr.bins[i], weight/2, up)
		}
	}
}
