package core

import "math"

// boundedRow is what crossing an event needs of its bin, in one line of cache.
type boundedRow struct {
	x, a    [3]float64 // L x = P_b, with L of fastKernel for no penalty; A_b
	f       float64    // F_b
	inverse float64    // 1/W_b
}

// setRows sets the rows for the state that the kernel was started at.
func (k *boundedKernel) setRows(inverse []float64) {
	for b := range k.rows {
		k.rows[b] = boundedRow{x: k.lower.solve(k.basis.rowP(b)), a: [3]float64(k.basis.rowA(b)), f: k.cdf[b], inverse: inverse[b]}
	}
}

// fromRows and toRows take the CDFs of the bins of some events from the rows, and
// back into them.
func (k *boundedKernel) fromRows(records []uint64, la *layout) {
	for _, r := range records {
		b := la.bin(r)
		k.cdf[b] = k.rows[b].f
	}
}

func (k *boundedKernel) toRows(records []uint64, la *layout) {
	for _, r := range records {
		b := la.bin(r)
		k.rows[b].f = k.cdf[b]
	}
}

// runBounded crosses events from i on as boundedKernel does for order 2 without
// the bias, with the common cases of squash.advance written out in place, so that
// the state stays out of memory. It stops before the last event, a tie, and
// where c_1 or what max_slope is relative to counts as 0 or changes its sign. It
// returns where it stopped.
//
// With v = L' c~ and X = sum_b F_b x_b the change of J by a step e in bin b is
//
//	2 e (F_b + e/2 - v_mean.x_b) - 2 dv.(X + e/2 x_b - v_mean) + slope_penalty d(c_1^2)
func (sw *sweep[T]) runBounded(wk *walker[T], k *boundedKernel, st *walkState, i, hi int) int {
	bo, now := &k.bound, k.now
	limited, monotonic, selected := bo.limited, bo.monotonic, bo.slopeOf == Selected
	if now.value[1] == 0 || limited && now.squashes[1].off || monotonic && now.squashes[2].off {
		return i
	}
	records, weights, layout, rows := sw.records, sw.weights, sw.layout, k.rows
	exact, scores := layout.exact(), sw.input.Score
	slopeSign, pivotSign := math.Copysign(1, now.value[1]), math.Copysign(1, now.pivot)
	share, maxSlope, floor := bo.shares[2]*slopeSign, bo.maxSlope*pivotSign, bo.slopeFloor
	l := k.lower
	c0, c1, c2 := k.c[0], k.c[1], k.c[2]
	x := l.solve(k.pf[:3])
	x0, x1, x2 := x[0], x[1], x[2]
	v0 := l[0][0]*now.value[0] + l[1][0]*now.value[1] + l[2][0]*now.value[2]
	v1 := l[1][1]*now.value[1] + l[2][1]*now.value[2]
	v2 := l[2][2] * now.value[2]
	t1, u1, h1 := now.squashes[1].t, now.squashes[1].u, now.squashes[1].tanh
	t2, u2, h2 := now.squashes[2].t, now.squashes[2].u, now.squashes[2].tanh
	pivot := now.pivot
	for ; i < hi-1; i++ {
		r := records[i]
		if layout.key(records[i+1]) == layout.key(r) {
			break
		}
		row := &rows[layout.bin(r)]
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
			du := (dc1 - u1*dt) / t
			if du2 := du * du; math.Abs(u1) <= saturated && du2 < smallStep*smallStep {
				dh := du * (1 - du2*(1.0/3-du2*(2.0/15-du2*(17.0/315-du2*(62.0/2835)))))
				dh = dh * (1 - h1*h1) / (1 + h1*dh)
				d1 = dt*(h1+dh/2) + (t1+t)/2*dh
				t1, u1, h1 = t, u1+du, h1+dh
			} else {
				now, next := squash{t: t1, u: u1, tanh: h1}, squash{}
				d1 = now.advance(&next, n1, t, dc1, dt)
				t1, u1, h1 = next.t, next.u, next.tanh
			}
		}
		d2 := dc2
		if monotonic {
			slope := n1
			if limited {
				slope = t1 * h1
			}
			t, dt := share*slope, share*d1
			du := (dc2 - u2*dt) / t
			if du2 := du * du; math.Abs(u2) <= saturated && du2 < smallStep*smallStep {
				dh := du * (1 - du2*(1.0/3-du2*(2.0/15-du2*(17.0/315-du2*(62.0/2835)))))
				dh = dh * (1 - h2*h2) / (1 + h2*dh)
				d2 = dt*(h2+dh/2) + (t2+t)/2*dh
				t2, u2, h2 = t, u2+du, h2+dh
			} else {
				now, next := squash{t: t2, u: u2, tanh: h2}, squash{}
				d2 = now.advance(&next, c2+dc2, t, dc2, dt)
				t2, u2, h2 = next.t, next.u, next.tanh
			}
		}
		dv0, dv1, dv2 := l[0][0]*dc0+l[1][0]*d1+l[2][0]*d2, l[1][1]*d1+l[2][1]*d2, l[2][2]*d2
		m0, m1, m2, half := v0+dv0/2, v1+dv1/2, v2+dv2/2, e/2
		d := e * (row.f + half - (m0*row.x[0] + m1*row.x[1] + m2*row.x[2]))
		d -= dv0*(x0+half*row.x[0]-m0) + dv1*(x1+half*row.x[1]-m1) + dv2*(x2+half*row.x[2]-m2)
		d = 2*d + k.penalty*dc1*(c1+n1)

		next := layout.score(r)
		if !exact {
			next = float64(scores[layout.index(r)])
		}
		st.advance(next, d)
		wk.out[i-wk.base] = T(-sw.scale * d)
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
	now.squashes[1], now.squashes[2] = squash{t: t1, u: u1, tanh: h1}, squash{t: t2, u: u2, tanh: h2}
	return i
}
