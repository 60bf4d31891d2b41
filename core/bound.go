package core

import "math"

// bound holds the options that make c~ out of c:
//
//	max_slope  c~_1 = t tanh(c_1/t),      t = max_slope |c_0|  (Rejected)
//	                                      t = max_slope |1-c_0| (Selected)
//	monotonic  c~_l = t_l tanh(c_l/t_l),  t_l = |c~_1| / ((order-1) l(l+1)/2), l >= 2
//
// At order 2 the latter is the c_1/3 tanh(3 c_2/c_1) of arXiv:2010.09745. It
// keeps the response monotonic at any order because
// |P_l'| <= l(l+1)/2 on [-1, 1].
type bound struct {
	size       int  // number of moments
	limited    bool // by maxSlope
	maxSlope   float64
	slopeOf    SlopeOf
	monotonic  bool
	shares     [MaxOrder + 1]float64 // the part of |c~_1| that moment l may have
	slopeFloor float64               // |c_1| up to here counts as 0
}

func newBound(cfg *Config, ba *basis) *bound {
	bo := &bound{
		size: ba.size, limited: !math.IsInf(cfg.MaxSlope, 1), maxSlope: cfg.MaxSlope,
		slopeOf: cfg.SlopeOf, monotonic: cfg.Monotonic, slopeFloor: ba.slopeFloor,
	}
	for l := 2; l < bo.size; l++ {
		bo.shares[l] = 2 / float64((bo.size-2)*l*(l+1))
	}
	return bo
}

// squash is one application of t tanh(c/t), with what its derivatives need. Its
// slope 1 - tanh^2 u is carried beside tanh u: where |u| is large, the difference
// 1 - tanh^2 of the rounded tanh has no digits left.
type squash struct {
	t, u  float64 // u = c/t
	tanh  float64 // tanh u
	sech2 float64 // 1 - tanh^2 u = 1/cosh^2 u
	off   bool    // t counts as 0: the result is 0 and so are its derivatives
}

// saturated is a |u| from which tanh u is 1 in double precision.
const saturated = 20

func newSquash(c, t float64) squash {
	if t == 0 {
		return squash{off: true}
	}
	u := c / t
	if math.Abs(u) > saturated {
		return squash{t: t, u: u, tanh: math.Copysign(1, u)}
	}
	tanh, slope := tanhAndSlope(u)
	return squash{t: t, u: u, tanh: tanh, sech2: slope}
}

func (q *squash) value() float64 { return q.t * q.tanh }

// byC returns d value/dc.
func (q *squash) byC() float64 { return q.sech2 } // 0 where off

// byT returns d value/dt.
func (q *squash) byT() float64 { return byT(q.tanh, q.u, q.sech2) }

// byT is squash.byT without the struct. An infinite u goes with sech2 = 0.
func byT(tanh, u, sech2 float64) float64 {
	if sech2 == 0 {
		return tanh
	}
	return tanh - u*sech2
}

// advance sets next to the squash at c and t, which lie dc and dt from where q
// is, and returns next.value() - q.value(). For the small steps that events make
// it needs no tanh and loses no digits to the difference; where u or t changes
// by much, so does the value, and the plain difference is exact enough.
func (q *squash) advance(next *squash, c, t, dc, dt float64) float64 {
	if t == 0 || q.off || c == 0 { // of c, rounded to 0, the value is exactly 0
		*next = newSquash(c, t)
		return next.value() - q.value()
	}
	u := c / t
	du := (dc - q.u*dt) / t
	if !isSmallStep(du, t, dt) || math.Abs(q.u) > saturated {
		*next = newSquash(c, t)
		if next.tanh == q.tanh {
			return dt * q.tanh
		}
		return next.value() - q.value()
	}
	dtanh, sech2 := tanhStep(q.tanh, q.sech2, du)
	*next = squash{t: t, u: u, tanh: q.tanh + dtanh, sech2: sech2}
	return dt*(q.tanh+dtanh/2) + (q.t+t)/2*dtanh
}

// isSmallStep reports whether tanhStep is exact for a step of u by du, by which t
// has grown by dt to t. Where t falls to a small part of what it was, du, a
// difference of terms in units of the new t, is not known so well.
func isSmallStep(du, t, dt float64) bool { return math.Abs(du) < smallStep && dt > -15*t }

// tanhStep returns tanh(u + du) - tanh u and 1 - tanh^2(u + du), from tanh u and
// 1 - tanh^2 u. With d = tanh du they are
//
//	d (1 - tanh^2 u) / (1 + d tanh u),   (1 - tanh^2 u) (1 - d^2) / (1 + d tanh u)^2
//
// in which nothing cancels, so that errors stay relative however large u is.
func tanhStep(tanh, sech2, du float64) (dtanh, next float64) {
	du2 := du * du
	d := du * (1 - du2*(1.0/3-du2*(2.0/15-du2*(17.0/315-du2*(62.0/2835)))))
	inverse := 1 / (1 + d*tanh)
	return d * sech2 * inverse, sech2 * (1 - d*d) * inverse * inverse
}

// smallStep is a |x| up to which five terms of the series of tanh x are exact
// in double precision: the sixth is below 1e-2 x^10 of the first.
const smallStep = 0.025

// bounded is what bound makes of moments c: the bounded moments and the matrix
// d c~/dc, which has three columns that are not 0 in row l: 0, 1 and l.
type bounded struct {
	value [MaxOrder + 1]float64 // c~
	by0   [MaxOrder + 1]float64 // d c~_l/dc_0, l >= 1
	by1   [MaxOrder + 1]float64 // d c~_l/dc_1, l >= 2
	byOwn [MaxOrder + 1]float64 // d c~_l/dc_l

	squashes [MaxOrder + 1]squash // of moment l, where bounded
	pivot    float64              // c_0 or 1 - c_0: max_slope is relative to it
	slope    float64              // c_1, or 0 where it counts as 0
}

// apply sets dst to the bounded moments of c.
func (bo *bound) apply(dst *bounded, c []float64) {
	dst.value[0] = c[0]
	if bo.size == 1 {
		return
	}
	dst.slope = bo.slope(c)
	dst.value[1] = dst.slope
	if bo.limited {
		dst.pivot = bo.pivot(c)
		dst.squashes[1] = newSquash(dst.slope, bo.limit(dst.pivot))
		dst.value[1] = dst.squashes[1].value()
	}
	for l := 2; l < bo.size; l++ {
		dst.value[l] = c[l]
		if bo.monotonic {
			dst.squashes[l] = newSquash(c[l], bo.shares[l]*math.Abs(dst.value[1]))
			dst.value[l] = dst.squashes[l].value()
		}
	}
}

// advance sets next to the bounded moments of c, which lie dc from those that
// now was made of, and d to next.value - now.value.
func (bo *bound) advance(next, now *bounded, d, c, dc []float64) {
	next.value[0], d[0] = c[0], dc[0]
	if bo.size == 1 {
		return
	}
	next.slope = bo.slope(c)
	d[1] = dc[1]
	if next.slope == 0 || now.slope == 0 { // either may have been rounded to 0
		d[1] = next.slope - now.slope
	}
	next.value[1] = next.slope
	if bo.limited {
		next.pivot = bo.pivot(c)
		dpivot := dc[0]
		if bo.slopeOf == Selected {
			dpivot = -dpivot
		}
		dt := bo.maxSlope * changeOfAbs(now.pivot, next.pivot, dpivot)
		d[1] = now.squashes[1].advance(&next.squashes[1], next.slope, bo.limit(next.pivot), d[1], dt)
		next.value[1] = next.squashes[1].value()
	}
	if !bo.monotonic {
		for l := 2; l < bo.size; l++ {
			next.value[l], d[l] = c[l], dc[l]
		}
		return
	}
	slope := math.Abs(next.value[1])
	dslope := changeOfAbs(now.value[1], next.value[1], d[1])
	for l := 2; l < bo.size; l++ {
		share, q := bo.shares[l], &next.squashes[l]
		d[l] = now.squashes[l].advance(q, c[l], share*slope, dc[l], share*dslope)
		next.value[l] = q.value()
	}
}

// differentiate sets the derivatives of b, whose other fields are set.
func (bo *bound) differentiate(b *bounded) {
	b.byOwn[0] = 1
	if bo.size == 1 {
		return
	}
	b.byOwn[1], b.by0[1] = 1, 0
	if bo.limited {
		b.byOwn[1] = b.squashes[1].byC()
		b.by0[1] = b.squashes[1].byT() * bo.maxSlope * bo.pivotSign(b.pivot)
	}
	for l := 2; l < bo.size; l++ {
		if !bo.monotonic {
			b.byOwn[l], b.by0[l], b.by1[l] = 1, 0, 0
			continue
		}
		byT := b.squashes[l].byT() * math.Copysign(bo.shares[l], b.value[1])
		b.byOwn[l] = b.squashes[l].byC()
		b.by0[l] = byT * b.by0[1]
		b.by1[l] = byT * b.byOwn[1]
	}
}

// slope returns c_1, or 0 where it counts as 0.
func (bo *bound) slope(c []float64) float64 {
	if math.Abs(c[1]) <= bo.slopeFloor {
		return 0
	}
	return c[1]
}

// pivot returns what max_slope is relative to, but for its sign.
func (bo *bound) pivot(c []float64) float64 {
	if bo.slopeOf == Selected {
		return 1 - c[0]
	}
	return c[0]
}

// pivotSign returns d|pivot|/dc_0.
func (bo *bound) pivotSign(pivot float64) float64 {
	sign := math.Copysign(1, pivot)
	if bo.slopeOf == Selected {
		return -sign
	}
	return sign
}

// limit returns t of max_slope, or 0 where it counts as 0.
func (bo *bound) limit(pivot float64) float64 {
	t := math.Abs(pivot)
	if t <= roundingFloor {
		return 0
	}
	return bo.maxSlope * t
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
