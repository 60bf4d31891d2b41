package loss

import (
	"slices"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
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
	*walk
	arena  *par.Arena
	block  int // the mark of the arena before the memory of a block
	state  []bin
	linear []lanes.Linear
	folded bool         // whether the rows of the linear form have the terms of e^2 and of V_b too
	tracks bool         // whether state follows F_b and V_b; otherwise the rows are enough
	bounds correcting   // of integrand.correction
	ofBias lanes.Linear // the bias, where nothing tracks V_b

	bins      []uint32  // of the events of a block, as all that follows
	weights   []float64 // all 1 without weights
	scores, d []float64 // d: the changes of J
	biases    []float64 // the changes of the bias; nil: not wanted
	places    []float64 // where the integral has the events: at their scores, or at the probabilities of logits

	ones    []float64
	changes []float64 // of V_b, by step
}

// blockSize is a number of events that stay in cache between the loops over them.
const blockSize = 512

var ones = slices.Repeat([]float64{1}, blockSize)

// start moves to the middle between where chunks k and l begin, and returns J and the bias there.
func (cr *crossing) start(k, l int) sums {
	in, rs := cr.in, cr.Records
	cr.state, cr.linear = par.Unset[bin](cr.arena, in.bins), make([]lanes.Linear, len(in.rows))
	cr.folded = rs.Weights == nil && (in.correction == nil || !in.unbiased)
	cr.tracks = !cr.folded || in.correction != nil && in.measured
	for g := range cr.linear {
		li := &cr.linear[g]
		li.Rows, li.Y[3] = par.Unset[lanes.Row](cr.arena, in.bins), 1
		copy(li.Rows, in.rows[g])
	}
	if in.measured && !cr.tracks {
		cr.ofBias = lanes.Linear{Rows: par.Make[lanes.Row](cr.arena, in.bins), Y: [4]float64{3: 1}}
	}
	for i, b := range in.start {
		step := b.step
		b.cdf = (rs.Sums[k*in.bins+i] + rs.Sums[l*in.bins+i]) / 2 * step
		if b.squares = b.cdf * step; in.squares != nil {
			b.squares = (in.squares[k*in.bins+i] + in.squares[l*in.bins+i]) / 2
		}
		cr.addToSums(uint32(i), b.cdf/step)
		row := &cr.linear[0].Rows[i]
		row.Y[3], row.X[3] = 2*step*b.cdf, 2*step*step
		if cr.folded {
			own := b.square * step * step
			g := own * b.factor
			if in.measured && !cr.tracks {
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
	if lanes.FirstTie(cr.scores) == len(cr.scores)-1 {
		cr.follow(steps{bins: cr.bins, weights: cr.weights, scale: cr.ones}, cr.d, cr.biases)
	} else {
		d, biases := cr.changesOf(cr.splitTies())
		total.j = cr.join(cr.d, d, end)
		if biases != nil {
			total.bias = cr.join(cr.biases, biases, end)
		}
	}
	total.j += lanes.Integrate(cr.d, cr.places, end)
	if cr.biases != nil {
		total.bias += lanes.Integrate(cr.biases, cr.places, end)
	}
	return total
}

// changesOf follows steps, and returns their changes of J and of the bias.
func (cr *crossing) changesOf(st steps) (d, biases []float64) {
	d = par.Unset[float64](cr.arena, len(st.bins))
	if cr.biases != nil {
		biases = par.Unset[float64](cr.arena, len(st.bins))
	}
	cr.follow(st, d, biases)
	return d, biases
}

// follow walks along steps, and sets d to their changes of J, and biases to those of the bias, if they are wanted.
func (cr *crossing) follow(st steps, d, biases []float64) {
	if cr.tracks {
		cr.changes = par.Unset[float64](cr.arena, len(d))
		own, subtracted := 1.0, 0.0 // the parts of the two terms
		if cr.in.unbiased {
			subtracted = 1
		}
		if cr.folded {
			own = 0
		}
		state, weights, scale, changes := cr.state, st.weights[:len(d)], st.scale[:len(d)], cr.changes[:len(d)]
		for i, number := range st.bins[:len(d)] {
			b := &state[number]
			e := weights[i] * b.step
			square := e * e
			changes[i] = b.change(e, square*scale[i])
			d[i] = own * b.square * (square - subtracted*changes[i])
			b.cdf, b.squares = b.cdf+e, b.squares+square*scale[i]
		}
		for i := range biases {
			biases[i] = state[st.bins[i]].square * changes[i]
		}
	} else {
		clear(d)
		if clear(biases); biases != nil {
			lanes.Cross(&cr.ofBias, st.bins, st.weights, biases)
		}
	}
	for g := range cr.linear {
		lanes.Cross(&cr.linear[g], st.bins, st.weights, d)
	}
	if cr.in.correction != nil {
		for i, scale := range st.scale {
			if scale != 1 { // without bounds, the changes by half events add up to 0
				if d[i] = 0; biases != nil {
					biases[i] = 0
				}
			}
		}
		cr.bounds.cross(st, cr.changes, d, biases)
	}
}
