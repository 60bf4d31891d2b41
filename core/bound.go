package core

import "math"

// bound holds the options that make c~ out of c:
//
//	max_slope  c~_1 = t tanh(c_1/t),      t = max_slope |c_0|  (Rejected)
//	                                      t = max_slope |1-c_0| (Selected)
//	monotonic  c~_l = t_l tanh(c_l/t_l),  t_l = |c~_1| / ((order-1) l(l+1)/2), l >= 2
//
// At order 2 the latter is the c_1/3 tanh(3 c_2/c_1) of arXiv:2010.09745,
// section 2.2. It keeps the response monotonic at any order because
// |P_l'| <= l(l+1)/2 on [-1, 1].
type bound struct {
	size       int // number of moments
	maxSlope   float64
	slopeOf    SlopeOf
	monotonic  bool
	slopeFloor float64 // |c_1| up to here counts as 0
}

func newBound(cfg *Config, ba *basis) bound {
	return bound{ba.size, cfg.MaxSlope, cfg.SlopeOf, cfg.Monotonic, ba.slopeFloor}
}

// squash is one application of t tanh(c/t), with what its derivatives need.
type squash struct {
	t, u, tanh float64 // u = c/t
	off        bool    // t or c counts as 0: the result is 0 and so are its derivatives
}

// saturated is a |u| from which tanh(u) is 1 in double precision.
const saturated = 20

func newSquash(c, t float64) squash {
	if t == 0 {
		return squash{off: true}
	}
	u := c / t
	return squash{t: t, u: u, tanh: math.Tanh(u)}
}

func (q *squash) value() float64 { return q.t * q.tanh }

// byC returns d value/dc.
func (q *squash) byC() float64 {
	if q.off {
		return 0
	}
	return 1 - q.tanh*q.tanh
}

// byT returns d value/dt.
func (q *squash) byT() float64 {
	if q.off {
		return 0
	}
	if math.Abs(q.u) > saturated {
		return q.tanh
	}
	return q.tanh - q.u*(1-q.tanh*q.tanh)
}

// change returns next.value() - q.value(), given the changes of c and t, without
// the loss of digits of the plain difference.
func (q *squash) change(next *squash, dc, dt float64) float64 {
	if q.off || next.off || math.Abs(q.u) > saturated || math.Abs(next.u) > saturated {
		return next.value() - q.value()
	}
	du := (dc - q.u*dt) / next.t
	dtanh := tanh(du) * (1 - q.tanh*next.tanh)
	return dt*(q.tanh+next.tanh)/2 + (q.t+next.t)/2*dtanh
}

// tanh is math.Tanh, faster for the small arguments that one event makes.
func tanh(x float64) float64 {
	if x2 := x * x; x2 < 1e-6 {
		return x * (1 - x2*(1.0/3-x2*(2.0/15))) // the next term is below 6e-20
	}
	return math.Tanh(x)
}

// bounded is what bound makes of moments c: the bounded moments and the matrix
// d c~/dc, which has three columns that are not 0 in row l: 0, 1 and l.
type bounded struct {
	value [MaxOrder + 1]float64 // c~
	by0   [MaxOrder + 1]float64 // d c~_l/dc_0, l >= 1
	by1   [MaxOrder + 1]float64 // d c~_l/dc_1, l >= 2
	byOwn [MaxOrder + 1]float64 // d c~_l/dc_l

	squashes [MaxOrder + 1]squash // of moment l, where bounded
	pivot    float64              // c_0 or 1 - c_0: max_slope is relative to it
}

// apply sets dst to the bounded moments of c. With derivatives false, dst's
// derivatives are left as they are.
func (bo *bound) apply(dst *bounded, c []float64, derivatives bool) {
	dst.value[0] = c[0]
	dst.byOwn[0] = 1
	if bo.size == 1 {
		return
	}
	c1 := c[1]
	if math.Abs(c1) <= bo.slopeFloor {
		c1 = 0
	}
	slope := &dst.squashes[1]
	if math.IsInf(bo.maxSlope, 1) {
		dst.value[1] = c1
		dst.by0[1] = 0
		dst.byOwn[1] = 1
		if c1 == 0 {
			dst.byOwn[1] = 0
		}
	} else {
		dst.pivot = c[0]
		if bo.slopeOf == Selected {
			dst.pivot = 1 - c[0]
		}
		t := math.Abs(dst.pivot)
		if t <= roundingFloor || c1 == 0 {
			t = 0
		}
		*slope = newSquash(c1, bo.maxSlope*t)
		dst.value[1] = slope.value()
		if derivatives {
			dst.byOwn[1] = slope.byC()
			dst.by0[1] = slope.byT() * bo.maxSlope * bo.pivotSign(dst.pivot)
		}
	}
	for l := 2; l < bo.size; l++ {
		if !bo.monotonic {
			dst.value[l] = c[l]
			dst.by0[l], dst.by1[l], dst.byOwn[l] = 0, 0, 1
			continue
		}
		q := &dst.squashes[l]
		*q = newSquash(c[l], bo.share(l)*math.Abs(dst.value[1]))
		dst.value[l] = q.value()
		if derivatives {
			dst.byOwn[l] = q.byC()
			byT := q.byT() * math.Copysign(bo.share(l), dst.value[1])
			dst.by0[l] = byT * dst.by0[1]
			dst.by1[l] = byT * dst.byOwn[1]
		}
	}
}

// share returns the part of |c~_1| that moment l may have.
func (bo *bound) share(l int) float64 {
	return 2 / float64((bo.size-2)*l*(l+1))
}

// pivotSign returns d|pivot|/dc_0.
func (bo *bound) pivotSign(pivot float64) float64 {
	sign := math.Copysign(1, pivot)
	if bo.slopeOf == Selected {
		return -sign
	}
	return sign
}

// change sets d to to.value - from.value, where the moments differ by dc.
func (bo *bound) change(d []float64, from, to *bounded, dc []float64) {
	copy(d, dc)
	if bo.size == 1 {
		return
	}
	if math.IsInf(bo.maxSlope, 1) {
		if from.value[1] == 0 || to.value[1] == 0 { // either may have been rounded to 0
			d[1] = to.value[1] - from.value[1]
		}
	} else {
		dpivot := dc[0]
		if bo.slopeOf == Selected {
			dpivot = -dc[0]
		}
		dt := bo.maxSlope * changeOfAbs(from.pivot, to.pivot, dpivot)
		d[1] = from.squashes[1].change(&to.squashes[1], dc[1], dt)
	}
	if !bo.monotonic {
		return
	}
	dslope := changeOfAbs(from.value[1], to.value[1], d[1])
	for l := 2; l < bo.size; l++ {
		d[l] = from.squashes[l].change(&to.squashes[l], dc[l], bo.share(l)*dslope)
	}
}

// changeOfAbs returns |to| - |from|, where to - from is known to be d.
func changeOfAbs(from, to, d float64) float64 {
	switch {
	case from >= 0 && to >= 0:
		return d
	case from <= 0 && to <= 0:
		return -d
	}
	return math.Abs(to) - math.Abs(from)
}
