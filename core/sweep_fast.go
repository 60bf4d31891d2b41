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

// fastState is where a walk stands: linearKernel's state, J, the integral of J
// so far and the last score.
type fastState struct {
	c, z               [3]float64 // 2 c and z
	j, integral, score float64
}

// fastWalk is walk for linearKernel, written out for orders up to fastOrder. An
// event of weight w changes J by w (2 F_b - 2 c.P_b - 2 z.A_b)/W_b + w^2 M_bb/W_b^2,
// in the notation of linearKernel. Ties go the general way.
func (sw *sweep[T]) fastWalk(wk *walker, k *linearKernel, chunk int) (integral, j float64) {
	lo, hi := sw.chunks[chunk], sw.chunks[chunk+1]
	st := fastState{score: sw.from}
	if lo > 0 {
		st.score = sw.scoreAt(lo - 1)
	}
	st.j = wk.start(wk.cdf, wk.squares)
	k.setRows(wk.rows, sw.inverse)
	run := sw.runUnweighted
	if sw.weights != nil || k.spread != nil {
		run = sw.runWeighted
	}
	st.load(k)
	for i := lo; i < hi; {
		if i = run(k, wk.rows, &st, i, hi); i == hi {
			break
		}
		end := sw.endOfTie(i, hi)
		if end == i+1 { // only the keys are equal
			i = run(k, wk.rows, &st, i, end)
			continue
		}
		score := sw.scoreAt(i)
		st.integral += st.j * (score - st.score)
		st.score = score
		st.store(k)
		for _, r := range sw.records[i:end] {
			b := sw.bin(r)
			k.cdf[b] = wk.rows[b].f / (2 * sw.inverse[b])
		}
		st.j += sw.crossTie(wk, i, end)
		for _, r := range sw.records[i:end] {
			b := sw.bin(r)
			wk.rows[b].f = 2 * k.cdf[b] * sw.inverse[b]
		}
		st.load(k)
		i = end
	}
	return st.integral, st.j
}

func (st *fastState) load(k *linearKernel) {
	for l := range k.c {
		st.c[l], st.z[l] = 2*k.c[l], k.z[l]
	}
}

func (st *fastState) store(k *linearKernel) {
	for l := range k.c {
		k.c[l], k.z[l] = st.c[l]/2, st.z[l]
	}
}

// runUnweighted crosses events of weight 1 from i on, up to hi or the first
// whose key equals the next one's. It returns where it stopped.
func (sw *sweep[T]) runUnweighted(_ *linearKernel, rows []hotRow, st *fastState, i, hi int) int {
	records, grad, scores, layout := sw.records[:hi], sw.grad, sw.input.Score, sw.layout
	exact, scale := sw.exact(), -sw.scale
	j, integral, score := st.j, st.integral, st.score
	c0, c1, c2, z0, z1, z2 := st.c[0], st.c[1], st.c[2], st.z[0], st.z[1], st.z[2]
	for ; i < len(records); i++ {
		r := records[i]
		if i+1 < len(records) && layout.key(records[i+1]) == layout.key(r) {
			break
		}
		index := layout.index(r)
		var next float64
		if exact {
			next = layout.score(r)
		} else {
			next = float64(scores[index])
		}
		integral += j * (next - score)
		score = next
		row := &rows[layout.bin(r)]
		d := row.f + row.square - (c0*row.p[0] + c1*row.p[1] + c2*row.p[2]) - (z0*row.a[0] + z1*row.a[1] + z2*row.a[2])
		j += d
		if grad != nil {
			grad[index] = T(scale * d)
		}
		row.f += row.rise
		c0 += row.a[0]
		c1 += row.a[1]
		c2 += row.a[2]
		z0 += row.z[0]
		z1 += row.z[1]
		z2 += row.z[2]
	}
	*st = fastState{[3]float64{c0, c1, c2}, [3]float64{z0, z1, z2}, j, integral, score}
	return i
}

// runWeighted is runUnweighted with weights, or with the bias subtracted, or both.
func (sw *sweep[T]) runWeighted(k *linearKernel, rows []hotRow, st *fastState, i, hi int) int {
	records, grad := sw.records[:hi], sw.grad
	j, integral, score := st.j, st.integral, st.score
	c0, c1, c2, z0, z1, z2 := st.c[0], st.c[1], st.c[2], st.z[0], st.z[1], st.z[2]
	for ; i < len(records); i++ {
		r := records[i]
		if i+1 < len(records) && sw.key(records[i+1]) == sw.key(r) {
			break
		}
		next := sw.scoreAt(i)
		integral += j * (next - score)
		score = next
		b, w := sw.bin(r), sw.weight(i)
		row := &rows[b]
		d := row.f + w*row.square - (c0*row.p[0] + c1*row.p[1] + c2*row.p[2]) - (z0*row.a[0] + z1*row.a[1] + z2*row.a[2])
		d *= w
		if k.spread != nil {
			e := w * sw.inverse[b]
			d -= k.square[b] * k.spread.change(step{b, e, e * e}, row.f/(2*sw.inverse[b]), k.squares[b])
			k.squares[b] += e * e
		}
		j += d
		if grad != nil {
			grad[sw.index(r)] = T(-sw.scale * d)
		}
		row.f += w * row.rise
		c0 += w * row.a[0]
		c1 += w * row.a[1]
		c2 += w * row.a[2]
		z0 += w * row.z[0]
		z1 += w * row.z[1]
		z2 += w * row.z[2]
	}
	*st = fastState{[3]float64{c0, c1, c2}, [3]float64{z0, z1, z2}, j, integral, score}
	return i
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
