package walk

import (
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// correcting follows a correction along the events of a chunk. It collects points, and then finds the change of J from each
// point to the next. An event that is not tied has one point, above it. An event of a tie has two, half of its step below and
// above the middle of the tie, and one more is above the tie.
type correcting struct {
	*correction
	sums   [][4]float64
	lanes  []lanes.Lane
	count  int               // of points
	owners [lanes.Points]int // the event of the block whose change of J leads to each point, or jumpAt
}

// jumpAt marks a change of J at the score of an event that is in no derivative.
func jumpAt(event int) int { return -1 - event }

// start moves to a state, and returns the correction there.
func (co *correcting) start(of *correction, state []bin) float64 {
	co.correction = of
	co.lanes, co.sums = par.Grown(co.lanes, of.lanes), par.Grown(co.sums, len(of.rows))
	for i := range co.lanes {
		co.lanes[i][0] = 0
	}
	co.lanes[of.zeros] = lanes.Lane{}
	for i := range co.lanes[of.ones] {
		co.lanes[of.ones][i] = 1
	}
	clear(co.sums)
	for i := range state {
		b := &state[i]
		co.add(uint32(i), b.cdf/b.unit, b.variance())
	}
	co.setPoint(0, 0, 0)
	return co.evaluate()[0] // from 0
}

// add adds to the sums an event of this weight in a bin, or a part of one, by which V_b changes by v.
func (co *correcting) add(b uint32, weight, v float64) {
	for g := range co.sums {
		co.addTo(&co.sums[g], g, b, weight, v)
	}
}

func (co *correcting) addTo(sums *[4]float64, g int, b uint32, weight, v float64) {
	if g >= co.weighted {
		weight = v
	}
	for k, x := range co.rows[g][b] {
		sums[k] += weight * x
	}
}

// crossRun crosses the events from..to-1 of a block, none of which is tied.
func (co *correcting) crossRun(cr *crossing, from, to int) {
	for from < to {
		n := min(to-from, lanes.Points-co.count)
		for i := range n {
			co.owners[co.count+i] = from + i
		}
		for g := range co.sums {
			weights, steps := cr.changes[from:from+n], []lanes.Lane(nil)
			if g < co.weighted {
				weights, steps = cr.weights[from:from+n], co.lanes[4*(len(co.rows)+g):]
			}
			lanes.Follow(co.lanes[4*g:], steps, co.count+1, &co.sums[g], co.rows[g], cr.bins[from:from+n], weights)
		}
		from, co.count = from+n, co.count+n
		if co.count == lanes.Points {
			co.finish(cr)
		}
	}
}

// addPoint adds a point that is off the sums by half an event, or by nothing.
func (co *correcting) addPoint(cr *crossing, owner int, b uint32, weight, v float64) {
	co.setPoint(b, weight, v)
	if owner >= 0 { // from half the event below the middle
		for g := range co.weighted {
			for k, x := range co.rows[g][b] {
				co.lanes[4*(len(co.rows)+g)+k][co.count] = 2 * weight * x
			}
		}
	}
	co.owners[co.count-1] = owner
	if co.count == lanes.Points {
		co.finish(cr)
	}
}

func (co *correcting) setPoint(b uint32, weight, v float64) {
	co.count++
	for g, sums := range co.sums {
		co.addTo(&sums, g, b, weight, v)
		for k, sum := range sums {
			lane := &co.lanes[4*g+k]
			lane[co.count] = sum
			if g < co.weighted {
				co.lanes[4*(len(co.rows)+g)+k][co.count] = sum - lane[co.count-1]
			}
		}
	}
}

// finish adds the changes of J at the points that are collected to those of the events.
func (co *correcting) finish(cr *crossing) {
	for p, change := range co.evaluate() {
		if i := co.owners[p]; i >= 0 {
			cr.d[i] += change
		} else {
			cr.jumps += change * (cr.end - cr.scores[-1-i])
		}
	}
}

// evaluate returns by how much J changes from each point to the next, and forgets the points.
func (co *correcting) evaluate() []float64 {
	n, last := co.count, co.correction.lanes-1
	for i := range co.bounded {
		bd := &co.bounded[i]
		bd.Bound(co.lanes, bd.c, bd.base, bd.Bounded, n)
	}
	for _, su := range co.correction.sums {
		lanes.Sum(co.lanes, su.lane, su.terms, n)
	}
	for _, of := range co.compared {
		lanes.Compare(co.lanes, of.x, of.change, of.value, of.difference, of.sum, n)
	}
	lanes.Sum(co.lanes, last, co.terms, n)
	for i := range co.lanes {
		co.lanes[i][0] = co.lanes[i][n]
	}
	co.count = 0
	return co.lanes[last][1 : n+1]
}
