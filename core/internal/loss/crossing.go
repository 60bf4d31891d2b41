package loss

import (
	"slices"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
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
// so that the rows of the linear form hold them, and those of M_bb e^2.
type crossing struct {
	*walk
	arena  *par.Arena
	block  int   // the mark of the arena before the memory of a block
	state  []bin // without weights its start
	linear []lanes.Linear
	bounds correcting   // of integrand.correction
	ofBias lanes.Linear // the bias, if it is measured and all weights are 1

	bins      []uint32  // of the events of a block, as all that follows
	weights   []float64 // all 1 without weights
	scores, d []float64 // d: the changes of J
	biases    []float64 // the changes of the bias; nil: not wanted
	places    []float64 // where the integral has the events: at their scores, or at the probabilities of logits
	ones      []float64
}

// blockSize is a number of events that stay in cache between the loops over them.
const blockSize = 512

var ones = slices.Repeat([]float64{1}, blockSize)

// start moves to the state with these sums of weights and of squares of steps over the bins, and returns J and the bias there.
func (cr *crossing) start(weights, squares []float64) sums {
	in := cr.in
	cr.state, cr.linear = par.Unset[bin](cr.arena, in.bins), make([]lanes.Linear, len(in.rows))
	for g := range cr.linear {
		li := &cr.linear[g]
		li.Rows, li.Y[3] = par.Unset[lanes.Row](cr.arena, in.bins), 1
		copy(li.Rows, in.rows[g])
	}
	if in.measured && cr.Weights == nil {
		cr.ofBias = lanes.Linear{Rows: par.Make[lanes.Row](cr.arena, in.bins), Y: [4]float64{3: 1}}
	}
	for i, b := range in.start {
		step := b.step
		b.cdf = weights[i] * step
		if b.squares = b.cdf * step; squares != nil {
			b.squares = squares[i]
		}
		cr.addToSums(uint32(i), weights[i])
		row := &cr.linear[0].Rows[i]
		row.Y[3], row.X[3] = 2*step*b.cdf, 2*step*step
		if cr.Weights == nil {
			own := b.square * step * step
			g := own * b.factor
			if in.measured {
				cr.ofBias.Rows[i].Y[3], cr.ofBias.Rows[i].X[3] = -(g*step + g*(2*b.cdf-1)), -2*g*step
			}
			if !in.unbiased {
				g = 0
			}
			row.Y[3] += own + g*step + g*(2*b.cdf-1)
			row.X[3] += 2 * g * step
		}
		cr.state[i] = b
	}
	total := in.at(cr.state, par.Make[float64](cr.arena, in.span.Size))
	if in.correction != nil {
		total.add(cr.bounds.start(in.correction, cr.state, cr.arena))
	}
	cr.block = cr.arena.Mark()
	return total
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

// load makes the events lo..hi-1 the block to be crossed.
func (cr *crossing) load(lo, hi int) {
	cr.arena.Release(cr.block)
	n := hi - lo
	cr.bins, cr.scores = par.Unset[uint32](cr.arena, n), par.Unset[float64](cr.arena, n)
	cr.d, cr.ones = par.Unset[float64](cr.arena, n), ones[:min(n, blockSize)]
	if n > blockSize { // the block is one tie
		cr.ones = slices.Repeat([]float64{1}, n)
	}
	if cr.weights = cr.ones; cr.Weights != nil {
		cr.weights = cr.Weights[lo:hi]
	}
	if cr.in.measured {
		cr.biases = par.Unset[float64](cr.arena, n)
	}
	cr.Decode(lo, hi, cr.scores, cr.bins)
	cr.places = cr.scores
	if cr.limits.logits {
		cr.places = par.Unset[float64](cr.arena, n)
		for i, z := range cr.scores {
			cr.places[i] = probability(z)
		}
	}
}

// cross crosses the events of the block, and returns the shares of their changes of J and of the bias in integrals that end at this
// score.
func (cr *crossing) cross(end float64) (total sums) {
	cr.follow(cr.bins, cr.weights, cr.ones, cr.d, cr.biases)
	if lanes.FirstTie(cr.scores) < len(cr.scores)-1 {
		cr.centerTies()
	}
	if cr.in.correction != nil {
		total = cr.bounds.cross(cr, end)
	}
	total.j += lanes.Integrate(cr.d, cr.places, end)
	if cr.biases != nil {
		total.bias += lanes.Integrate(cr.biases, cr.places, end)
	}
	return total
}

// centerTies takes the changes by tied events to the middle of their tie, where half of each is below the score. J is quadratic in the
// state: the change there is the mean of the changes in two orders of the tie, forward and backward. Their difference does
// not depend on the state. So the walk takes four passes over each tie from where it is: along one order and back, and along the
// other and back.
func (cr *crossing) centerTies() {
	n := 4 * len(cr.bins)
	bins, weights, signs := par.Unset[uint32](cr.arena, n)[:0], par.Unset[float64](cr.arena, n)[:0], par.Unset[float64](cr.arena, n)[:0]
	radix.ForTies(cr.scores, func(lo, hi int) {
		for pass := range 4 {
			sign := float64(1 - 2*(pass%2))
			for i := range hi - lo {
				k := lo + i
				if pass == 1 || pass == 2 {
					k = hi - 1 - i
				}
				bins, weights, signs = append(bins, cr.bins[k]), append(weights, sign*cr.weights[k]), append(signs, sign)
			}
		}
	})
	changes := par.Unset[float64](cr.arena, len(bins))
	var biases []float64
	if cr.biases != nil {
		biases = par.Unset[float64](cr.arena, len(bins))
	}
	cr.follow(bins, weights, signs, changes, biases)
	done := 0
	radix.ForTies(cr.scores, func(lo, hi int) {
		n := hi - lo
		for i := range n {
			forward, backward := done+i, done+3*n-1-i
			cr.d[lo+i] += (changes[backward] - changes[forward]) / 2
			if biases != nil {
				cr.biases[lo+i] += (biases[backward] - biases[forward]) / 2
			}
		}
		done += 4 * n
	})
}

// follow takes steps, and sets d to their changes of J, and biases to those of the bias, if they are wanted. A step is an event, with the
// sign 1, or takes it back, with the opposite weight and the sign -1; then its changes mean nothing.
func (cr *crossing) follow(bins []uint32, weights, signs, d, biases []float64) {
	if cr.Weights == nil {
		if clear(d); biases != nil {
			clear(biases)
			lanes.Cross(&cr.ofBias, bins, weights, biases)
		}
	} else {
		subtracted := 0.0
		if cr.in.unbiased {
			subtracted = 1
		}
		state, weights, signs := cr.state, weights[:len(d)], signs[:len(d)]
		for i, number := range bins[:len(d)] {
			b := &state[number]
			e := weights[i] * b.step
			change := b.cross(e, e*e*signs[i])
			if d[i] = b.square * (e*e - subtracted*change); biases != nil {
				biases[i] = b.square * change
			}
		}
	}
	for g := range cr.linear {
		lanes.Cross(&cr.linear[g], bins, weights, d)
	}
}
