package core

import "gonum.org/v1/gonum/floats"

// boundedKernel follows J where moments are bounded, so that r = F - P c~ is
// no longer linear in F. A step e in bin b changes J by
//
//	2 r_mean . (e - P dc~) + slope_penalty d(c_1^2),  r_mean = (r_before + r_after)/2
//
// written as 2 (e r_mean,b - dc~ . P'r_mean), for which P'F and c are followed.
// Differences dc~ come from their closed form (bound.go), not by subtraction.
type boundedKernel struct {
	in   *integrand
	size int
	bias *biasSums // nil: the bias stays

	at    *point
	c, pf moments // c and P'F
	now   *bounded

	next           *bounded // after the step that change was last asked for
	cNext, dc, dv  moments
	mid            moments // the mean of c~ before and after it
	varianceChange float64 // of V_b, by that step
}

// moments is room for one number a moment.
type moments [MaxOrder + 1]float64

func newBoundedKernel(in *integrand) *boundedKernel {
	k := &boundedKernel{in: in, size: in.basis.size, now: new(bounded), next: new(bounded)}
	if in.variance != nil {
		k.bias = newBiasSums(in)
	}
	return k
}

func (k *boundedKernel) start(pt *point) float64 {
	k.at = pt
	basis := k.in.basis
	basis.moments(k.c[:k.size], pt.cdf)
	k.in.bound.apply(k.now, k.c[:k.size])
	k.pf = moments{}
	var j float64
	for b, f := range pt.cdf {
		p := basis.rowP(b)
		r := f - dot(k.now.value[:k.size], p)
		j += r * r
		floats.AddScaled(k.pf[:k.size], f, p)
	}
	j += k.in.penalty * k.c[1] * k.c[1]
	if k.bias != nil {
		k.in.bound.differentiate(k.now)
		j -= k.bias.start(pt, k.now)
	}
	return j
}

func (k *boundedKernel) change(st step) float64 {
	n, e := k.size, st.e
	p, a := k.in.basis.rowP(st.bin)[:n], k.in.basis.rowA(st.bin)[:n]
	c, next, dc, dv, mid := k.c[:n], k.cNext[:n], k.dc[:n], k.dv[:n], k.mid[:n]
	for l := range c {
		dc[l] = e * a[l]
		next[l] = c[l] + dc[l]
	}
	k.in.bound.advance(k.next, k.now, dv, next, dc)
	r := k.at.cdf[st.bin] + e/2
	for l := range p {
		mid[l] = (k.now.value[l] + k.next.value[l]) / 2
		r -= mid[l] * p[l]
	}
	sum := e * r
	for l, d := range dv {
		sum -= d * (k.pf[l] + e/2*p[l] - dot(k.in.basis.gram[l*n:l*n+n], mid))
	}
	d := 2*sum + k.in.penalty*dc[1]*(c[1]+next[1])
	if k.bias != nil {
		k.in.bound.differentiate(k.next)
		k.varianceChange = k.in.variance.changeAt(k.at, st)
		d -= k.bias.change(st.bin, k.varianceChange, k.now, k.next)
	}
	return d
}

func (k *boundedKernel) cross(st step) float64 {
	d := k.change(st)
	k.now, k.next = k.next, k.now
	for l, p := range k.in.basis.rowP(st.bin) {
		k.c[l] = k.cNext[l]
		k.pf[l] += st.e * p
	}
	k.at.cross(st)
	if k.bias != nil {
		k.bias.add(st.bin, k.varianceChange)
	}
	return d
}
