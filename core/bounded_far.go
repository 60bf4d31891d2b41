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
	taken          removal   // N, there or after the step that change was last asked for
	extra          float64   // <G, N Y N'>
	varianceChange float64   // of V_b, by that step
}

// removal is N = 1 - d c~/dc: row l has three columns that are not 0, l, 0 and 1.
type removal struct{ own, by0, by1 moments }

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
		k.taken.set(k.now, k.size)
		k.extra = k.extraNow()
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
		k.taken.set(k.next, n)
		var moved moments
		k.taken.times(&moved, a)
		d -= k.extraNow() - k.extra + k.varianceChange*k.product(&moved, &moved)
	}
	return d
}

func (k *farKernel) cross(st step) float64 {
	d := k.change(st)
	k.now, k.next = k.next, k.now
	k.c = k.cNext
	if k.y != nil {
		k.addVariance(st.bin, k.varianceChange)
		k.extra = k.extraNow()
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

// extraNow returns <G, N Y N'> with N as it was last set.
func (k *farKernel) extraNow() (sum float64) {
	var row, both moments // row l of N Y, and of N Y N'
	n := &k.taken
	for l := 1; l < k.size; l++ {
		if n.own[l] == 0 && n.by0[l] == 0 && n.by1[l] == 0 {
			continue
		}
		y0, y1 := k.y[:k.size], k.y[k.size:2*k.size]
		for m, y := range k.y[l*k.size : (l+1)*k.size] {
			row[m] = n.own[l]*y - n.by0[l]*y0[m] - n.by1[l]*y1[m]
		}
		n.times(&both, row[:k.size]) // Y is symmetric
		sum += dot(k.basis.gram[l*k.size:(l+1)*k.size], both[:k.size])
	}
	return sum
}

// set sets the first rows.
func (n *removal) set(bo *bounded, size int) {
	for l := 1; l < size; l++ {
		n.own[l], n.by0[l], n.by1[l] = 1-bo.byOwn[l], bo.by0[l], bo.by1[l]
		if bo.byOwn[l] == 1 && bo.by0[l] == 0 && bo.by1[l] == 0 {
			continue // c_l is not bounded
		}
		if q := &bo.squashes[l]; bo.byOwn[l] != 0 && math.Abs(q.u) < 1 {
			n.own[l] = q.tanh * q.tanh // the same, with all its digits
		}
	}
}

// times sets as many rows of N v as v has numbers.
func (n *removal) times(of *moments, v []float64) {
	for l := 1; l < len(v); l++ {
		of[l] = n.own[l]*v[l] - n.by0[l]*v[0] - n.by1[l]*v[1]
	}
}
