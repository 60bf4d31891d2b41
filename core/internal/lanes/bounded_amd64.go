//go:build goexperiment.simd && go1.26 && !go1.27

package lanes

import "simd/archsimd"

// four is a vector of numbers.
type four = archsimd.Float64x4

func all(x float64) four { return archsimd.BroadcastFloat64x4(x) }

// hold says what was before each of four events, some of which do not stay. Numbers are two words each.
type hold struct {
	before, last [8]uint32 // the one of the four that was before each, and the last that stays, in all places
	within, some [4]int64  // -1 where one of the four was before, and where one of them stays; else 0
}

// holds are those of all groups, by the bits of the events that stay.
var holds = newHolds()

func newHolds() (holds [16]hold) {
	for stays := range holds {
		h, last := &holds[stays], -1
		for j := range 4 {
			h.set(&h.before, &h.within, j, last)
			if stays>>j&1 != 0 {
				last = j
			}
		}
		for j := range 4 {
			h.set(&h.last, &h.some, j, last)
		}
	}
	return holds
}

// set takes for event j what another of the four has, or none (-1).
func (h *hold) set(words *[8]uint32, mask *[4]int64, j, from int) {
	if from >= 0 {
		words[2*j], words[2*j+1], mask[j] = uint32(2*from), uint32(2*from+1), -1
	}
}

// hold returns that of a group.
func (g *Group) hold() *hold {
	return &holds[archsimd.LoadFloat64x4(&g.Stays).Greater(four{}).ToBits()&15]
}

// of returns what was before each of four events, where last was before all of them, in all places, and what is so for the next four.
func (h *hold) of(last, these four) (before, next four) {
	return taken(&h.before, &h.within, last, these), taken(&h.last, &h.some, last, these)
}

func taken(words *[8]uint32, mask *[4]int64, last, these four) four {
	moved := these.AsFloat32x8().Permute(archsimd.LoadUint32x8(words)).AsFloat64x4().AsInt64x4()
	from := archsimd.LoadInt64x4(mask)
	return moved.And(from).Or(last.AsInt64x4().AndNot(from)).AsFloat64x4()
}

func followAVX2(bo *Bounded, groups []Group, bins []uint32, weights, stays []float64) int {
	c, q, rows := archsimd.LoadFloat64x4(&bo.C), archsimd.LoadFloat64x4(&bo.Q), bo.Rows
	low, signs := len(groups), archsimd.BroadcastInt64x4(signBit)
	offset, baseFloor, floor := all(bo.Offset), all(bo.BaseFloor), all(bo.Floor)
	half, two, penalty, three := all(0.5), all(2), all(bo.Penalty), archsimd.LoadInt64x4(&firstThree)
	for i := range groups {
		g, bins, w, stay := &groups[i], (*[4]uint32)(bins[4*i:]), (*[4]float64)(weights[4*i:]), (*[4]float64)(stays[4*i:])
		r0, r1, r2, r3 := &rows[bins[0]], &rows[bins[1]], &rows[bins[2]], &rows[bins[3]]
		s0, s1, s2, s3 := all(stay[0]), all(stay[1]), all(stay[2]), all(stay[3])
		d0, d1 := archsimd.LoadFloat64x4(&r0.A).Mul(all(w[0])), archsimd.LoadFloat64x4(&r1.A).Mul(all(w[1]))
		d2, d3 := archsimd.LoadFloat64x4(&r2.A).Mul(all(w[2])), archsimd.LoadFloat64x4(&r3.A).Mul(all(w[3]))
		archsimd.LoadFloat64x4(stay).Store(&g.Stays)

		// P'F and F_b.
		q0, p0, next := followSum(q, r0, d0, s0, half, three)
		q1, p1, next := followSum(next, r1, d1, s1, half, three)
		q2, p2, next := followSum(next, r2, d2, s2, half, three)
		q3, p3, next := followSum(next, r3, d3, s3, half, three)
		q = next
		q0, q1, q2, _ = transpose(q0, q1, q2, q3)
		q0.Store(&g.Q[0])
		q1.Store(&g.Q[1])
		q2.Store(&g.Q[2])
		p0, p1, p2, p3 = transpose(p0, p1, p2, p3)
		p0.Store(&g.P[0])
		p1.Store(&g.P[1])
		p2.Store(&g.P[2])

		// Moments.
		c0 := c.Add(d0)
		c = c.Add(d0.Mul(s0))
		c1 := c.Add(d1)
		c = c.Add(d1.Mul(s1))
		c2 := c.Add(d2)
		c = c.Add(d2.Mul(s2))
		c3 := c.Add(d3)
		c = c.Add(d3.Mul(s3))
		c0, c1, c2, _ = transpose(c0, c1, c2, c3)
		c0.Store(&g.Moments[0].Value)
		c1.Store(&g.Moments[1].Value)
		c2.Store(&g.Moments[2].Value)
		d0, d1, d2, d3 = transpose(d0, d1, d2, d3)
		d0.Store(&g.Moments[0].Change)
		d1.Store(&g.Moments[1].Change)
		d2.Store(&g.Moments[2].Change)
		d3.Store(&g.E)
		p3.Add(d3.Mul(half)).Store(&g.R)
		penalty.Mul(d1).Mul(two.Mul(c1).Sub(d1)).Store(&g.D)

		high := abs(c0.Sub(offset), signs).Greater(baseFloor)
		if high.And(abs(c1, signs).Greater(floor)).ToBits() != 15 {
			low = i
			break
		}
	}
	c.Store(&bo.C)
	q.Store(&bo.Q)
	archsimd.ClearAVXUpperBits()
	if low < len(groups) {
		return 4*low + bo.firstLow(&groups[low])
	}
	return 4 * len(groups)
}

// followSum crosses an event, of whose steps the last is that of F_b, and returns P'F in its middle, P_b and F_b before it,
// and P'F as the next event finds it.
func followSum(q four, row *BoundedRow, steps, stay, half four, three archsimd.Int64x4) (middle, p, after four) {
	p = archsimd.LoadFloat64x4(&row.P)
	upper := steps.Select128FromPair(1, 1, steps)
	halves := p.Mul(upper.SelectFromPairGrouped(1, 1, upper).Mul(half))
	staying := halves.Mul(stay)
	// The row is stored whole, see crossOne.
	p.Add(steps.Mul(stay).AsInt64x4().AndNot(three).AsFloat64x4()).Store(&row.P)
	return q.Add(halves), p, q.Add(staying).Add(staying)
}

const signBit = -1 << 63

// abs returns absolute values, where signs are the sign bits.
func abs(x four, signs archsimd.Int64x4) four { return x.AsInt64x4().AndNot(signs).AsFloat64x4() }

// withSign returns numbers, which are not negative, with the signs of others.
func withSign(x, of four, signs archsimd.Int64x4) four {
	return of.AsInt64x4().And(signs).Or(x.AsInt64x4()).AsFloat64x4()
}

func squashAVX2(groups []Group, l int, offset, factor float64) {
	squashTanh(groups, l&3, offset, factor)
	squashChange(groups, l&3, offset, factor)
	archsimd.ClearAVXUpperBits()
}

// squashTanh sets ByBase to |tanh u| and Slope to 1/cosh u, as TanhSech does, and V to 1/t. All that does not change
// stands before the loop, here and below: the compiler would make it anew each time.
func squashTanh(groups []Group, l int, offset, factor float64) {
	one, bias, signs := all(1), archsimd.BroadcastInt64x4(exponentBias), archsimd.BroadcastInt64x4(signBit)
	offsets, factors, lowest := all(offset), all(factor), all(steepest)
	shift, inverse2, upper, lower := all(roundingShift), all(inverseLn2), all(upperLn2), all(lowerLn2)
	e2, e4, e6, e8, e10, e12 := all(exp2), all(exp4), all(exp6), all(exp8), all(exp10), all(exp12)
	e3, e5, e7, e9, e11, e13 := all(exp3), all(exp5), all(exp7), all(exp9), all(exp11), all(exp13)
	for i := range groups {
		of, m := &groups[i].Moments[l-1], &groups[i].Moments[l]
		base := archsimd.LoadFloat64x4(&of.Value).Sub(offsets)
		inverse := one.Div(factors.Mul(abs(base, signs)))
		inverse.Store(&groups[i].V)
		u := archsimd.LoadFloat64x4(&m.Value).Mul(inverse)
		x := abs(u, signs).Min(lowest).AsInt64x4().Or(signs).AsFloat64x4()
		shifted := x.Mul(inverse2).Add(shift)
		k := shifted.Sub(shift)
		r := x.Sub(k.Mul(upper)).Sub(k.Mul(lower))
		power := shifted.AsInt64x4().Add(bias).ShiftAllLeft(52).AsFloat64x4()
		y := r.Mul(r)
		even := e2.Add(e4.Add(e6.Add(e8.Add(e10.Add(e12.Mul(y)).Mul(y)).Mul(y)).Mul(y)).Mul(y))
		odd := e3.Add(e5.Add(e7.Add(e9.Add(e11.Add(e13.Mul(y)).Mul(y)).Mul(y)).Mul(y)).Mul(y))
		scaled := power.Mul(r.Add(y.Mul(even.Add(odd.Mul(r)))))
		e, exp := scaled.Add(power.Sub(one)), scaled.Add(power)
		part := one.Div(one.Add(exp.Mul(exp)))
		abs(e.Mul(one.Add(exp)).Mul(part), signs).Store(&m.ByBase)
		exp.Add(exp).Mul(part).Store(&m.Slope)
	}
}

// squashChange finds the rest from these.
func squashChange(groups []Group, l int, offset, factor float64) {
	var zero, lastBase, lastT, lastTanh, lastSech four
	lastU := zero.Div(zero) // NaN, so that the first step is not a small one
	one, half, offsets, factors, signs := all(1), all(0.5), all(offset), all(factor), archsimd.BroadcastInt64x4(signBit)
	highest, step, fall := all(steepest), all(smallStep), all(-15)
	s3, s5, s7 := all(sinh3), all(sinh5), all(sinh7)
	for i := range groups {
		of, m := &groups[i].Moments[l-1], &groups[i].Moments[l]
		base := archsimd.LoadFloat64x4(&of.Value).Sub(offsets)
		t := factors.Mul(abs(base, signs))
		inverse := archsimd.LoadFloat64x4(&groups[i].V)
		u := archsimd.LoadFloat64x4(&m.Value).Mul(inverse)
		u = withSign(abs(u, signs).Min(highest), u, signs)
		h := groups[i].hold()
		baseBefore, baseNext := h.of(lastBase, base)
		tBefore, tNext := h.of(lastT, t)
		uBefore, uNext := h.of(lastU, u)
		byBase := withSign(factors, base, signs)
		dt := byBase.Mul(archsimd.LoadFloat64x4(&of.Change))
		dt = dt.Merge(t.Sub(tBefore), baseBefore.Mul(base).Greater(zero))
		du := archsimd.LoadFloat64x4(&m.Change).Sub(uBefore.Mul(dt)).Mul(inverse)
		small := abs(du, signs).Less(step).And(dt.Greater(fall.Mul(t)))
		tanh, sech := withSign(archsimd.LoadFloat64x4(&m.ByBase), u, signs), archsimd.LoadFloat64x4(&m.Slope)
		tanhBefore, tanhNext := h.of(lastTanh, tanh)
		sechBefore, sechNext := h.of(lastSech, sech)
		y := du.Mul(du)
		sinh := du.Mul(one.Add(y.Mul(s3.Add(y.Mul(s5.Add(y.Mul(s7)))))))
		dtanh := sinh.Mul(sechBefore.Mul(sech)).Merge(tanh.Sub(tanhBefore), small)
		dt.Mul(tanhBefore.Add(tanh).Mul(half)).Add(tBefore.Add(t).Mul(half).Mul(dtanh)).Store(&m.Change)
		t.Mul(tanh).Store(&m.Value)
		slope := sech.Mul(sech)
		slope.Store(&m.Slope)
		byBase.Mul(tanh.Sub(u.Mul(slope))).Store(&m.ByBase)
		lastBase, lastT, lastU, lastTanh, lastSech = baseNext, tNext, uNext, tanhNext, sechNext
	}
}

func changeAVX2(groups []Group, gram *[9]float64) {
	half, two := all(0.5), all(2)
	g0, g1, g2, g4, g5, g8 := all(gram[0]), all(gram[1]), all(gram[2]), all(gram[4]), all(gram[5]), all(gram[8])
	for i := range groups {
		g := &groups[i]
		m0, m1, m2 := &g.Moments[0], &g.Moments[1], &g.Moments[2]
		d0, d1, d2 := archsimd.LoadFloat64x4(&m0.Change), archsimd.LoadFloat64x4(&m1.Change), archsimd.LoadFloat64x4(&m2.Change)
		c0, c1 := archsimd.LoadFloat64x4(&m0.Value).Sub(d0.Mul(half)), archsimd.LoadFloat64x4(&m1.Value).Sub(d1.Mul(half))
		c2 := archsimd.LoadFloat64x4(&m2.Value).Sub(d2.Mul(half))
		p0, p1, p2 := archsimd.LoadFloat64x4(&g.P[0]), archsimd.LoadFloat64x4(&g.P[1]), archsimd.LoadFloat64x4(&g.P[2])
		r := archsimd.LoadFloat64x4(&g.R).Sub(product(c0, c1, c2, p0, p1, p2))
		q0 := archsimd.LoadFloat64x4(&g.Q[0]).Sub(product(c0, c1, c2, g0, g1, g2))
		q1 := archsimd.LoadFloat64x4(&g.Q[1]).Sub(product(c0, c1, c2, g1, g4, g5))
		q2 := archsimd.LoadFloat64x4(&g.Q[2]).Sub(product(c0, c1, c2, g2, g5, g8))
		d := archsimd.LoadFloat64x4(&g.E).Mul(r).Sub(product(d0, d1, d2, q0, q1, q2))
		archsimd.LoadFloat64x4(&g.D).Add(two.Mul(d)).Store(&g.D)
	}
	archsimd.ClearAVXUpperBits()
}

// product returns a.x of vectors of three.
func product(a0, a1, a2, x0, x1, x2 four) four { return a0.Mul(x0).Add(a1.Mul(x1)).Add(a2.Mul(x2)) }
