package core

import "math"

// boundedRow is what crossing an event needs of its bin, in one line of cache.
type boundedRow struct {
	x, a    [3]float64 // L x = P_b, with L of fastLinear for no penalty; A_b
	f       float64    // F_b
	inverse float64    // 1/W_b
}

// boundedPath crosses events as boundedKernel does for order 2, with the common case
// written out; in between, F_b are those of the rows.
type boundedPath[T Float] struct {
	*kernelPath[T]
	*boundedKernel
	lower lower
	rows  []boundedRow
}

func newBoundedPath[T Float](w *pathWalker[T], l lower) path {
	k := newBoundedKernel(w.in)
	return &boundedPath[T]{&kernelPath[T]{k, w}, k, l, make([]boundedRow, w.in.bins)}
}

func (p *boundedPath[T]) start(pt *point) float64 {
	in := p.w.in
	for b := range p.rows {
		p.rows[b] = boundedRow{x: p.lower.solve(in.basis.rowP(b)), a: [3]float64(in.basis.rowA(b)), f: pt.cdf[b], inverse: in.unit[b]}
	}
	return p.boundedKernel.start(pt)
}

func (p *boundedPath[T]) change(i int, sign float64) float64 {
	b := p.w.Bin(p.w.words[i])
	p.w.at.cdf[b] = p.rows[b].f
	return p.kernelPath.change(i, sign)
}

func (p *boundedPath[T]) cross(i int) float64 {
	b := p.w.Bin(p.w.words[i])
	p.w.at.cdf[b] = p.rows[b].f
	d := p.kernelPath.cross(i)
	p.rows[b].f = p.w.at.cdf[b]
	return d
}

// run crosses events from i on as boundedKernel does for order 2, with the
// common case of squash.advance written out in place, so that the state stays out
// of memory. It stops before the last event, a tie, and where c_1 or what
// max_slope is relative to counts as 0 or changes its sign. It returns where it
// stopped.
//
// With v = L' c~ and X = sum_b F_b x_b the change of J by a step e in bin b is
//
//	2 e (F_b + e/2 - v_mean.x_b) - 2 dv.(X + e/2 x_b - v_mean) + slope_penalty d(c_1^2)
//
// less what the bias changes by, which is so small that it may be found as a
// difference of two values of it.
func (p *boundedPath[T]) run(st *state, i, hi int) int {
	k := p.boundedKernel
	in, now := p.w.in, k.now
	bo := in.bound
	limited, monotonic, selected := bo.limited, bo.monotonic, bo.slopeOf == Selected
	if now.value[1] == 0 || limited && now.squashes[1].off || monotonic && now.squashes[2].off {
		return i
	}
	words, weights, layout, rows := p.w.words, p.w.weights, p.w.Layout, p.rows
	exact, scores, squares := layout.Exact(), p.w.scores, p.w.at.squares
	slopeSign, pivotSign := math.Copysign(1, now.value[1]), math.Copysign(1, now.pivot)
	share, maxSlope, floor := bo.shares[2]*slopeSign, bo.maxSlope*pivotSign, bo.slopeFloor
	l := p.lower
	c0, c1, c2 := k.c[0], k.c[1], k.c[2]
	x := l.solve(k.pf[:3])
	x0, x1, x2 := x[0], x[1], x[2]
	v0 := l[0][0]*now.value[0] + l[1][0]*now.value[1] + l[2][0]*now.value[2]
	v1 := l[1][1]*now.value[1] + l[2][1]*now.value[2]
	v2 := l[2][2] * now.value[2]
	t1, u1, h1, q1 := now.squashes[1].t, now.squashes[1].u, now.squashes[1].tanh, now.squashes[1].sech2
	t2, u2, h2, q2 := now.squashes[2].t, now.squashes[2].u, now.squashes[2].tanh, now.squashes[2].sech2
	pivot := now.pivot
	bias, total := k.bias, 0.0
	if bias != nil {
		total = bias.total3(now.by0[1], now.byOwn[1], now.by0[2], now.by1[2], now.byOwn[2])
	}
	for ; i < hi-1; i++ {
		r := words[i]
		if layout.Key(words[i+1]) == layout.Key(r) {
			break
		}
		row := &rows[layout.Bin(r)]
		e := row.inverse
		if weights != nil {
			e *= weights[i]
		}
		dc0, dc1, dc2 := e*row.a[0], e*row.a[1], e*row.a[2]
		n1 := c1 + dc1
		if !(n1*slopeSign > floor) {
			break
		}
		d1, nextPivot := dc1, pivot
		if limited {
			dpivot := dc0
			nextPivot = c0 + dc0
			if selected {
				dpivot, nextPivot = -dc0, 1-nextPivot
			}
			if !(nextPivot*pivotSign > roundingFloor) {
				break
			}
			t, dt := maxSlope*nextPivot, maxSlope*dpivot
			inverse := 1 / t
			u := n1 * inverse
			if du := (dc1 - u1*dt) * inverse; isSmallStep(du, t, dt) && math.Abs(u1) <= saturated {
				dh, slope := tanhStep(h1, q1, du)
				d1 = dt*(h1+dh/2) + (t1+t)/2*dh
				t1, u1, h1, q1 = t, u, h1+dh, slope
			} else {
				now, next := squash{t: t1, u: u1, tanh: h1, sech2: q1}, squash{}
				d1 = now.advance(&next, n1, t, dc1, dt)
				t1, u1, h1, q1 = next.t, next.u, next.tanh, next.sech2
			}
		}
		d2 := dc2
		if monotonic {
			slope := n1
			if limited {
				slope = t1 * h1
			}
			t, dt := share*slope, share*d1
			inverse := 1 / t
			u := (c2 + dc2) * inverse
			if du := (dc2 - u2*dt) * inverse; isSmallStep(du, t, dt) && math.Abs(u2) <= saturated {
				dh, slope := tanhStep(h2, q2, du)
				d2 = dt*(h2+dh/2) + (t2+t)/2*dh
				t2, u2, h2, q2 = t, u, h2+dh, slope
			} else {
				now, next := squash{t: t2, u: u2, tanh: h2, sech2: q2}, squash{}
				d2 = now.advance(&next, c2+dc2, t, dc2, dt)
				t2, u2, h2, q2 = next.t, next.u, next.tanh, next.sech2
			}
		}
		dv0, dv1, dv2 := l[0][0]*dc0+l[1][0]*d1+l[2][0]*d2, l[1][1]*d1+l[2][1]*d2, l[2][2]*d2
		m0, m1, m2, half := v0+dv0/2, v1+dv1/2, v2+dv2/2, e/2
		d := e * (row.f + half - (m0*row.x[0] + m1*row.x[1] + m2*row.x[2]))
		d -= dv0*(x0+half*row.x[0]-m0) + dv1*(x1+half*row.x[1]-m1) + dv2*(x2+half*row.x[2]-m2)
		d = 2*d + in.penalty*dc1*(c1+n1)
		if bias != nil { // with the derivatives as in bound.differentiate
			by0, own1, by1, own2 := 0.0, 1.0, 0.0, 1.0 // by1: of c~_2 by c~_1
			if limited {
				own1 = q1
				by0 = maxSlope * byT(h1, u1, own1)
				if selected {
					by0 = -by0
				}
			}
			if monotonic {
				own2 = q2
				by1 = share * byT(h2, u2, own2)
			}
			b, e2 := layout.Bin(r), e*e
			bias.add3(b, in.variance.change(step{b, e, e2}, row.f, squares[b]))
			squares[b] += e2
			after := bias.total3(by0, own1, by1*by0, by1*own1, own2)
			d -= after - total
			total = after
		}

		next := layout.Number(r)
		if !exact {
			next = float64(scores[layout.Index(r)])
		}
		st.advance(next, d)
		p.w.out[i-p.w.base] = T(-p.w.in.scale * d)
		row.f += e
		x0, x1, x2 = x0+e*row.x[0], x1+e*row.x[1], x2+e*row.x[2]
		c0, c1, c2, v0, v1, v2, pivot = c0+dc0, n1, c2+dc2, v0+dv0, v1+dv1, v2+dv2, nextPivot
	}
	k.c[0], k.c[1], k.c[2] = c0, c1, c2
	k.pf[0], k.pf[1], k.pf[2] = l[0][0]*x0, l[1][0]*x0+l[1][1]*x1, l[2][0]*x0+l[2][1]*x1+l[2][2]*x2
	now.value[0], now.value[1], now.value[2], now.pivot = c0, c1, c2, pivot
	if limited {
		now.value[1] = t1 * h1
	}
	if monotonic {
		now.value[2] = t2 * h2
	}
	now.squashes[1], now.squashes[2] = squash{t: t1, u: u1, tanh: h1, sech2: q1}, squash{t: t2, u: u2, tanh: h2, sech2: q2}
	if bias != nil {
		bo.differentiate(now)
		y := bias.y
		y[3], y[6], y[7] = y[1], y[2], y[5]
	}
	return i
}

// total3 returns the bias at D with the rows (1, 0, 0), (d10, d11, 0) and
// (d20, d21, d22), by way of <D, G D Y> = sum_lm G_lm D_l.(Y D_m).
func (bs *biasSums) total3(d10, d11, d20, d21, d22 float64) float64 {
	x, y, g := (*[9]float64)(bs.x), (*[9]float64)(bs.y), (*[9]float64)(bs.basis.gram)
	y10, y11 := d10*y[0]+d11*y[1], d10*y[1]+d11*y[4] // Y D_1
	y20, y21, y22 := d20*y[0]+d21*y[1]+d22*y[2], d20*y[1]+d21*y[4]+d22*y[5], d20*y[2]+d21*y[5]+d22*y[8]
	sum := g[0]*y[0] + g[4]*(d10*y10+d11*y11) + g[8]*(d20*y20+d21*y21+d22*y22)
	sum += 2 * (g[1]*y10 + g[2]*y20 + g[5]*(d10*y20+d11*y21))
	return bs.plain + sum - 2*(x[0]+d10*x[3]+d11*x[4]+d20*x[6]+d21*x[7]+d22*x[8])
}

// add3 is add for three moments; of Y it leaves out what follows by symmetry, and
// of X what the bias does not need.
func (bs *biasSums) add3(b int, v float64) {
	p, a := (*[3]float64)(bs.basis.p[3*b:]), (*[3]float64)(bs.basis.a[3*b:])
	x, y := (*[9]float64)(bs.x), (*[9]float64)(bs.y)
	v0, v1, v2 := v*a[0], v*a[1], v*a[2]
	x[0] += p[0] * v0
	x[3] += p[1] * v0
	x[4] += p[1] * v1
	x[6] += p[2] * v0
	x[7] += p[2] * v1
	x[8] += p[2] * v2
	y[0] += a[0] * v0
	y[1] += a[0] * v1
	y[2] += a[0] * v2
	y[4] += a[1] * v1
	y[5] += a[1] * v2
	y[8] += a[2] * v2
	bs.plain += v + bs.penalty*a[1]*v1
}
