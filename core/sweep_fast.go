package core

import "math"

// fastKernel is linearKernel for orders 0, 1 and 2, in the form that costs least
// to follow. With P'P + slope_penalty s s' = L L' (s.c = c_1) the matrix M of
// linearKernel is
//
//	M_ab = [a = b] - x_a.x_b + y_a.y_b,   L x_b = P_b,  y_b = L' A_b - x_b
//
// so that crossing an event changes two short vectors, X = sum_b F_b x_b and Y,
// by what also gives the change of J.
type fastKernel struct {
	x, y   [][3]float64 // per bin; lower orders have zeros
	square []float64    // per bin: M_bb
}

// hotRow is what crossing an event needs of its bin: one line of cache, with
// 1/W_b multiplied in, so that only the event's weight is left to multiply with.
type hotRow struct {
	x, y [3]float64 // sqrt(2) x_b/W_b and y_b
	f    float64    // 2 F_b/W_b; without weights + M_bb/W_b^2
	rise float64    // 2/W_b^2: by how much f grows with weight
}

// fastOrder is the highest order that a hotRow has room for.
const fastOrder = 2

// fastState is where a walk stands.
type fastState struct {
	x, y [3]float64 // sqrt(2) X and Y
	walkState
}

// newFastKernel returns nil where P'P is singular, as with fewer bins than moments.
func newFastKernel(ba *basis, penalty float64) *fastKernel {
	if ba.orthonormal != nil {
		ba = ba.orthonormal
	}
	n := ba.size
	l, ok := newLower(ba, penalty)
	if !ok {
		return nil
	}
	nb := len(ba.p) / n
	k := &fastKernel{make([][3]float64, nb), make([][3]float64, nb), make([]float64, nb)}
	for b := range nb {
		x, y := l.solve(ba.rowP(b)), &k.y[b]
		k.x[b] = x
		k.square[b] = 1
		for i := range n {
			y[i] = -x[i]
			for m := i; m < n; m++ {
				y[i] += l[m][i] * ba.rowA(b)[m]
			}
			k.square[b] += y[i]*y[i] - x[i]*x[i]
		}
	}
	return k
}

// lower is the L of the Cholesky decomposition P'P + slope_penalty s s' = L L'.
type lower [3][3]float64

// newLower returns no L where the matrix is singular in double precision.
func newLower(ba *basis, penalty float64) (l lower, ok bool) {
	n := ba.size
	for i := range n {
		for j := range i + 1 {
			g := ba.gram[i*n+j] + penalty*ba.slope[i]*ba.slope[j]
			pivot := g
			for m := range j {
				pivot -= l[i][m] * l[j][m]
			}
			switch {
			case i > j:
				l[i][j] = pivot / l[j][j]
			case pivot > 1e-10*g:
				l[i][i] = math.Sqrt(pivot)
			default:
				return l, false
			}
		}
	}
	return l, true
}

// solve returns x, L x = p; p may be shorter.
func (l *lower) solve(p []float64) (x [3]float64) {
	for i := range p {
		x[i] = p[i]
		for m := range i {
			x[i] -= l[i][m] * x[m]
		}
		x[i] /= l[i][i]
	}
	return x
}

// start sets rows and returns the state where the bins have these CDFs.
func (k *fastKernel) start(rows []hotRow, cdf, inverse []float64, weighted bool) (st fastState) {
	for b := range rows {
		row, e := &rows[b], inverse[b]
		for l := range row.x {
			x, y := math.Sqrt2*k.x[b][l], math.Sqrt2*k.y[b][l]
			row.x[l], row.y[l] = e*x, e*y
			st.x[l] += cdf[b] * x
			st.y[l] += cdf[b] * y
		}
		row.f = 2 * e * cdf[b]
		row.rise = 2 * e * e
		if !weighted {
			row.f += e * e * k.square[b]
		}
	}
	return st
}

// slope returns (st.x, -st.y).(x, y): sums that M F_b is made of.
func (st *fastState) slope(row *hotRow) float64 {
	return st.x[0]*row.x[0] + st.x[1]*row.x[1] + st.x[2]*row.x[2] - (st.y[0]*row.y[0] + st.y[1]*row.y[1] + st.y[2]*row.y[2])
}

// cross takes an event of weight w into the sums.
func (st *fastState) cross(row *hotRow, w float64) {
	row.f += w * row.rise
	for l := range st.x {
		st.x[l] += w * row.x[l]
		st.y[l] += w * row.y[l]
	}
}

// fastWalk is walk by way of fastKernel. An event of weight w changes J by
// w (2 (M F)_b)/W_b + w^2 M_bb/W_b^2.
func (sw *sweep[T]) fastWalk(wk *walker[T], chunk int) (integral float64) {
	k := sw.hot
	lo, hi := sw.chunks[chunk], sw.chunks[chunk+1]
	j := wk.kernel.start(wk.cdf, wk.squares)
	weighted := sw.weights != nil || sw.spread != nil
	st := k.start(wk.rows, wk.cdf, sw.inverse, weighted)
	st.j, st.score = j, sw.scoreBefore(chunk)
	for i := lo; i < hi; {
		switch {
		case weighted:
			i = sw.runWeighted(wk, &st, i, hi)
		case sw.half:
			i = sw.runHalves(wk, &st, i, hi)
		default:
			i = sw.runUnweighted(wk, &st, i, hi)
		}
		// A tie begins, or only the keys are equal, or this is the last event.
		end := sw.endOfTie(i, hi)
		st.advance(sw.scoreAt(i), sw.fastTie(wk, &st, i, end))
		i = end
	}
	return st.integral
}

// runUnweighted crosses events of weight 1 from i on, up to the last before hi
// or the first whose key equals the next one's. It returns where it stopped.
func (sw *sweep[T]) runUnweighted(wk *walker[T], st *fastState, i, hi int) int {
	rows, layout, scale := wk.rows, sw.layout, -sw.scale
	exact, scores := sw.exact(), sw.input.Score
	j, integral, score := st.j, st.integral, st.score
	x0, x1, x2, y0, y1, y2 := st.x[0], st.x[1], st.x[2], st.y[0], st.y[1], st.y[2]
	r, rest := sw.records[i], sw.records[i+1:hi]
	out := wk.out[i-wk.base:][:len(rest)]
	for k, after := range rest {
		if layout.key(after) == layout.key(r) {
			break
		}
		i++
		var next float64
		if exact {
			next = layout.score(r)
		} else {
			next = float64(scores[layout.index(r)])
		}
		integral += j * (next - score)
		score = next
		row := &rows[layout.bin(r)]
		d := row.f - (x0*row.x[0] + x1*row.x[1] + x2*row.x[2]) + (y0*row.y[0] + y1*row.y[1] + y2*row.y[2])
		j += d
		out[k] = T(scale * d)
		row.f += row.rise
		x0 += row.x[0]
		x1 += row.x[1]
		x2 += row.x[2]
		y0 += row.y[0]
		y1 += row.y[1]
		y2 += row.y[2]
		r = after
	}
	*st = fastState{[3]float64{x0, x1, x2}, [3]float64{y0, y1, y2}, walkState{j, integral, score}}
	return i
}

// runHalves is runUnweighted for keys in the upper halves of records.
func (sw *sweep[T]) runHalves(wk *walker[T], st *fastState, i, hi int) int {
	rows, scale, binShift := wk.rows, -sw.scale, sw.binShift&31
	j, integral, score := st.j, st.integral, st.score
	x0, x1, x2, y0, y1, y2 := st.x[0], st.x[1], st.x[2], st.y[0], st.y[1], st.y[2]
	r, rest := sw.records[i], sw.records[i+1:hi]
	out := wk.out[i-wk.base:][:len(rest)]
	for k, after := range rest {
		if after>>32 == r>>32 {
			break
		}
		i++
		next := float64(halfScore(uint32(r >> 32)))
		integral += j * (next - score)
		score = next
		row := &rows[uint32(r)>>binShift]
		d := row.f - (x0*row.x[0] + x1*row.x[1] + x2*row.x[2]) + (y0*row.y[0] + y1*row.y[1] + y2*row.y[2])
		j += d
		out[k] = T(scale * d)
		row.f += row.rise
		x0 += row.x[0]
		x1 += row.x[1]
		x2 += row.x[2]
		y0 += row.y[0]
		y1 += row.y[1]
		y2 += row.y[2]
		r = after
	}
	*st = fastState{[3]float64{x0, x1, x2}, [3]float64{y0, y1, y2}, walkState{j, integral, score}}
	return i
}

// runWeighted is runUnweighted with weights, or with the bias subtracted, or both.
func (sw *sweep[T]) runWeighted(wk *walker[T], st *fastState, i, hi int) int {
	records, weights, rows, k, layout := sw.records, sw.weights, wk.rows, sw.hot, sw.layout
	base, scale, exact, scores := wk.base, -sw.scale, sw.exact(), sw.input.Score
	j, integral, score := st.j, st.integral, st.score
	x0, x1, x2, y0, y1, y2 := st.x[0], st.x[1], st.x[2], st.y[0], st.y[1], st.y[2]
	for ; i < hi-1; i++ {
		r := records[i]
		if layout.key(records[i+1]) == layout.key(r) {
			break
		}
		next := layout.score(r)
		if !exact {
			next = float64(scores[layout.index(r)])
		}
		integral += j * (next - score)
		score = next
		b, w := layout.bin(r), 1.0
		if weights != nil {
			w = weights[i]
		}
		row, e := &rows[b], w*sw.inverse[b]
		d := w * (row.f - (x0*row.x[0] + x1*row.x[1] + x2*row.x[2]) + (y0*row.y[0] + y1*row.y[1] + y2*row.y[2]))
		variance := e * e
		if sw.spread != nil {
			variance -= sw.spread.change(step{b, e, e * e}, row.f/(2*sw.inverse[b]), wk.squares[b])
			wk.squares[b] += e * e
		}
		d += k.square[b] * variance
		j += d
		wk.out[i-base] = T(scale * d)
		row.f += w * row.rise
		x0 += w * row.x[0]
		x1 += w * row.x[1]
		x2 += w * row.x[2]
		y0 += w * row.y[0]
		y1 += w * row.y[1]
		y2 += w * row.y[2]
	}
	*st = fastState{[3]float64{x0, x1, x2}, [3]float64{y0, y1, y2}, walkState{j, integral, score}}
	return i
}

// fastTie is crossTie.
func (sw *sweep[T]) fastTie(wk *walker[T], st *fastState, lo, hi int) (total float64) {
	wk.ups = grown(wk.ups, hi-lo)
	for i := lo; i < hi; i++ {
		wk.ups[i-lo] = sw.fastChange(wk, st, i, 1)
	}
	for i := lo; i < hi; i++ {
		total += sw.fastChange(wk, st, i, 1)
		b, w := sw.bin(sw.records[i]), sw.weight(i)
		st.cross(&wk.rows[b], w)
		if sw.spread != nil {
			e := w * sw.inverse[b]
			wk.squares[b] += e * e
		}
	}
	for i := lo; i < hi; i++ {
		down := sw.fastChange(wk, st, i, -1)
		sw.put(wk, i, sw.scale*(down-wk.ups[i-lo])/2)
	}
	return total
}

// fastChange returns by how much J would change if event i were crossed, upwards
// (sign 1) or downwards (-1).
func (sw *sweep[T]) fastChange(wk *walker[T], st *fastState, i int, sign float64) float64 {
	b := sw.bin(sw.records[i])
	row, w := &wk.rows[b], sign*sw.weight(i)
	e, own := w*sw.inverse[b], sw.hot.square[b]
	if sw.weights == nil && sw.spread == nil { // row.f holds the square of one step up
		return w*(row.f-st.slope(row)) + (1-w)*e*e*own
	}
	d := w*(row.f-st.slope(row)) + e*e*own
	if sw.spread != nil {
		d -= own * sw.spread.change(step{b, e, sign * e * e}, row.f/(2*sw.inverse[b]), wk.squares[b])
	}
	return d
}
