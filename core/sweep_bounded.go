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

	c, pf        []float64 // c and P'F
	now          *bounded
	cdf, squares []float64

	next               *bounded // after the step that change was last asked for
	cNext, dc, dv, mid []float64
	variance           float64 // by how much that step changes V_b
}

func newBoundedKernel(cfg *Config, ba *basis, sp *spread) *boundedKernel {
	k := &boundedKernel{
		size: ba.size, basis: ba, bound: newBound(cfg, ba), penalty: cfg.SlopePenalty,
		now: new(bounded), next: new(bounded),
	}
	if sp != nil {
		k.bias = newBiasSums(ba, sp, cfg.SlopePenalty)
	}
	for _, v := range []*[]float64{&k.c, &k.pf, &k.cNext, &k.dc, &k.dv, &k.mid} {
		*v = make([]float64, k.size)
	}
	return k
}

func (k *boundedKernel) start(cdf, squares []float64) float64 {
	k.cdf, k.squares = cdf, squares
	k.basis.moments(k.c, cdf)
	k.bound.apply(k.now, k.c, k.bias != nil)
	clear(k.pf)
	var j float64
	for b, f := range cdf {
		r := k.basis.residual(b, f, k.now.value[:k.size])
		j += r * r
		floats.AddScaled(k.pf, f, k.basis.rowP(b))
	}
	j += k.penalty * k.c[1] * k.c[1]
	if k.bias != nil {
		j -= k.bias.start(cdf, squares, k.now)
	}
	return j
}

func (k *boundedKernel) change(st step) float64 {
	e, p, a := st.e, k.basis.rowP(st.bin), k.basis.rowA(st.bin)
	for l := range k.c {
		k.dc[l] = e * a[l]
		k.cNext[l] = k.c[l] + k.dc[l]
	}
	k.bound.apply(k.next, k.cNext, k.bias != nil)
	k.bound.change(k.dv, k.now, k.next, k.dc)
	for l := range k.mid {
		k.mid[l] = (k.now.value[l] + k.next.value[l]) / 2
	}
	sum := e * k.basis.residual(st.bin, k.cdf[st.bin]+e/2, k.mid)
	for l, dv := range k.dv {
		pr := k.pf[l] + e/2*p[l] - floats.Dot(k.basis.gram[l*k.size:(l+1)*k.size], k.mid)
		sum -= dv * pr
	}
	d := 2*sum + k.penalty*k.dc[1]*(k.c[1]+k.cNext[1])
	if k.bias != nil {
		k.variance = k.bias.spread.change(st, k.cdf[st.bin], k.squares[st.bin])
		d -= k.bias.change(st.bin, k.variance, k.now, k.next)
	}
	return d
}

func (k *boundedKernel) cross(st step) float64 {
	d := k.change(st)
	k.now, k.next = k.next, k.now
	copy(k.c, k.cNext)
	floats.AddScaled(k.pf, st.e, k.basis.rowP(st.bin))
	k.cdf[st.bin] += st.e
	if k.bias != nil {
		k.squares[st.bin] += st.square
		k.bias.add(st.bin, k.variance)
	}
	return d
}

// biasSums are the sums over bins from which the bias follows at any d c~/dc = D:
//
//	bias = sum_b V_b K_b,   K_b = 1 - 2 P_b.(D A_b) + (D A_b).G (D A_b) + slope_penalty A_1b^2
//	     = sum_b V_b (1 + slope_penalty A_1b^2) - 2 <D, X> + <D, G D Y>
//
// with X = sum_b V_b P_b A_b', Y = sum_b V_b A_b A_b', G = P'P. A step changes
// V_b in one bin and D in all, hence the bias by
//
//	dV_b K_mean,b + 2 <dD, G D_mean Y_mean - X_mean>
//
// exactly, since the bias is linear in V and quadratic in D.
type biasSums struct {
	size    int
	basis   *basis
	spread  *spread
	penalty float64
	x, y    []float64
	dy, mix []float64 // D_mean Y_mean and, for one K_b, D A_b
}

func newBiasSums(ba *basis, sp *spread, penalty float64) *biasSums {
	square := ba.size * ba.size
	return &biasSums{
		size: ba.size, basis: ba, spread: sp, penalty: penalty,
		x: make([]float64, square), y: make([]float64, square),
		dy: make([]float64, square), mix: make([]float64, ba.size),
	}
}

func (bs *biasSums) start(cdf, squares []float64, d *bounded) float64 {
	clear(bs.x)
	clear(bs.y)
	var bias float64
	for b, f := range cdf {
		v := bs.spread.variance(b, f, squares[b])
		bs.add(b, v)
		bias += v * bs.factor(b, d)
	}
	return bias
}

// add makes V_b grow by v.
func (bs *biasSums) add(b int, v float64) {
	p, a := bs.basis.rowP(b), bs.basis.rowA(b)
	for l, al := range a {
		x, y := bs.x[l*bs.size:(l+1)*bs.size], bs.y[l*bs.size:(l+1)*bs.size]
		floats.AddScaled(x, v*p[l], a)
		floats.AddScaled(y, v*al, a)
	}
}

// factor returns K_b.
func (bs *biasSums) factor(b int, d *bounded) float64 {
	p, a := bs.basis.rowP(b), bs.basis.rowA(b)
	da := bs.mix
	for l := range da {
		da[l] = d.byOwn[l] * a[l]
		if l >= 1 {
			da[l] += d.by0[l] * a[0]
		}
		if l >= 2 {
			da[l] += d.by1[l] * a[1]
		}
	}
	k := 1 - 2*floats.Dot(p, da)
	for l, v := range da {
		k += v * floats.Dot(bs.basis.gram[l*bs.size:(l+1)*bs.size], da)
	}
	if bs.size > 1 {
		k += bs.penalty * a[1] * a[1]
	}
	return k
}

// change returns by how much the bias changes where V_b grows by v and D goes
// from one matrix to another. The entries of dD are plain differences: the bias
// is smaller than J by the number of events in a bin, so that the digits lost
// do not show in the gradient.
func (bs *biasSums) change(b int, v float64, from, to *bounded) float64 {
	change := v * (bs.factor(b, from) + bs.factor(b, to)) / 2
	n := bs.size
	bs.add(b, v/2)
	for l := range n {
		dy := bs.dy[l*n : (l+1)*n]
		for m := range dy {
			dy[m] = (from.byOwn[l] + to.byOwn[l]) / 2 * bs.y[l*n+m]
			if l >= 1 {
				dy[m] += (from.by0[l] + to.by0[l]) / 2 * bs.y[m]
			}
			if l >= 2 {
				dy[m] += (from.by1[l] + to.by1[l]) / 2 * bs.y[n+m]
			}
		}
	}
	for l := 1; l < n; l++ {
		change += 2 * (to.byOwn[l] - from.byOwn[l]) * bs.gradient(l, l)
		change += 2 * (to.by0[l] - from.by0[l]) * bs.gradient(l, 0)
		if l >= 2 {
			change += 2 * (to.by1[l] - from.by1[l]) * bs.gradient(l, 1)
		}
	}
	bs.add(b, -v/2)
	return change
}

// gradient returns element (l, m) of G D_mean Y_mean - X_mean.
func (bs *biasSums) gradient(l, m int) float64 {
	n := bs.size
	sum := -bs.x[l*n+m]
	for i, g := range bs.basis.gram[l*n : (l+1)*n] {
		sum += g * bs.dy[i*n+m]
	}
	return sum
}
