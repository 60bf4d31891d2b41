package core

import (
	"math"
	"slices"
)

// farKernel follows the same J as boundedKernel, by other sums, where the columns of P are nearly dependent: so they are
// where one mass is far from all others. The moments are then large and all but cancel in P c~, which would cost
// boundedKernel the digits of F - P c~. With projection moments c is the fit, so that r is a sum of two vectors at a
// right angle,
//
//	r = (F - P c) + P delta,   delta = c - c~,   J = (J without bounds) + delta.G delta
//
// of which linearKernel follows the first in an orthonormal basis, and the second is made of what the bounds take away
// from c alone. So is the bias,
//
//	bias = (bias without bounds) + <G, N Y N'>,   N = 1 - d c~/dc,   Y = sum_b V_b A_b A_b'
type farKernel struct {
	*linearKernel
	bound *bound
	basis *basis // of c
	size  int

	c         moments
	now, next *bounded
	cNext     moments
	dc, dv    moments

	y              []float64 // nil: the bias stays
	extra          float64   // <G, N Y N'>
	varianceChange float64   // of V_b, by the step that change was last asked for
}

// farFrom is the largest sum of the absolute values that make a moment out of F, sum_b |A_lb|, which leaves boundedKernel its
// digits.
const farFrom = 100

// nearlyDependent reports whether a moment of a fit is beyond farFrom.
func (ba *basis) nearlyDependent() bool {
	var sums moments
	for b := range len(ba.p) / ba.size {
		for l, a := range ba.rowA(b) {
			sums[l] += math.Abs(a)
		}
	}
	return ba.orthonormal != nil && slices.Max(sums[:ba.size]) > farFrom
}

func newFarKernel(in *integrand) *farKernel {
	size := in.basis.size
	k := &farKernel{linearKernel: newLinearKernel(in), bound: in.bound, basis: in.basis, size: size, now: new(bounded), next: new(bounded)}
	if in.variance != nil {
		k.y = make([]float64, size*size)
	}
	return k
}

func (k *farKernel) start(pt *point) float64 {
	j := k.linearKernel.start(pt)
	k.basis.moments(k.c[:k.size], pt.cdf)
	k.bound.apply(k.now, k.c[:k.size])
	var delta moments
	for l := range k.size {
		delta[l] = k.c[l] - k.now.value[l]
	}
	j += k.product(&delta, &delta)
	if k.y != nil {
		clear(k.y)
		for b := range pt.cdf {
			k.addVariance(b, k.in.variance.at(pt, b))
		}
		k.bound.differentiate(k.now)
		k.extra = k.extraOf(k.now)
		j -= k.extra
	}
	return j
}

func (k *farKernel) change(st step) float64 {
	n, a := k.size, k.basis.rowA(st.bin)
	for l := range n {
		k.dc[l] = st.e * a[l]
		k.cNext[l] = k.c[l] + k.dc[l]
	}
	k.bound.advance(k.next, k.now, k.dv[:n], k.cNext[:n], k.dc[:n])
	var sum, difference moments // of delta before and after
	for l := range n {
		sum[l] = (k.c[l] - k.now.value[l]) + (k.cNext[l] - k.next.value[l])
		difference[l] = k.dc[l] - k.dv[l]
	}
	d := k.linearKernel.change(st) + k.product(&sum, &difference)
	if k.y != nil {
		k.bound.differentiate(k.next)
		k.varianceChange = k.in.variance.changeAt(k.at, st)
		moved := removed(k.next, a)
		d -= k.extraOf(k.next) - k.extra + k.varianceChange*k.product(&moved, &moved)
	}
	return d
}

func (k *farKernel) cross(st step) float64 {
	d := k.change(st)
	k.now, k.next = k.next, k.now
	k.c = k.cNext
	if k.y != nil {
		k.addVariance(st.bin, k.varianceChange)
		k.extra = k.extraOf(k.now)
	}
	k.linearKernel.cross(st)
	return d
}

// product returns u.G v.
func (k *farKernel) product(u, v *moments) (sum float64) {
	for l, x := range u[:k.size] {
		if x != 0 {
			sum += x * dot(k.basis.gram[l*k.size:(l+1)*k.size], v[:k.size])
		}
	}
	return sum
}

// addVariance makes V_b grow by v.
func (k *farKernel) addVariance(b int, v float64) {
	a := k.basis.rowA(b)
	for l, al := range a {
		for m, am := range a {
			k.y[l*k.size+m] += v * al * am
		}
	}
}

// extraOf returns <G, N Y N'>.
func (k *farKernel) extraOf(bo *bounded) (sum float64) {
	var columns [MaxOrder + 1]moments // of N Y
	for m := range k.size {
		columns[m] = removed(bo, k.y[m*k.size:(m+1)*k.size]) // Y is symmetric
	}
	var row moments
	for l := range k.size {
		for m := range k.size {
			row[m] = columns[m][l]
		}
		row = removed(bo, row[:k.size]) // row l of N Y N'
		sum += dot(k.basis.gram[l*k.size:(l+1)*k.size], row[:k.size])
	}
	return sum
}

// removed returns N v.
func removed(bo *bounded, v []float64) (of moments) {
	for l := 1; l < len(v); l++ {
		if bo.byOwn[l] == 1 && bo.by0[l] == 0 && bo.by1[l] == 0 {
			continue
		}
		own := 1 - bo.byOwn[l]
		if q := &bo.squashes[l]; bo.byOwn[l] != 0 && math.Abs(q.u) < 1 {
			own = q.tanh * q.tanh // the same, with all its digits
		}
		of[l] = own*v[l] - bo.by0[l]*v[0]
		if l > 1 {
			of[l] -= bo.by1[l] * v[1]
		}
	}
	return of
}
