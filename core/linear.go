package core

import (
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// linear is J where no moment is bounded. Then r = (1 - P A) F is linear in F and
// J = F' M F with M = (1 - PA)'(1 - PA) + slope_penalty A_1 A_1', so that a step e in
// bin b changes J by
//
//	e (2 (M F)_b + e M_bb),   (M F)_b = F_b - c.P_b - z.A_b,
//	z = P'r - slope_penalty c_1 dc_1/dc
//
// and c and z by e times vectors that belong to the bin. M_bb is also the
// factor of V_b in the bias. Only the product P A matters here, so that c may
// belong to any basis of the polynomials.
type linear struct {
	basis  *basis
	moveZ  []float64 // per bin: dz/dF_b
	square []float64 // per bin: M_bb
}

func newLinear(ba *basis, penalty float64, arena *par.Arena) *linear {
	if ba.orthonormal != nil {
		ba = ba.orthonormal
	}
	size := ba.size
	li := par.New(arena, linear{ba, par.Make[float64](arena, len(ba.p)), par.Make[float64](arena, len(ba.p)/size)})
	for b := range li.square {
		p, a := ba.rowP(b), ba.rowA(b)
		move := li.moveZ[b*size : (b+1)*size]
		for l := range move {
			move[l] = p[l] - dot(ba.gram[l*size:(l+1)*size], a)
		}
		floats.AddScaled(move, -penalty*dot(ba.slope, a), ba.slope)
		li.square[b] = 1 - dot(a, p) - dot(a, move)
	}
	return li
}

// row sets dst to row b of M.
func (li *linear) row(dst []float64, b int) {
	size := li.basis.size
	a, move := li.basis.rowA(b), li.moveZ[b*size:(b+1)*size]
	for k := range dst {
		dst[k] = -dot(a, li.basis.rowP(k)) - dot(move, li.basis.rowA(k))
	}
	dst[b]++
}

// linearKernel follows a J without bounds.
type linearKernel struct {
	*linear
	in   *integrand
	at   *point
	c, z []float64
}

func newLinearKernel(in *integrand) *linearKernel {
	size := in.linear.basis.size
	return &linearKernel{linear: in.linear, in: in, c: make([]float64, size), z: make([]float64, size)}
}

func (k *linearKernel) start(pt *point) float64 {
	k.at = pt
	k.basis.moments(k.c, pt.cdf)
	clear(k.z)
	var j float64
	for b, f := range pt.cdf {
		p := k.basis.rowP(b)
		r := f - dot(k.c, p)
		j += r * r
		for l, x := range p {
			k.z[l] += r * x
		}
	}
	slope := dot(k.basis.slope, k.c)
	floats.AddScaled(k.z, -k.in.penalty*slope, k.basis.slope)
	j += k.in.penalty * slope * slope
	if k.in.variance != nil {
		for b := range pt.cdf {
			j -= k.in.variance.at(pt, b) * k.square[b]
		}
	}
	return j
}

func (k *linearKernel) change(st step) float64 {
	p, a := k.basis.rowP(st.bin), k.basis.rowA(st.bin)
	slope := k.at.cdf[st.bin]
	for l, c := range k.c {
		slope -= c*p[l] + k.z[l]*a[l]
	}
	d := st.e * (2*slope + st.e*k.square[st.bin])
	if k.in.variance != nil {
		d -= k.in.variance.changeAt(k.at, st) * k.square[st.bin]
	}
	return d
}

func (k *linearKernel) cross(st step) float64 {
	d := k.change(st)
	a := k.basis.rowA(st.bin)
	move := k.moveZ[st.bin*k.basis.size:][:k.basis.size]
	for l := range k.c {
		k.c[l] += st.e * a[l]
		k.z[l] += st.e * move[l]
	}
	k.at.cross(st)
	return d
}
