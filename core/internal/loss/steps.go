package loss

import (
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
	"gonum.org/v1/gonum/floats"
)

// steps are changes of F_b, each in one bin. An event that is not tied is one step. The middle of a tie is the state with half
// of each of its events. A tied event is the step across this middle, from half an event before it to half an event after it.
// Further steps of half an event lead from one such step to the next.
type steps struct {
	bins    []uint32
	weights []float64 // of the steps
	// scale has for each step the factor between the square of its weight and its change of the sum of squares of the bin: 1 for
	// an event, 2 for half an event and -2 for taking a half back.
	scale []float64
}

// fullStep returns the step that is event i of a tie of n events, among the steps of the tie.
func fullStep(i, n int) int { return n - 1 + 3*i }

// newSteps returns no steps, with room for n.
func newSteps(n int, arena *par.Arena) steps {
	return steps{bins: par.Unset[uint32](arena, n)[:0], weights: par.Unset[float64](arena, n)[:0], scale: par.Unset[float64](arena, n)[:0]}
}

// add adds a part of event i of a block: 1, 1/2 or -1/2.
func (st *steps) add(cr *crossing, i int, part float64) {
	st.bins, st.weights, st.scale = append(st.bins, cr.bins[i]), append(st.weights, part*cr.weights[i]), append(st.scale, 1/part)
}

// addFree adds events that are not tied.
func (st *steps) addFree(cr *crossing, from, to int) {
	st.bins, st.weights = append(st.bins, cr.bins[from:to]...), append(st.weights, cr.weights[from:to]...)
	st.scale = append(st.scale, cr.ones[from:to]...)
}

// addTie adds the steps across the events of a tie, each from half an event before the middle to half an event after it. The
// steps begin and end in the middle of the tie. If the events are all of the tie, the steps begin below it and end above it.
func (st *steps) addTie(cr *crossing, from, to int, whole bool) {
	for i := from + 1; i < to && whole; i++ {
		st.add(cr, i, .5)
	}
	for i := from; i < to; i++ {
		if i > from || !whole {
			st.add(cr, i, -.5)
		}
		st.add(cr, i, 1)
		if i < to-1 || !whole {
			st.add(cr, i, -.5)
		}
	}
	for i := from; i < to-1 && whole; i++ {
		st.add(cr, i, .5)
	}
}

// splitTies returns the steps of a block.
func (cr *crossing) splitTies() steps {
	st, done := newSteps(5*len(cr.bins), cr.arena), 0
	radix.ForTies(cr.scores, func(from, to int) {
		st.addFree(cr, done, from)
		st.addTie(cr, from, to, true)
		done = to
	})
	st.addFree(cr, done, len(cr.bins))
	return st
}

// join copies changes from the steps to the events of a block. The steps of half events belong to no event: join
// returns the integral of their changes, which is 0 unless moments are bounded.
func (cr *crossing) join(d, changes []float64, end float64) (jumps float64) {
	done := 0 // d and changes are the rest of both
	radix.ForTies(cr.scores, func(from, to int) {
		free, n := from-done, to-from
		copy(d, changes[:free])
		d, changes, done = d[free:], changes[free:], to
		for i := range n {
			d[i], changes[fullStep(i, n)] = changes[fullStep(i, n)], 0
		}
		all := 5*n - 4 // the steps of the tie
		if cr.in.correction != nil {
			jumps += floats.Sum(changes[:all]) * (end - cr.places[from])
		}
		d, changes = d[n:], changes[all:]
	})
	copy(d, changes)
	return jumps
}

// crossTie finds the changes of J by the events of a block of one tie. The walk is in the middle of the tie.
func (cr *crossing) crossTie() {
	st := newSteps(3*len(cr.bins), cr.arena)
	st.addTie(cr, 0, len(cr.bins), false)
	changes, _ := cr.changesOf(st)
	for i := range cr.d {
		cr.d[i] = changes[3*i+1]
	}
}
