//go:build goexperiment.simd && go1.26 && !go1.27

package lanes

import "simd/archsimd"

// at returns the four numbers of a lane from place i on.
func (l *Lane) at(i int) *[4]float64 { return (*[4]float64)(l[i:]) }

func (l *Lane) load(i int) four { return archsimd.LoadFloat64x4(l.at(i)) }

const signBit = -1 << 63

// abs returns absolute values, where signs are the sign bits.
func abs(x four, signs archsimd.Int64x4) four { return x.AsInt64x4().AndNot(signs).AsFloat64x4() }

// withSign returns numbers, which are not negative, with the signs of others.
func withSign(x, of four, signs archsimd.Int64x4) four {
	return of.AsInt64x4().And(signs).Or(x.AsInt64x4()).AsFloat64x4()
}

func followAVX2(su *Sums, rows []uint32, weights []float64) {
	s := archsimd.LoadFloat64x4(&su.Now)
	for i := 1; len(rows) >= 4 && len(weights) >= 4; i += 4 {
		d0 := archsimd.LoadFloat64x4(&su.Rows[rows[0]]).Mul(all(weights[0]))
		d1 := archsimd.LoadFloat64x4(&su.Rows[rows[1]]).Mul(all(weights[1]))
		d2 := archsimd.LoadFloat64x4(&su.Rows[rows[2]]).Mul(all(weights[2]))
		d3 := archsimd.LoadFloat64x4(&su.Rows[rows[3]]).Mul(all(weights[3]))
		s0 := s.Add(d0)
		s1 := s0.Add(d1)
		s2 := s1.Add(d2)
		s = s2.Add(d3)
		storeLanes(&su.After, i, s0, s1, s2, s)
		if su.Steps != nil {
			storeLanes(su.Steps, i, d0, d1, d2, d3)
		}
		rows, weights = rows[4:], weights[4:]
	}
	s.Store(&su.Now)
	archsimd.ClearAVXUpperBits()
}

// storeLanes stores the vectors of four crossings, of which each lane gets a number.
func storeLanes(to *[4]Lane, i int, a, b, c, d four) {
	a, b, c, d = transpose(a, b, c, d)
	a.Store(to[0].at(i))
	b.Store(to[1].at(i))
	c.Store(to[2].at(i))
	d.Store(to[3].at(i))
}

func squashAVX2(m *Moment, n int) {
	squashTanh(m, n)
	squashChange(m, n)
	archsimd.ClearAVXUpperBits()
}

// squashTanh finds c~, and leaves 1/t, or 0, in Change. All that does not change stands before the loop, here and below: the
// compiler would make it anew each time.
func squashTanh(m *Moment, n int) {
	var zero four
	one, bias, signs := all(1), archsimd.BroadcastInt64x4(exponentBias), archsimd.BroadcastInt64x4(signBit)
	offset, factor, baseFloor, floor, highest := all(m.Offset), all(m.Factor), all(m.BaseFloor), all(m.Floor), all(steepest)
	shift, inverse2, upper, lower := all(roundingShift), all(inverseLn2), all(upperLn2), all(lowerLn2)
	e2, e4, e6, e8, e10, e12 := all(exp2), all(exp4), all(exp6), all(exp8), all(exp10), all(exp12)
	e3, e5, e7, e9, e11, e13 := all(exp3), all(exp5), all(exp7), all(exp9), all(exp11), all(exp13)
	for i := 1; i <= n; i += 4 {
		t := m.Base.load(i).Sub(offset)
		high := abs(t, signs).Greater(baseFloor)
		t = factor.Mul(t).Merge(zero, high)
		inverse := one.Div(t).Merge(zero, high)
		c := m.C.load(i)
		u := c.Merge(zero, abs(c, signs).Greater(floor)).Mul(inverse)
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
		t.Store(m.T.at(i))
		u.Store(m.U.at(i))
		tanh.Store(m.Tanh.at(i))
		exp.Add(exp).Mul(part).Merge(zero, high).Store(m.Sech.at(i))
		t.Mul(tanh).Store(m.Value.at(i))
		inverse.Store(m.Change.at(i))
	}
}

// squashChange finds the rest from these.
func squashChange(m *Moment, n int) {
	var zero four
	one, half, factor, floor, signs := all(1), all(0.5), all(m.Factor), all(m.Floor), archsimd.BroadcastInt64x4(signBit)
	step, fall := all(smallStep), all(16)
	s3, s5, s7 := all(sinh3), all(sinh5), all(sinh7)
	for i := 1; i <= n; i += 4 {
		c0, c, dc := m.C.load(i-1), m.C.load(i), m.Step.load(i)
		delta := c0.Sub(m.Value.load(i - 1))
		rest := c.Sub(m.Value.load(i))
		c0, c = c0.Merge(zero, abs(c0, signs).Greater(floor)), c.Merge(zero, abs(c, signs).Greater(floor))
		t0, t := m.T.load(i-1), m.T.load(i)
		dt := factor.Mul(m.BaseStep.load(i)).Merge(t.Sub(t0), t0.Mul(t).NotEqual(zero))
		moved := dc.Merge(c.Sub(c0), c0.Mul(c).NotEqual(zero))
		du := moved.Sub(m.U.load(i - 1).Mul(dt)).Mul(m.Change.load(i))
		small := abs(du, signs).Less(step).And(abs(t0, signs).Less(fall.Mul(abs(t, signs)))).And(t0.NotEqual(zero))
		tanh0, tanh := m.Tanh.load(i-1), m.Tanh.load(i)
		y := du.Mul(du)
		sinh := du.Mul(one.Add(y.Mul(s3.Add(y.Mul(s5.Add(y.Mul(s7)))))))
		dtanh := sinh.Mul(m.Sech.load(i-1).Mul(m.Sech.load(i))).Merge(tanh.Sub(tanh0), small)
		change := dt.Mul(tanh0.Add(tanh).Mul(half)).Add(t0.Add(t).Mul(half).Mul(dtanh))
		change.Store(m.Change.at(i))
		delta.Add(rest).Store(m.Sum.at(i))
		dc.Sub(change).Store(m.Difference.at(i))
	}
}

func correctAVX2(d *Lane, moments []Moment, l int, gram []float64, n int) {
	m, gram := &moments[l], gram[:len(moments)]
	for i := 1; i <= n; i += 4 {
		var sum, change four
		for k := 1; k < len(moments); k++ {
			sum = sum.Add(all(gram[k]).Mul(moments[k].Sum.load(i)))
		}
		if m.Z != nil {
			sum = sum.Add(m.Z.load(i - 1).Add(m.Z.load(i)))
			change = m.StepZ.load(i).Mul(m.Sum.load(i))
		}
		if l > 1 {
			change = change.Add(d.load(i))
		}
		change.Add(m.Difference.load(i).Mul(sum)).Store(d.at(i))
	}
	archsimd.ClearAVXUpperBits()
}

// evaluateAVX2 leaves more than three moments to evaluateGo.
func evaluateAVX2(bi *Bias, moments []Moment, n int) {
	switch len(moments) {
	case 2:
		evaluateTwo(bi, &moments[1], n)
	case 3:
		evaluateThree(bi, &moments[1], &moments[2], n)
	default:
		evaluateGo(bi, moments, n)
	}
}

func evaluateTwo(bi *Bias, m *Moment, n int) {
	var zero four
	one, two, signs, factor, gram := all(1), all(2), archsimd.BroadcastInt64x4(signBit), all(m.Factor), all(bi.Gram[3])
	y, x := (*[3]*Lane)(bi.Y), &bi.X[1]
	for i := 1; i <= n; i += 4 {
		own, byT := row(m, i, factor, one, zero)
		by0, y10 := negative(byT, signs), y[1].load(i)
		a0, a1 := own.Mul(y10).Add(by0.Mul(y[0].load(i))), own.Mul(y[2].load(i)).Add(by0.Mul(y10))
		value := zero.Add(by0.Mul(two.Mul(x[1].load(i)).Add(gram.Mul(a0))))
		value.Add(own.Mul(two.Mul(x[0].load(i)).Add(gram.Mul(a1)))).Store(bi.Value.at(i))
	}
	archsimd.ClearAVXUpperBits()
}

func evaluateThree(bi *Bias, a, b *Moment, n int) {
	var zero four
	one, two, signs, factor1, factor2 := all(1), all(2), archsimd.BroadcastInt64x4(signBit), all(a.Factor), all(b.Factor)
	g11, g12, g21, g22 := all(bi.Gram[4]), all(bi.Gram[5]), all(bi.Gram[7]), all(bi.Gram[8])
	y, x1, x2 := (*[6]*Lane)(bi.Y), &bi.X[1], &bi.X[2]
	for i := 1; i <= n; i += 4 {
		own1, byT1 := row(a, i, factor1, one, zero)
		own2, byT2 := row(b, i, factor2, one, zero)
		by10 := negative(byT1, signs)
		by20, by21 := byT2.Mul(by10), negative(byT2.Mul(one.Sub(own1)), signs)
		y00, y10, y11, y20, y21 := y[0].load(i), y[1].load(i), y[2].load(i), y[3].load(i), y[4].load(i)
		a0, a1, a2 := own1.Mul(y10).Add(by10.Mul(y00)), own1.Mul(y11).Add(by10.Mul(y10)), own1.Mul(y21).Add(by10.Mul(y20))
		b0 := own2.Mul(y20).Add(by20.Mul(y00)).Add(by21.Mul(y10))
		b1 := own2.Mul(y21).Add(by20.Mul(y10)).Add(by21.Mul(y11))
		b2 := own2.Mul(y[5].load(i)).Add(by20.Mul(y20)).Add(by21.Mul(y21))
		value := zero.Add(by10.Mul(two.Mul(x1[1].load(i)).Add(g11.Mul(a0)).Add(g12.Mul(b0))))
		value = value.Add(by20.Mul(two.Mul(x2[1].load(i)).Add(g21.Mul(a0)).Add(g22.Mul(b0))))
		value = value.Add(own1.Mul(two.Mul(x1[0].load(i)).Add(g11.Mul(a1)).Add(g12.Mul(b1))))
		value = value.Add(by21.Mul(two.Mul(x2[2].load(i)).Add(g21.Mul(a1)).Add(g22.Mul(b1))))
		value.Add(own2.Mul(two.Mul(x2[0].load(i)).Add(g21.Mul(a2)).Add(g22.Mul(b2)))).Store(bi.Value.at(i))
	}
	archsimd.ClearAVXUpperBits()
}

// row returns 1 - d c~/dc and d c~/d base.
func row(m *Moment, i int, factor, one, zero four) (own, byT four) {
	sech, tanh := m.Sech.load(i), m.Tanh.load(i)
	byT = factor.Mul(tanh.Sub(m.U.load(i).Mul(sech.Mul(sech))))
	return tanh.Mul(tanh).Merge(one, m.T.load(i).NotEqual(zero)), byT
}

func negative(x four, signs archsimd.Int64x4) four { return x.AsInt64x4().Xor(signs).AsFloat64x4() }
