package core

import "gonum.org/v1/gonum/floats"

// boundedKernel is the sweep where moments are bounded, so that r = F - P c~ is
// no longer linear in F. A step e in bin b changes J by
//
//	2 r_mean . (e - P dc~) + slope_penalty d(c_1^2),  r_mean = (r_before + r_after)/2
//
// written as 2 (e r_mean,b - dc~ . P'r_mean), for which P'F and c are followed.
// Differences dc~ come from their closed form (bound.go), not by subtraction.
type boundedKernel struct {
	size    int
	basis   *basis
	bound   bound
	penalty float64
	bias    *biasSums // nil: the bias stays

	rows  []boundedRow // for runBounded; nil: it can't be used
	lower lower

	c, pf        moments // c and P'F
	now          *bounded
	cdf, squares []float64

	next           *bounded // after the step that change was last asked for
	cNext, dc, dv  moments
	mid            moments // the mean of c~ before and after it
	varianceChange float64 // of V_b, by that step
}

// moments is room for one number a moment.
type moments [MaxOrder + 1]float64

func newBoundedKernel(cfg *Config, ba *basis, sp *spread, of *dominated) *boundedKernel {
	k := &boundedKernel{
		size: ba.size, basis: ba, bound: newBound(cfg, ba), penalty: cfg.SlopePenalty,
		now: new(bounded), next: new(bounded),
	}
	if sp != nil {
		k.bias = newBiasSums(ba, sp, of, cfg.SlopePenalty)
	}
	if ba.size == 3 && of == nil && !onlyGeneralPaths {
		var ok bool
		if k.lower, ok = newLower(ba, 0); ok {
			k.rows = make([]boundedRow, len(ba.p)/ba.size)
		}
	}
	return k
}

func (k *boundedKernel) start(cdf, squares []float64) float64 {
	k.cdf, k.squares = cdf, squares
	k.basis.moments(k.c[:k.size], cdf)
	k.bound.apply(k.now, k.c[:k.size])
	k.pf = moments{}
	var j float64
	for b, f := range cdf {
		r := k.basis.residual(b, f, k.now.value[:k.size])
		j += r * r
		floats.AddScaled(k.pf[:k.size], f, k.basis.rowP(b))
	}
	j += k.penalty * k.c[1] * k.c[1]
	if k.bias != nil {
		k.bound.differentiate(k.now)
		j -= k.bias.start(cdf, squares, k.now)
	}
	return j
}

func (k *boundedKernel) change(st step) float64 {
	n, e := k.size, st.e
	p, a := k.basis.rowP(st.bin)[:n], k.basis.rowA(st.bin)[:n]
	c, next, dc, dv, mid := k.c[:n], k.cNext[:n], k.dc[:n], k.dv[:n], k.mid[:n]
	for l := range c {
		dc[l] = e * a[l]
		next[l] = c[l] + dc[l]
	}
	k.bound.advance(k.next, k.now, dv, next, dc)
	r := k.cdf[st.bin] + e/2
	for l := range p {
		mid[l] = (k.now.value[l] + k.next.value[l]) / 2
		r -= mid[l] * p[l]
	}
	sum := e * r
	for l, d := range dv {
		sum -= d * (k.pf[l] + e/2*p[l] - dot(k.basis.gram[l*n:l*n+n], mid))
	}
	d := 2*sum + k.penalty*dc[1]*(c[1]+next[1])
	if k.bias != nil {
		k.bound.differentiate(k.next)
		k.varianceChange = k.bias.spread.changeIn(k.bias.of, st, k.cdf[st.bin], k.squares[st.bin])
		d -= k.bias.change(st.bin, k.varianceChange, k.now, k.next)
	}
	return d
}

func (k *boundedKernel) cross(st step) float64 {
	d := k.change(st)
	k.now, k.next = k.next, k.now
	for l, p := range k.basis.rowP(st.bin) {
		k.c[l] = k.cNext[l]
		k.pf[l] += st.e * p
	}
	k.cdf[st.bin] += st.e
	if k.bias != nil {
		k.squares[st.bin] += st.square
		if k.bias.of.has(st.bin) {
			k.bias.of.cross(st)
		}
		k.bias.add(st.bin, k.varianceChange)
	}
	return d
}
