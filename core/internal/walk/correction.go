package walk

import (
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/par"
)

// correction is what bounds on moments add to J and to its bias: with delta = c - c~, z = P'(F - P c), G = P'P and
// N = 1 - dc~/dc,
//
//	J    = J_linear + 2 z.delta + delta.G delta
//	bias = bias_linear + 2 <N, X> + <G, N Y N'>,   X = sum_b V_b u_b A_b',  Y = sum_b V_b A_b A_b'
//
// A step e in bin b moves c by e A_b and z by e u_b, u_b = P_b - G A_b. Both z and u are 0 for projection moments, whose
// residuals are orthogonal to P. Row l of N has numbers in columns l, 0 and 1 at most.
//
// Where steps are small, a difference of two values of J would lose digits. With the change D and the sum S of delta before and
// after a step, and likewise of z, the first line changes by D.(G S + S_z) + D_z.S. For the
// bias, which is small, a difference of two values is enough.
//
// All this is computed for many points at a time, each with the one before it. Each quantity has a lane, with a number for each
// point, and this type lists how one lane follows from others.
type correction struct {
	*Integrand
	rows     [][][4]float64 // for each four sums: the contribution of an event of weight 1, or of a V_b of 1
	weighted int            // how many groups of four add up weights; those after them add up V_b
	first    int            // the first bounded moment
	bounded  []bounded
	sums     []sum // in order
	compared []compared
	terms    []lanes.Term // of the change of J
	lanes    int          // how many there are
	zeros    int          // a lane of zeros
	ones     int          // a lane of ones
}

// bounded is a bounded moment, with the lanes of c and of the moment that limits it.
type bounded struct {
	lanes.Limit
	lanes.Bounded
	c, base int
}

// compared is the lanes of x - value at each point less, and plus, x - value at the point before it.
type compared struct{ x, change, value, difference, sum int }

// sum is a lane that is a sum of products of other lanes.
type sum struct {
	lane  int
	terms []lanes.Term
}

// entry is a number of N: a factor times a lane.
type entry struct {
	row, column int
	factor      float64
	lane        int
}

// newCorrection returns the correction of an integrand that is complete otherwise.
func newCorrection(in *Integrand, bo *moments.Bound, arena *par.Arena) *correction {
	co, ba := &correction{Integrand: in, first: 2}, in.basis
	withZ := ba.Orthonormal == nil
	size := 2
	if bo.Limited {
		co.first = 1
	}
	if bo.Monotonic {
		size = ba.Size
	}
	a := func(b, l int) float64 { return ba.RowA(b)[l] }
	u := func(b, l int) float64 {
		return ba.RowP(b)[l] - moments.Dot(ba.Gram[l*ba.Size:(l+1)*ba.Size], ba.RowA(b))
	}
	c, z := make([]int, size), make([]int, size)
	for l := co.first - 1; l < size; l++ {
		c[l] = co.addColumn(arena, func(b int) float64 { return in.unit[b] * a(b, l) })
		if withZ && l >= co.first {
			z[l] = co.addColumn(arena, func(b int) float64 { return in.unit[b] * u(b, l) })
		}
	}
	co.weighted = len(co.rows)
	co.lanes = 4 * co.weighted
	x, y := make([][]int, size), make([][]int, size)
	for k := range size {
		x[k], y[k] = make([]int, size), make([]int, size)
		for j := co.first - 1; j <= k && in.variance != nil; j++ {
			y[k][j] = co.addColumn(arena, func(b int) float64 { return a(b, j) * a(b, k) })
			if withZ && (j <= 1 || j == k) {
				x[k][j] = co.addColumn(arena, func(b int) float64 { return u(b, k) * a(b, j) })
			}
		}
	}
	co.lanes = 4 * (len(co.rows) + co.weighted) // after the sums are the steps of those of weights
	co.zeros, co.ones = co.addLane(), co.addLane()
	for l := co.first; l < size; l++ {
		co.addBounded(bo, l, c)
	}
	if !withZ {
		x, z = nil, nil
	}
	co.addChange(z)
	if in.variance != nil {
		co.addBias(x, y)
	}
	co.addLane() // of the change of J
	return co
}

// addChange adds the terms of the change of J without the bias, given the lanes of z if there is one.
func (co *correction) addChange(z []int) {
	ba := co.basis
	for l, bd := range co.bounded {
		one := co.compare(bd.c, 4*len(co.rows)+bd.c, bd.Value)
		for m, other := range co.compared {
			factor := ba.Gram[(co.first+l)*ba.Size+co.first+m]
			co.addTerm(factor, one.difference, other.sum)
			co.addTerm(factor, other.difference, one.sum)
		}
		co.addTerm(ba.Gram[(co.first+l)*ba.Size+co.first+l], one.difference, one.sum)
		co.compared = append(co.compared, one)
	}
	for l, one := range co.compared {
		if z != nil {
			other := co.compare(z[co.first+l], 4*len(co.rows)+z[co.first+l], co.zeros)
			co.addTerm(1, one.difference, other.sum)
			co.addTerm(1, other.difference, one.sum)
			co.compared = append(co.compared, other)
		}
	}
}

// addBias adds the change of the bias, given the lanes of Y, and those of X if there is one.
func (co *correction) addBias(x, y [][]int) {
	var bias []lanes.Term
	entries := co.entries()
	for _, en := range entries {
		if x != nil {
			bias = append(bias, lanes.Term{Factor: 2 * en.factor, A: en.lane, B: x[en.row][en.column]})
		}
	}
	for k := range y {
		for j := range k + 1 {
			if terms := pairs(entries, j, k, co.basis); terms != nil {
				bias = append(bias, lanes.Term{Factor: 1, A: co.addSum(terms...), B: y[k][j]})
			}
		}
	}
	change := co.compare(co.zeros, co.zeros, co.addSum(bias...)) // less the bias
	co.compared = append(co.compared, change)
	co.addTerm(1, change.difference, co.ones)
}

// compare returns the comparison of a sum, less a value, with the point before.
func (co *correction) compare(sum, change, value int) compared {
	return compared{sum, change, value, co.addLane(), co.addLane()}
}

func (co *correction) addTerm(factor float64, a, b int) {
	co.terms = append(co.terms, lanes.Term{Factor: factor, A: a, B: b})
}

// addColumn adds a sum over the bins to those that are followed, and returns its lane.
func (co *correction) addColumn(arena *par.Arena, of func(b int) float64) int {
	if co.lanes%4 == 0 {
		co.rows = append(co.rows, par.Make[[4]float64](arena, co.bins))
	}
	rows := co.rows[len(co.rows)-1]
	for b := range rows {
		rows[b][co.lanes%4] = of(b)
	}
	return co.addLane()
}

func (co *correction) addLane() int {
	co.lanes++
	return co.lanes - 1
}

func (co *correction) addSum(terms ...lanes.Term) (lane int) {
	lane = co.addLane()
	co.sums = append(co.sums, sum{lane, terms})
	return lane
}

// addBounded adds moment l, given the lanes of c.
func (co *correction) addBounded(bo *moments.Bound, l int, c []int) {
	base := c[min(l-1, 1)]
	if l > 1 && bo.Limited {
		base = co.bounded[0].Value
	}
	made := lanes.Bounded{Value: co.addLane(), Own: co.addLane(), ByBase: co.addLane()}
	co.bounded = append(co.bounded, bounded{bo.Limits[l], made, c[l], base})
}

// entries returns the numbers of N that are not 0. The c~_l of l >= 2 depend on c_0 and c_1 by way of c~_1.
func (co *correction) entries() (all []entry) {
	for i, bd := range co.bounded {
		l := co.first + i
		all = append(all, entry{l, l, 1, bd.Own})
		switch {
		case i > 0 && co.first == 1:
			slope := co.bounded[0]
			all = append(all,
				entry{l, 0, 1, co.addSum(lanes.Term{Factor: -1, A: bd.ByBase, B: slope.ByBase})},
				entry{l, 1, 1, co.addSum(lanes.Term{Factor: 1, A: bd.ByBase, B: slope.Own}, lanes.Term{Factor: -1, A: bd.ByBase, B: co.ones})})
		default:
			all = append(all, entry{l, co.first - 1, -1, bd.ByBase})
		}
	}
	return all
}

// pairs returns the terms of (N'GN)_jk, with those of (N'GN)_kj.
func pairs(entries []entry, j, k int, ba *moments.Basis) (terms []lanes.Term) {
	for i, one := range entries {
		for _, other := range entries[i:] {
			if min(one.column, other.column) != j || max(one.column, other.column) != k {
				continue
			}
			factor := one.factor * other.factor * ba.Gram[one.row*ba.Size+other.row]
			if other != one {
				factor *= 2
			}
			terms = append(terms, lanes.Term{Factor: factor, A: one.lane, B: other.lane})
		}
	}
	return terms
}
