package core

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
	in      *integrand
	basis   *basis
	penalty float64
	x, y    []float64
	plain   float64   // sum_b V_b (1 + slope_penalty A_1b^2)
	dy      []float64 // D_mean Y_mean
	da, dda []float64 // D A_b and dD A_b
}

func newBiasSums(in *integrand) *biasSums {
	ba := in.basis
	square := ba.size * ba.size
	return &biasSums{
		size: ba.size, in: in, basis: ba, penalty: in.penalty,
		x: make([]float64, square), y: make([]float64, square), dy: make([]float64, square),
		da: make([]float64, ba.size), dda: make([]float64, ba.size),
	}
}

// start sets the sums and returns the bias.
func (bs *biasSums) start(pt *point, d *bounded) float64 {
	clear(bs.x)
	clear(bs.y)
	bs.plain = 0
	var bias float64
	for b := range pt.cdf {
		v := bs.in.variance.at(pt, b)
		bs.add(b, v)
		bias += v * bs.factor(b, d)
	}
	return bias
}

// add makes V_b grow by v.
func (bs *biasSums) add(b int, v float64) {
	n := bs.size
	p, a := bs.basis.rowP(b)[:n], bs.basis.rowA(b)[:n]
	for l, al := range a {
		x, y := bs.x[l*n:l*n+n], bs.y[l*n:l*n+n]
		vp, va := v*p[l], v*al
		for m, am := range a {
			x[m] += vp * am
			y[m] += va * am
		}
	}
	bs.plain += v
	if n > 1 {
		bs.plain += v * bs.penalty * a[1] * a[1]
	}
}

// factor returns K_b.
func (bs *biasSums) factor(b int, d *bounded) float64 {
	n := bs.size
	p, a, da := bs.basis.rowP(b)[:n], bs.basis.rowA(b)[:n], bs.da[:n]
	da[0] = a[0]
	k := 1 - 2*p[0]*da[0]
	for l := 1; l < n; l++ {
		da[l] = d.by0[l]*a[0] + d.byOwn[l]*a[l]
		if l > 1 {
			da[l] += d.by1[l] * a[1]
		}
		k -= 2 * p[l] * da[l]
	}
	for l, v := range da {
		k += v * dot(bs.basis.gram[l*n:l*n+n], da)
	}
	if n > 1 {
		k += bs.penalty * a[1] * a[1]
	}
	return k
}

// dot is floats.Dot for vectors so short that its call would cost more.
func dot(a, b []float64) float64 {
	var sum float64
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// change returns by how much the bias changes where V_b grows by v and D goes
// from one matrix to another. The entries of dD are plain differences: the bias
// is smaller than J by the number of events in a bin, so that the digits lost
// do not show in the gradient.
func (bs *biasSums) change(b int, v float64, from, to *bounded) float64 {
	n := bs.size
	p, a, da, dda := bs.basis.rowP(b)[:n], bs.basis.rowA(b)[:n], bs.da[:n], bs.dda[:n]
	for l := range da { // D_mean A_b, dD A_b and D_mean (Y + v/2 A_b A_b')
		own, by0, by1 := (from.byOwn[l]+to.byOwn[l])/2, 0.0, 0.0
		da[l], dda[l] = own*a[l], (to.byOwn[l]-from.byOwn[l])*a[l]
		if l > 0 {
			by0 = (from.by0[l] + to.by0[l]) / 2
			da[l] += by0 * a[0]
			dda[l] += (to.by0[l] - from.by0[l]) * a[0]
		}
		if l > 1 {
			by1 = (from.by1[l] + to.by1[l]) / 2
			da[l] += by1 * a[1]
			dda[l] += (to.by1[l] - from.by1[l]) * a[1]
		}
		dy, y, va := bs.dy[l*n:l*n+n], bs.y[l*n:l*n+n], v/2*da[l]
		for m, am := range a {
			dy[m] = own*y[m] + by0*bs.y[m] + va*am
			if l > 1 {
				dy[m] += by1 * bs.y[n+m]
			}
		}
	}
	mean := 1.0 // of K_b before and after
	if n > 1 {
		mean += bs.penalty * a[1] * a[1]
	}
	for l, d := range da {
		gram := bs.basis.gram[l*n : l*n+n]
		mean += d*(dot(gram, da)-2*p[l]) + dda[l]*dot(gram, dda)/4
	}
	change := v * mean
	for l := 1; l < n; l++ {
		vp := v / 2 * p[l]
		change += 2 * (to.byOwn[l] - from.byOwn[l]) * (bs.gradient(l, l) - vp*a[l])
		change += 2 * (to.by0[l] - from.by0[l]) * (bs.gradient(l, 0) - vp*a[0])
		if l > 1 {
			change += 2 * (to.by1[l] - from.by1[l]) * (bs.gradient(l, 1) - vp*a[1])
		}
	}
	return change
}

// gradient returns element (l, m) of G D_mean Y_mean - X.
func (bs *biasSums) gradient(l, m int) float64 {
	n := bs.size
	sum := -bs.x[l*n+m]
	for i, g := range bs.basis.gram[l*n : l*n+n] {
		sum += g * bs.dy[i*n+m]
	}
	return sum
}
