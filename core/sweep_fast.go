package core

// hotRow is what crossing an event of weight 1 needs of its bin, for orders 0, 1
// and 2 (lower ones with zeros), with the step e = 1/W_b multiplied in.
type hotRow struct {
	p    [3]float64 // e P_l(x_b)
	a    [3]float64 // 2 e A_lb
	z    [3]float64 // e dz_l/dF_b
	h    float64    // the part of the change of J that depends on F_b
	rise float64    // by how much h grows with an event
	e    float64
}

// fastOrder is the highest order that a hotRow has room for.
const fastOrder = 2

// hotRows sets rows to what belongs to the state that k was started at.
//
// By how much J - bias changes with a step is, in the notation of linearKernel,
// 2 e (F_b - c.P_b - z.A_b) + e^2 M_bb - M_bb dV_b. For events of weight 1, V_b
// is e F_b (1-F_b)/(1-e), which makes the last two terms 2 e M_bb F_b e/(1-e).
func (k *linearKernel) hotRows(rows []hotRow, inverse []float64) {
	for b := range rows {
		row, e := &rows[b], inverse[b]
		for l, p := range k.basis.rowP(b) {
			row.p[l] = e * p
			row.a[l] = 2 * e * k.basis.rowA(b)[l]
			row.z[l] = e * k.moveZ[b*k.size+l]
		}
		constant, linear := e*k.square[b]/2, 1.0
		if k.spread != nil {
			constant, linear = 0, 1+k.square[b]*e*k.spread.factor[b]
		}
		row.h = 2 * e * (constant + linear*k.cdf[b])
		row.rise = 2 * e * linear * e
		row.e = e
	}
}

// fastWalk is walk for linearKernel and events of weight 1, written out for
// orders up to fastOrder. Ties go the general way.
func (sw *sweep[T]) fastWalk(wk *walker, k *linearKernel, chunk int) (integral, j float64) {
	lo, hi := sw.chunks[chunk], sw.chunks[chunk+1]
	records, grad, scores := sw.records[:hi], sw.grad, sw.input.Score
	layout, exact, scale := sw.layout, sw.exact(), sw.scale
	score := sw.from
	if lo > 0 {
		score = sw.scoreAt(lo - 1)
	}
	j = wk.start(wk.cdf, wk.squares)
	k.hotRows(wk.rows, sw.inverse)
	rows, cdf := wk.rows, k.cdf
	var c, z [3]float64 // 2 c and z
	load := func() {
		for l := range k.c {
			c[l], z[l] = 2*k.c[l], k.z[l]
		}
	}
	load()
	c0, c1, c2, z0, z1, z2 := c[0], c[1], c[2], z[0], z[1], z[2]
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
					if b := layout.bin(r); k.spread != nil {
						k.squares[b] = cdf[b] * rows[b].e // steps of e: F_b/e of them
					}
				}
				j += sw.crossTie(wk, i, end)
				for ; i < end; i++ {
					row := &rows[layout.bin(records[i])]
					row.h += row.rise
				}
				i--
				load()
				c0, c1, c2, z0, z1, z2 = c[0], c[1], c[2], z[0], z[1], z[2]
				continue
			}
		}
		b := layout.bin(r)
		row := &rows[b]
		d := row.h - (c0*row.p[0] + c1*row.p[1] + c2*row.p[2]) - (z0*row.a[0] + z1*row.a[1] + z2*row.a[2])
		j += d
		if grad != nil {
			grad[index] = T(-scale * d)
		}
		row.h += row.rise
		cdf[b] += row.e
		c0 += row.a[0]
		c1 += row.a[1]
		c2 += row.a[2]
		z0 += row.z[0]
		z1 += row.z[1]
		z2 += row.z[2]
	}
	return integral, j
}
