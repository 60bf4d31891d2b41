package walk

import (
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// correcting follows a correction along the steps of a chunk. It collects the states after the steps, and then finds the
// change of J from each state to the next.
type correcting struct {
	*correction
	sums  [][4]float64
	lanes []lanes.Lane
}

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
	for g, rows := range co.rows {
		sums := &co.sums[g]
		for b := range state {
			weight := state[b].cdf / state[b].unit
			if g >= co.weighted {
				weight = state[b].variance()
			}
			for k, x := range rows[b] {
				sums[k] += weight * x
			}
		}
		for k, sum := range sums {
			co.lanes[4*g+k][1] = sum
			if g < co.weighted {
				co.lanes[4*(len(co.rows)+g)+k][1] = sum // the step from 0
			}
		}
	}
	return co.evaluate(1)[0]
}

// cross follows steps, whose changes of V_b are given, and adds their changes of J to d.
func (co *correcting) cross(st steps, changes, d []float64) {
	for lo := 0; lo < len(st.bins); lo += lanes.Points {
		hi := min(lo+lanes.Points, len(st.bins))
		for g, rows := range co.rows {
			if g < co.weighted {
				lanes.Follow(co.lanes[4*g:], co.lanes[4*(len(co.rows)+g):], &co.sums[g], rows, st.bins[lo:hi], st.weights[lo:hi])
			} else {
				lanes.Follow(co.lanes[4*g:], nil, &co.sums[g], rows, st.bins[lo:hi], changes[lo:hi])
			}
		}
		for p, change := range co.evaluate(hi - lo) {
			d[lo+p] += change
		}
	}
}

// evaluate returns the changes of J to each of n points from the point before it.
func (co *correcting) evaluate(n int) []float64 {
	last := co.correction.lanes - 1
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
	return co.lanes[last][1 : n+1]
}
