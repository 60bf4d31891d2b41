package walk

import "github.com/libmode/libmode/core/internal/radix"

// steps are steps in one bin each. An event that is not tied is one step. In the middle of a tie half of each of its events has
// been added. A tied event is the step from half of it below the middle to half of it above. Other steps, of half an event,
// lead there and away. J without bounds is quadratic in the state: the changes by the events of a tie add up to the change by
// the tie, and the changes by the other steps do not count.
type steps struct {
	bins    []uint32
	weights []float64 // of the steps
	parts   []float64 // the square of a step counts times this in sums of squares: 1 for an event, 2 or -2 for a half
	owners  []int     // the event i of the block that a step is; -1 - i: none, at the score of event i
}

func (st *steps) clear() {
	st.bins, st.weights, st.parts, st.owners = st.bins[:0], st.weights[:0], st.parts[:0], st.owners[:0]
}

// add adds a part of event i of a block: 1, 1/2 or -1/2.
func (st *steps) add(cr *crossing, i int, part float64) {
	owner := i
	if part != 1 {
		owner = -1 - i
	}
	st.bins, st.weights = append(st.bins, cr.bins[i]), append(st.weights, part*cr.weights[i])
	st.parts, st.owners = append(st.parts, 1/part), append(st.owners, owner)
}

// splitTies sets the steps of a block.
func (cr *crossing) splitTies() {
	st, done := &cr.split, 0
	st.clear()
	addFree := func(to int) {
		st.bins, st.weights = append(st.bins, cr.bins[done:to]...), append(st.weights, cr.weights[done:to]...)
		st.parts, st.owners = append(st.parts, cr.ones[done:to]...), append(st.owners, cr.places[done:to]...)
	}
	radix.ForTies(cr.scores, func(from, to int) {
		addFree(from)
		for i := from + 1; i < to; i++ {
			st.add(cr, i, .5)
		}
		st.add(cr, from, 1)
		for i := from + 1; i < to; i++ {
			st.add(cr, i-1, -.5)
			st.add(cr, i, -.5)
			st.add(cr, i, 1)
		}
		for i := from; i < to-1; i++ {
			st.add(cr, i, .5)
		}
		done = to
	})
	addFree(len(cr.bins))
}
