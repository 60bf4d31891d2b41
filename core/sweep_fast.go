package core

// hotRow is what crossing an event needs of its bin, for orders 0, 1 and 2
// (lower ones with zeros), with 1/W_b multiplied in, so that only the event's
// weight is left to multiply with.
type hotRow struct {
	p      [3]float64 // P_l(x_b)/W_b
	a      [3]float64 // 2 A_lb/W_b
	z      [3]float64 // (dz_l/dF_b)/W_b
	f      float64    // 2 F_b/W_b
	rise   float64    // 2/W_b^2: by how much f grows with weight
	square float64    // M_bb/W_b^2
}

// fastOrder is the highest order that a hotRow has room for.
const fastOrder = 2

// fastWalk is walk for linearKernel, written out for orders up to fastOrder. An
// event of weight w changes J by w (2 F_b - 2 c.P_b - 2 z.A_b)/W_b + w^2 M_bb/W_b^2,
// in the notation of linearKernel. Ties, and the bias, go the general way.
func (sw *sweep[T]) fastWalk(wk *walker, k *linearKernel, chunk int) (integral, j float64) {
	lo, hi := sw.chunks[chunk], sw.chunks[chunk+1]
	records, grad, scores, weights := sw.records[:hi], sw.grad, sw.input.Score, sw.weights
	layout, exact, scale := sw.layout, sw.exact(), sw.scale
	score := sw.from
	if lo > 0 {
		score = sw.scoreAt(lo - 1)
	}
	j = wk.start(wk.cdf, wk.squares)
	k.setRows(wk.rows, sw.inverse)
	rows, cdf, inverse := wk.rows, k.cdf, sw.inverse
	var c, z [3]float64 // 2 c and z
	load := func() {
		for l := range k.c {
			c[l], z[l] = 2*k.c[l], k.z[l]
		}
	}
	load()
	c0, c1, c2, z0, z1, z2 := c[0], c[1], c[2], z[0], z[1], z[2]
	w := 1.0
	for i := lo; i < hi; i++ {
		r := records[i]
		index := layout.index(r)
		var next float64
		if exact {
			next = layout.score(r)
		} else {
			next = float64(scores[index])
		}
		integral += j * (next - score)
		score = next
		if i+1 < hi && layout.key(records[i+1]) == layout.key(r) {
			if end := sw.endOfTie(i, hi); end > i+1 {
				c, z = [3]float64{c0, c1, c2}, [3]float64{z0, z1, z2}
				for l := range k.c {
					k.c[l], k.z[l] = c[l]/2, z[l]
				}
				for _, r := range records[i:end] {
					b := layout.bin(r)
					cdf[b] = rows[b].f / (2 * inverse[b])
				}
				j += sw.crossTie(wk, i, end)
				for _, r := range records[i:end] {
					b := layout.bin(r)
					rows[b].f = 2 * cdf[b] * inverse[b]
				}
				i = end - 1
				load()
				c0, c1, c2, z0, z1, z2 = c[0], c[1], c[2], z[0], z[1], z[2]
				continue
			}
		}
		if weights != nil {
			w = weights[i]
		}
		b := layout.bin(r)
		row := &rows[b]
		d := row.f - (c0*row.p[0] + c1*row.p[1] + c2*row.p[2]) - (z0*row.a[0] + z1*row.a[1] + z2*row.a[2])
		d = w * (d + w*row.square)
		if k.spread != nil {
			e := w * inverse[b]
			d -= k.square[b] * k.spread.change(step{b, e, e * e}, row.f/(2*inverse[b]), k.squares[b])
			k.squares[b] += e * e
		}
		j += d
		if grad != nil {
			grad[index] = T(-scale * d)
		}
		row.f += w * row.rise
		c0 += w * row.a[0]
		c1 += w * row.a[1]
		c2 += w * row.a[2]
		z0 += w * row.z[0]
		z1 += w * row.z[1]
		z2 += w * row.z[2]
	}
	return integral, j
}

// setRows sets rows to what belongs to the state that k was started at.
func (k *linearKernel) setRows(rows []hotRow, inverse []float64) {
	for b := range rows {
		row, e := &rows[b], inverse[b]
		for l, p := range k.basis.rowP(b) {
			row.p[l] = e * p
			row.a[l] = 2 * e * k.basis.rowA(b)[l]
			row.z[l] = e * k.moveZ[b*k.size+l]
		}
		row.f = 2 * e * k.cdf[b]
		row.rise = 2 * e * e
		row.square = e * e * k.square[b]
	}
}
