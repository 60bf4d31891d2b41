package walk

import "gonum.org/v1/gonum/floats"

// steps are changes of F_b, each in one bin. An event that is not tied is one step. The middle of a tie is the state with half
// of each of its events. A tied event is the step across this middle, from half an event before it to half an event after it.
// Further steps of half an event lead from one such step to the next.
type steps struct {
	bins    []uint32
	weights []float64 // of the steps
	// scale has for each step the factor between the square of its weight and its change of the sum of squares of the bin: 1 for
	// an event, 2 for half an event and -2 for taking a half back. It is empty unless crossing.scaled.
	scale []float64
}

// tie is the events from..to-1 of a block, of one score.
type tie struct{ from, to int }

// fullStep returns the step that is event i of a tie of n events, among the steps of the tie.
func fullStep(i, n int) int { return n - 1 + 3*i }

func (st *steps) clear() { st.bins, st.weights, st.scale = st.bins[:0], st.weights[:0], st.scale[:0] }

// add adds a part of event i of a block: 1, 1/2 or -1/2.
func (st *steps) add(cr *crossing, i int, part float64) {
	st.bins, st.weights = append(st.bins, cr.bins[i]), append(st.weights, part*cr.weights[i])
	if cr.scaled {
		st.scale = append(st.scale, 1/part)
	}
}

// addFree adds events that are not tied.
func (st *steps) addFree(cr *crossing, from, to int) {
	st.bins, st.weights = append(st.bins, cr.bins[from:to]...), append(st.weights, cr.weights[from:to]...)
	if cr.scaled {
		st.scale = append(st.scale, cr.ones[from:to]...)
	}
}

// splitTies sets the steps of a block.
func (cr *crossing) splitTies() {
	st, done := &cr.split, 0
	st.clear()
	for _, t := range cr.ties {
		st.addFree(cr, done, t.from)
		for i := t.from + 1; i < t.to; i++ {
			st.add(cr, i, .5)
		}
		st.add(cr, t.from, 1)
		for i := t.from + 1; i < t.to; i++ {
			st.add(cr, i-1, -.5)
			st.add(cr, i, -.5)
			st.add(cr, i, 1)
		}
		for i := t.from; i < t.to-1; i++ {
			st.add(cr, i, .5)
		}
		done = t.to
	}
	st.addFree(cr, done, len(cr.bins))
}

// join copies the changes of J from the steps to the events of a block. The steps of half events belong to no event: join
// returns the integral of their changes of J, which is 0 unless moments are bounded.
func (cr *crossing) join(end float64) (jumps float64) {
	d, changes := cr.d, cr.splitD // the rest of both
	done := 0
	for _, t := range cr.ties {
		free, n := t.from-done, t.to-t.from
		copy(d, changes[:free])
		d, changes, done = d[free:], changes[free:], t.to
		for i := range n {
			d[i], changes[fullStep(i, n)] = changes[fullStep(i, n)], 0
		}
		all := 5*n - 4 // the steps of the tie
		if cr.in.correction != nil {
			jumps += floats.Sum(changes[:all]) * (end - cr.scores[t.from])
		}
		d, changes = d[n:], changes[all:]
	}
	copy(d, changes)
	return jumps
}

// crossTie finds the changes of J by the events of a block of one tie. The walk is in the middle of the tie.
func (cr *crossing) crossTie() {
	cr.split.clear()
	for i := range cr.bins {
		cr.split.add(cr, i, -.5)
		cr.split.add(cr, i, 1)
		cr.split.add(cr, i, -.5)
	}
	cr.walkSplit()
	for i := range cr.d {
		cr.d[i] = cr.splitD[3*i+1]
	}
}
