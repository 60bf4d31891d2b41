//go:build goexperiment.simd && go1.26 && !go1.27

package lanes

import (
	"simd/archsimd"
	"unsafe"
)

func (l *Lane) load(i int) four {
	return archsimd.LoadFloat64x4((*[4]float64)(unsafe.Pointer(&l[i])))
}

func (l *Lane) store(i int, x four) { x.Store((*[4]float64)(unsafe.Pointer(&l[i]))) }

func followAVX2(lanes, steps []Lane, sums *[4]float64, rows [][4]float64, bins []uint32, weights []float64) {
	s, place := archsimd.LoadFloat64x4(sums), 1
	for ; len(bins) >= 4 && len(weights) >= 4 && place <= Points; place += 4 {
		d0 := archsimd.LoadFloat64x4(&rows[bins[0]]).Mul(all(weights[0]))
		d1 := archsimd.LoadFloat64x4(&rows[bins[1]]).Mul(all(weights[1]))
		d2 := archsimd.LoadFloat64x4(&rows[bins[2]]).Mul(all(weights[2]))
		d3 := archsimd.LoadFloat64x4(&rows[bins[3]]).Mul(all(weights[3]))
		s0 := s.Add(d0)
		s1 := s0.Add(d1)
		s2 := s1.Add(d2)
		s = s2.Add(d3)
		storeLanes((*[4]Lane)(lanes), place, s0, s1, s2, s)
		if steps != nil {
			storeLanes((*[4]Lane)(steps), place, d0, d1, d2, d3)
		}
		bins, weights = bins[4:], weights[4:]
	}
	s.Store(sums)
	archsimd.ClearAVXUpperBits()
	followFrom(place, lanes, steps, sums, rows, bins, weights)
}

// storeLanes stores the vectors of four points, of which each lane gets a number.
func storeLanes(to *[4]Lane, place int, a, b, c, d four) {
	a, b, c, d = transpose(a, b, c, d)
	to[0].store(place, a)
	to[1].store(place, b)
	to[2].store(place, c)
	to[3].store(place, d)
}

const signBit = -1 << 63

// abs returns absolute values, where signs are the sign bits.
func abs(x four, signs archsimd.Int64x4) four { return x.AsInt64x4().AndNot(signs).AsFloat64x4() }

// withSign returns numbers, which are not negative, with the signs of others.
func withSign(x, of four, signs archsimd.Int64x4) four {
	return of.AsInt64x4().And(signs).Or(x.AsInt64x4()).AsFloat64x4()
}

// boundAVX2 is boundGo, with TanhSech inline. Constants are set before the loop, since the compiler would set them in each
// iteration.
func boundAVX2(li *Limit, lanes []Lane, c, base int, to Bounded, n int) {
	var zero four
	one, bias, signs := all(1), archsimd.BroadcastInt64x4(exponentBias), archsimd.BroadcastInt64x4(signBit)
	offset, factor, baseFloor, floor, highest := all(li.Offset), all(li.Factor), all(li.BaseFloor), all(li.Floor), all(steepest)
	shift, inverse2, upper, lower := all(roundingShift), all(inverseLn2), all(upperLn2), all(lowerLn2)
	e2, e4, e6, e8, e10, e12 := all(exp2), all(exp4), all(exp6), all(exp8), all(exp10), all(exp12)
	e3, e5, e7, e9, e11, e13 := all(exp3), all(exp5), all(exp7), all(exp9), all(exp11), all(exp13)
	ofC, ofBase := &lanes[c], &lanes[base]
	value, own, byBase := &lanes[to.Value], &lanes[to.Own], &lanes[to.ByBase]
	for i := 1; i <= n && i <= Points; i += 4 {
		t := ofBase.load(i).Sub(offset)
		high := abs(t, signs).Greater(baseFloor)
		t = factor.Mul(t)
		c := ofC.load(i)
		u := c.Mul(one.Div(t)).Merge(zero, abs(c, signs).Greater(floor).And(high))
		x := abs(u, signs).Min(highest)
		u = withSign(x, u, signs)
		x = x.AsInt64x4().Or(signs).AsFloat64x4()
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
		tanh := withSign(abs(e.Mul(one.Add(exp)).Mul(part), signs), u, signs)
		sech := exp.Add(exp).Mul(part)
		value.store(i, t.Mul(tanh).Merge(zero, high))
		own.store(i, tanh.Mul(tanh).Merge(one, high))
		byBase.store(i, factor.Mul(tanh.Sub(u.Mul(sech.Mul(sech)))).Merge(zero, high))
	}
	archsimd.ClearAVXUpperBits()
}

func sumAVX2(lanes []Lane, to int, terms []Term, n int) {
	sums := &lanes[to]
	for i := 1; i <= n && i <= Points-7; i += 8 {
		var s0, s1 four
		for k := range terms {
			term := &terms[k]
			a, b, factor := &lanes[term.A], &lanes[term.B], all(term.Factor)
			s0 = s0.Add(factor.Mul(a.load(i).Mul(b.load(i))))
			s1 = s1.Add(factor.Mul(a.load(i + 4).Mul(b.load(i + 4))))
		}
		sums.store(i, s0)
		sums.store(i+4, s1)
	}
	archsimd.ClearAVXUpperBits()
}

func compareAVX2(x, change, value, difference, sum *Lane, n int) {
	for i := 1; i <= n && i <= Points; i += 4 {
		before, after := value.load(i-1), value.load(i)
		difference.store(i, change.load(i).Sub(after.Sub(before)))
		sum.store(i, x.load(i).Sub(after).Add(x.load(i-1).Sub(before)))
	}
	archsimd.ClearAVXUpperBits()
}
