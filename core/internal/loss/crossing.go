package loss

import (
	"slices"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/sorted"
)

// crossing crosses the events of a chunk, a block at a time, in one goroutine. An event of weight w in bin b is a step e = w/W_b, which
// changes J by
//
//	2 e (M F)_b + M_bb e^2 - M_bb (change of V_b),   (M F)_b = F_b - x_b.X + y_b.Y
//
// and the correction for bounds comes on top. Where all weights are 1 the changes of V_b are linear in F_b,
//
//	M_bb g_b (1 - 2 F_b - e),   g_b = e^2 times the factor of V_b
//
// so that the rows of the linear form hold them, and the terms M_bb e^2 too.
type crossing struct {
	*walk
	arena  *par.Arena
	block  int   // the mark of the arena before the memory of a block
	state  []bin // without weights where a chunk starts
	linear []lanes.Linear
	bounds correcting // of integrand.correction
	ofBias []bin      // the state of the bias, if it is measured

	bins      []uint32  // of the events of a block, as all that follows
	weights   []float64 // all 1 without weights
	scores, d []float64 // d: the changes of J
}

var ones = slices.Repeat([]float64{1}, par.Block)

// start moves to the state with these sums of weights and of squares of steps over the bins, and returns J, as a loss, and the bias there.
func (cr *crossing) start(weights, squares []float64) (at Result) {
	in := cr.in
	cr.linear = make([]lanes.Linear, len(in.rows))
	for g, rows := range in.rows {
		cr.linear[g] = linearAt(rows, weights, cr.arena)
	}
	cr.state = stateAt(in.start, weights, squares, cr.arena)
	at.Loss = in.at(cr.state, par.Make[float64](cr.arena, in.span.Size))
	tracked := cr.state
	if in.measured {
		cr.ofBias = stateAt(in.variances, weights, squares, cr.arena)
		for i := range cr.ofBias {
			at.Bias += cr.ofBias[i].variance() * cr.ofBias[i].square
		}
		tracked = cr.ofBias
	}
	if in.correction != nil {
		at.Loss += cr.bounds.start(in.correction, tracked, cr.arena)
		at.Bias += cr.bounds.bias
	}
	cr.block = cr.arena.Mark()
	return at
}

// stateAt returns bins with these sums of weights and of squares of steps.
func stateAt(bins []bin, weights, squares []float64, arena *par.Arena) []bin {
	state := par.Unset[bin](arena, len(bins))
	for i, b := range bins {
		b.cdf = weights[i] * b.step
		if b.squares = b.cdf * b.step; squares != nil {
			b.squares = squares[i]
		}
		state[i] = b
	}
	return state
}

// linearAt returns a linear form with these rows at the state with these sums of weights over the bins.
func linearAt(rows []lanes.Row, weights []float64, arena *par.Arena) lanes.Linear {
	li := lanes.Linear{Rows: append(par.Unset[lanes.Row](arena, len(rows))[:0], rows...), Y: [4]float64{3: 1}}
	for b, w := range weights {
		row := &li.Rows[b]
		for l := range 3 {
			li.X[l] -= w * row.X[l]
			li.Y[l] += w * row.Y[l]
		}
		row.Y[3] += w * row.X[3]
	}
	return li
}

// cross crosses a block, the events lo..hi-1, and returns the shares of their changes of J and of the bias in integrals that end at
// this score.
func (cr *crossing) cross(lo, hi int, end float64) (total Result) {
	cr.arena.Release(cr.block)
	n := hi - lo
	cr.bins, cr.scores = par.Unset[uint32](cr.arena, n), par.Unset[float64](cr.arena, n)
	cr.Decode(lo, hi, cr.scores, cr.bins)
	cr.d = par.Unset[float64](cr.arena, n)
	signs := ones[:min(n, par.Block)]
	if n > par.Block { // the block is one tie
		signs = slices.Repeat([]float64{1}, n)
	}
	if cr.weights = signs; cr.Weights != nil {
		cr.weights = cr.Weights[lo:hi]
	}
	cr.follow(cr.bins, cr.weights, signs, cr.d)
	cr.centerTies()
	if cr.in.correction != nil {
		total = cr.bounds.cross(cr, end)
	}
	total.Loss += lanes.Integrate(cr.d, cr.scores, end)
	if cr.ofBias != nil { // the order of tied events does not matter
		for i, number := range cr.bins {
			b := &cr.ofBias[number]
			e := cr.weights[i] * b.step
			total.Bias += float64(b.square*b.cross(e, e*e)) * (end - cr.scores[i])
		}
	}
	return total
}

// centerTies takes the changes by tied events to the middle of their tie, where half of each is below the score. J is quadratic in the
// state: the change there is the mean of the changes in two orders of the tie, forward and backward. Their difference does
// not depend on the state. So the walk goes along each tie from where it is, and takes the events back in the same order: each leaves
// the events after it behind, as in the backward order.
func (cr *crossing) centerTies() {
	n := 2 * len(cr.bins)
	ties := par.Unset[[2]int](cr.arena, n)[:0]
	bins, weights, signs := par.Unset[uint32](cr.arena, n)[:0], par.Unset[float64](cr.arena, n)[:0], par.Unset[float64](cr.arena, n)[:0]
	sorted.ForTies(cr.scores, func(lo, hi int) {
		ties = append(ties, [2]int{lo, hi})
		for sign := 1.0; sign >= -1; sign -= 2 {
			bins = append(bins, cr.bins[lo:hi]...)
			for _, w := range cr.weights[lo:hi] {
				weights, signs = append(weights, sign*w), append(signs, sign)
			}
		}
	})
	if len(ties) == 0 {
		return
	}
	changes := par.Unset[float64](cr.arena, len(bins))
	cr.follow(bins, weights, signs, changes)
	for _, tie := range ties {
		d := cr.d[tie[0]:tie[1]]
		for i := range d {
			if d[i] -= (changes[i] + changes[len(d)+i]) / 2; cr.Weights == nil {
				d[i] -= cr.in.back[cr.bins[tie[0]+i]]
			}
		}
		changes = changes[2*len(d):]
	}
}

// follow takes steps, and sets d to their changes of J. A step is an event, with the sign 1, or takes it back, with the opposite weight
// and the sign -1. Without weights integrand.back is left out of the latter.
func (cr *crossing) follow(bins []uint32, weights, signs, d []float64) {
	if cr.Weights == nil {
		clear(d)
	} else {
		state, weights, signs := cr.state, weights[:len(d)], signs[:len(d)]
		for i, number := range bins[:len(d)] {
			b := &state[number]
			e := weights[i] * b.step
			d[i] = b.square * (e*e - b.cross(e, e*e*signs[i]))
		}
	}
	for g := range cr.linear {
		lanes.Cross(&cr.linear[g], bins, weights, d)
	}
}
