package core

import "gonum.org/v1/gonum/floats"

// linearKernel is the sweep where no moment is bounded. Then r = (1 - P A) F is
// linear in F and J = F' M F with M = (1 - PA)'(1 - PA) + slope_penalty A_1 A_1',
// so that a step e in bin b changes J by
//
//	e (2 (M F)_b + e M_bb),   (M F)_b = F_b - c.P_b - z.A_b,
//	z = P'r - slope_penalty c_1 dc_1/dc
//
// and c and z by e times vectors that belong to the bin. M_bb is also the
// factor of V_b in the bias. Only the product P A matters here, so that c may
// belong to any basis of the polynomials.
type linearKernel struct {
	size    int
	basis   *basis
	spread  *spread
	of      *dominated // nil: no bin is
	penalty float64
	moveZ   []float64 // per bin: dz/dF_b
	square  []float64 // per bin: M_bb

	c, z         []float64
	cdf, squares []float64
}

func newLinearKernel(cfg *Config, ba *basis, sp *spread, of *dominated) *linearKernel {
	if ba.orthonormal != nil {
		ba = ba.orthonormal
	}
	nb := len(ba.p) / ba.size
	k := &linearKernel{
		size: ba.size, basis: ba, spread: sp, of: of, penalty: cfg.SlopePenalty,
		moveZ:  make([]float64, len(ba.p)),
		square: make([]float64, nb),
		c:      make([]float64, ba.size),
		z:      make([]float64, ba.size),
	}
	for b := range nb {
		p, a := ba.rowP(b), ba.rowA(b)
		move := k.moveZ[b*k.size : (b+1)*k.size]
		for l := range move {
			move[l] = p[l] - floats.Dot(ba.gram[l*k.size:(l+1)*k.size], a)
		}
		floats.AddScaled(move, -k.penalty*floats.Dot(ba.slope, a), ba.slope)
		k.square[b] = 1 - floats.Dot(a, p) - floats.Dot(a, move)
	}
	return k
}

func (k *linearKernel) start(cdf, squares []float64) float64 {
	k.cdf, k.squares = cdf, squares
	k.basis.moments(k.c, cdf)
	clear(k.z)
	var j float64
	for b, f := range cdf {
		r := k.basis.residual(b, f, k.c)
		j += r * r
		floats.AddScaled(k.z, r, k.basis.rowP(b))
	}
	slope := floats.Dot(k.basis.slope, k.c)
	floats.AddScaled(k.z, -k.penalty*slope, k.basis.slope)
	j += k.penalty * slope * slope
	if k.spread != nil {
		for b, f := range cdf {
			j -= k.spread.varianceIn(k.of, b, f, squares[b]) * k.square[b]
		}
	}
	return j
}

func (k *linearKernel) change(st step) float64 {
	p, a := k.basis.rowP(st.bin), k.basis.rowA(st.bin)
	slope := k.cdf[st.bin]
	for l, c := range k.c {
		slope -= c*p[l] + k.z[l]*a[l]
	}
	d := st.e * (2*slope + st.e*k.square[st.bin])
	if k.spread != nil {
		d -= k.spread.changeIn(k.of, st, k.cdf[st.bin], k.squares[st.bin]) * k.square[st.bin]
	}
	return d
}

func (k *linearKernel) cross(st step) float64 {
	d := k.change(st)
	a := k.basis.rowA(st.bin)
	move := k.moveZ[st.bin*k.size : (st.bin+1)*k.size]
	for l := range k.c {
		k.c[l] += st.e * a[l]
		k.z[l] += st.e * move[l]
	}
	k.cdf[st.bin] += st.e
	if k.spread != nil {
		k.squares[st.bin] += st.square
		if k.of.has(st.bin) {
			k.of.cross(st)
		}
	}
	return d
}
