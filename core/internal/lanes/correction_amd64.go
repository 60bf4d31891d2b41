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

func followAVX2(rows [][4]float64, sum *[4]float64, bins []uint32, weights []float64, after, steps *[4]*Lane) {
	s := archsimd.LoadFloat64x4(sum)
	for i := 0; len(bins) >= 4 && len(weights) >= 4; i += 4 {
		d0 := archsimd.LoadFloat64x4(&rows[bins[0]]).Mul(all(weights[0]))
		d1 := archsimd.LoadFloat64x4(&rows[bins[1]]).Mul(all(weights[1]))
		d2 := archsimd.LoadFloat64x4(&rows[bins[2]]).Mul(all(weights[2]))
		d3 := archsimd.LoadFloat64x4(&rows[bins[3]]).Mul(all(weights[3]))
		s0 := s.Add(d0)
		s1 := s0.Add(d1)
		s2 := s1.Add(d2)
		s = s2.Add(d3)
		storeLanes(after, i+1, s0, s1, s2, s)
		if steps != nil {
			storeLanes(steps, i+1, d0, d1, d2, d3)
		}
		bins, weights = bins[4:], weights[4:]
	}
	s.Store(sum)
	archsimd.ClearAVXUpperBits()
}

// storeLanes stores the vectors of four crossings, of which each lane gets a number.
func storeLanes(to *[4]*Lane, i int, a, b, c, d four) {
	a, b, c, d = transpose(a, b, c, d)
	a.Store(to[0].at(i))
	b.Store(to[1].at(i))
	c.Store(to[2].at(i))
	d.Store(to[3].at(i))
}

func squashAVX2(m *Moment, base, baseStep *Lane, n int, li *Limit) {
	squashTanh(m, base, n, li)
	squashChange(m, baseStep, n, li)
	archsimd.ClearAVXUpperBits()
}

// squashTanh finds c~, and leaves 1/t, or 0, in Change. All that does not change stands before the loop, here and below: the
// compiler would make it anew each time.
func squashTanh(m *Moment, base *Lane, n int, li *Limit) {
	var zero four
	one, bias, signs := all(1), archsimd.BroadcastInt64x4(exponentBias), archsimd.BroadcastInt64x4(signBit)
	offset, factor, baseFloor, floor, highest := all(li.Offset), all(li.Factor), all(li.BaseFloor), all(li.Floor), all(steepest)
	shift, inverse2, upper, lower := all(roundingShift), all(inverseLn2), all(upperLn2), all(lowerLn2)
	e2, e4, e6, e8, e10, e12 := all(exp2), all(exp4), all(exp6), all(exp8), all(exp10), all(exp12)
	e3, e5, e7, e9, e11, e13 := all(exp3), all(exp5), all(exp7), all(exp9), all(exp11), all(exp13)
	for i := 1; i <= n; i += 4 {
		t := base.load(i).Sub(offset)
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
func squashChange(m *Moment, baseStep *Lane, n int, li *Limit) {
	var zero four
	one, half, factor, floor, signs := all(1), all(0.5), all(li.Factor), all(li.Floor), archsimd.BroadcastInt64x4(signBit)
	step, fall := all(smallStep), all(16)
	s3, s5, s7 := all(sinh3), all(sinh5), all(sinh7)
	for i := 1; i <= n; i += 4 {
		c0, c, dc := m.C.load(i-1), m.C.load(i), m.Step.load(i)
		delta := c0.Sub(m.Value.load(i - 1))
		rest := c.Sub(m.Value.load(i))
		c0, c = c0.Merge(zero, abs(c0, signs).Greater(floor)), c.Merge(zero, abs(c, signs).Greater(floor))
		t0, t := m.T.load(i-1), m.T.load(i)
		dt := factor.Mul(baseStep.load(i)).Merge(t.Sub(t0), t0.Mul(t).NotEqual(zero))
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

func correctAVX2(d *Lane, moments []Moment, l int, gram []float64, n int, withZ bool) {
	m, gram := &moments[l], gram[:len(moments)]
	for i := 1; i <= n; i += 4 {
		var sum, change four
		for k := 1; k < len(moments); k++ {
			sum = sum.Add(all(gram[k]).Mul(moments[k].Sum.load(i)))
		}
		if withZ {
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

func setRowAVX2(m *Moment, n int, factor float64, slope *Moment) {
	var zero four
	one, factors, signs := all(1), all(factor), archsimd.BroadcastInt64x4(signBit)
	for i := 1; i <= n; i += 4 {
		sech, tanh := m.Sech.load(i), m.Tanh.load(i)
		byT := factors.Mul(tanh.Sub(m.U.load(i).Mul(sech.Mul(sech))))
		by0, by1 := negative(byT, signs), zero
		if slope != nil {
			by0 = byT.Mul(slope.By0.load(i))
			by1 = negative(byT.Mul(one.Sub(slope.Own.load(i))), signs)
		}
		tanh.Mul(tanh).Merge(one, m.T.load(i).NotEqual(zero)).Store(m.Own.at(i))
		by0.Store(m.By0.at(i))
		by1.Store(m.By1.at(i))
	}
	archsimd.ClearAVXUpperBits()
}

func negative(x four, signs archsimd.Int64x4) four { return x.AsInt64x4().Xor(signs).AsFloat64x4() }

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

func evaluateTwo(bi *Bias, a *Moment, n int) {
	var zero four
	two, g := all(2), all(bi.Gram[3])
	y00, y10, y11, x11, x10 := bi.at(0, 0), bi.at(1, 0), bi.at(1, 1), bi.xOf(1, 0), bi.xOf(1, 1)
	for i := 1; i <= n; i += 4 {
		own, by0, y := a.Own.load(i), a.By0.load(i), y10.load(i)
		ny0 := own.Mul(y).Add(by0.Mul(y00.load(i)))
		ny1 := own.Mul(y11.load(i)).Add(by0.Mul(y))
		value := zero.Add(own.Mul(two.Mul(x11.load(i)).Add(g.Mul(ny1))))
		value.Add(by0.Mul(two.Mul(x10.load(i)).Add(g.Mul(ny0)))).Store(bi.Value.at(i))
	}
	archsimd.ClearAVXUpperBits()
}

func evaluateThree(bi *Bias, a, b *Moment, n int) {
	var zero four
	two, g11, g12, g21, g22 := all(2), all(bi.Gram[4]), all(bi.Gram[5]), all(bi.Gram[7]), all(bi.Gram[8])
	l00, l10, l11, l20, l21, l22 := bi.at(0, 0), bi.at(1, 0), bi.at(1, 1), bi.at(2, 0), bi.at(2, 1), bi.at(2, 2)
	x11, x10, x22, x20, x21 := bi.xOf(1, 0), bi.xOf(1, 1), bi.xOf(2, 0), bi.xOf(2, 1), bi.xOf(2, 2)
	for i := 1; i <= n; i += 4 {
		y00, y10, y11, y20, y21 := l00.load(i), l10.load(i), l11.load(i), l20.load(i), l21.load(i)
		own1, by10, own2, by20, by21 := a.Own.load(i), a.By0.load(i), b.Own.load(i), b.By0.load(i), b.By1.load(i)
		a0, a1, a2 := own1.Mul(y10).Add(by10.Mul(y00)), own1.Mul(y11).Add(by10.Mul(y10)), own1.Mul(y21).Add(by10.Mul(y20))
		b0 := own2.Mul(y20).Add(by20.Mul(y00)).Add(by21.Mul(y10))
		b1 := own2.Mul(y21).Add(by20.Mul(y10)).Add(by21.Mul(y11))
		b2 := own2.Mul(l22.load(i)).Add(by20.Mul(y20)).Add(by21.Mul(y21))
		value := zero.Add(own1.Mul(two.Mul(x11.load(i)).Add(g11.Mul(a1)).Add(g12.Mul(b1))))
		value = value.Add(by10.Mul(two.Mul(x10.load(i)).Add(g11.Mul(a0)).Add(g12.Mul(b0))))
		value = value.Add(own2.Mul(two.Mul(x22.load(i)).Add(g21.Mul(a2)).Add(g22.Mul(b2))))
		value = value.Add(by20.Mul(two.Mul(x20.load(i)).Add(g21.Mul(a0)).Add(g22.Mul(b0))))
		value.Add(by21.Mul(two.Mul(x21.load(i)).Add(g21.Mul(a1)).Add(g22.Mul(b1)))).Store(bi.Value.at(i))
	}
	archsimd.ClearAVXUpperBits()
}
