package loss

import (
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// correction is what bounds on moments add to J and to its bias. With delta = c - c~, z = P'(F - P c), G = P'P and
// N = 1 - dc~/dc,
//
//	J    = J_linear + 2 z.delta + delta.G delta
//	bias = bias_linear + 2 <N, X> + <N'GN, Y>,   X = sum_b V_b u_b A_b',  Y = sum_b V_b A_b A_b'
//
// A step e in bin b moves c by e A_b and z by e u_b, u_b = P_b - G A_b. Projection moments have no z, u and X: their
// residuals are orthogonal to P.
//
// Each bin has a row of numbers. Times the steps in the bin they add up to c, and after it to z. Times V_b they add up to Y,
// and after it to X. Y has the elements Y_jk, j <= k, in order of k. X has three elements for each k: X_k0, X_k1 and X_kk.
// Row k of N has numbers in these columns alone.
type correction struct {
	*moments.Bound
	gram     []float64 // a row for each of the moments 0..End-1
	rows     []float64
	width    int  // of a row
	z        int  // the place of z in a row; without z, the place of Y
	y, x     int  // the places of Y and X in a row; without X, x is the width
	tracks   bool // the bias
	unbiased bool // the bias is subtracted from J
}

// newCorrection returns the correction of an integrand that is complete otherwise.
func newCorrection(in *integrand, bo *moments.Bound, arena *par.Arena) *correction {
	ba, size := in.basis, bo.End
	co := &correction{Bound: bo, gram: par.Make[float64](arena, size*size), z: size, y: size, tracks: in.unbiased || in.measured, unbiased: in.unbiased}
	hasZ := ba.Orthonormal == nil
	if hasZ {
		co.y += size
	}
	co.x = co.y
	if co.tracks {
		co.x += size * (size + 1) / 2
	}
	co.width = co.x
	if co.tracks && hasZ {
		co.width += 3 * size
	}
	gram := par.Make[float64](arena, ba.Size*ba.Size)
	for b := range in.bins {
		for l, p := range ba.RowP(b) {
			floats.AddScaled(gram[l*ba.Size:(l+1)*ba.Size], p, ba.RowP(b))
		}
	}
	for l := range size {
		copy(co.gram[l*size:(l+1)*size], gram[l*ba.Size:])
	}
	co.rows = par.Make[float64](arena, in.bins*co.width)
	u := make([]float64, size)
	for b := range in.bins {
		row, a := co.rows[b*co.width:(b+1)*co.width], ba.RowA(b)
		for l := range size {
			row[l] = in.step[b] * a[l]
			if hasZ {
				u[l] = ba.RowP(b)[l] - floats.Dot(gram[l*ba.Size:(l+1)*ba.Size], a)
				row[co.z+l] = in.step[b] * u[l]
			}
		}
		y, x := row[co.y:co.x], row[co.x:]
		for k := 0; k < size && len(y) > 0; k++ {
			for j := range k + 1 {
				y[j] = a[j] * a[k]
			}
			y = y[k+1:]
		}
		for k := 0; k < size && len(x) > 0; k++ {
			x[3*k], x[3*k+1], x[3*k+2] = u[k]*a[0], u[k]*a[1], u[k]*a[k]
		}
	}
	return co
}

// correcting follows a correction from event to event.
type correcting struct {
	*correction
	state          []bin           // where the bias is tracked
	sums           []float64       // c, z, Y and X
	change         []float64       // of c and z since the last evaluation
	bounded, delta moments.Numbers // c~ and delta
	own, byBase    moments.Numbers // 1 - dc~_l/dc_l, and dc~_l by the moment that limits c_l
	bias           float64
	// Memory for one step. It is here and not in evaluate, since to clear it for each step would take as long as the step.
	differences, both moments.Numbers // D and S of delta
	w, gw             moments.Numbers // see biasNow
}

// start moves to a state, and returns the correction of J there.
func (co *correcting) start(of *correction, state []bin, arena *par.Arena) float64 {
	*co = correcting{correction: of, sums: par.Make[float64](arena, of.width), change: par.Make[float64](arena, of.y)}
	co.state = append(par.Unset[bin](arena, len(state))[:0], state...)
	for b := range state {
		row := of.rows[b*of.width : (b+1)*of.width]
		for k, x := range row[:of.y] {
			co.sums[k] += state[b].cdf / state[b].step * x
		}
		for k, x := range row[of.y:] {
			co.sums[of.y+k] += state[b].variance() * x
		}
	}
	copy(co.change, co.sums) // the step from 0
	return co.evaluate()
}

// cross crosses the events of a block, and adds the changes of the correction to those of J. A tied event crosses the middle of its tie.
// The other changes of a tie belong to no event: cross returns their share of an integral that ends at this score, and the share of the
// bias that bounds add.
func (co *correcting) cross(cr *crossing, end float64) (total Result) {
	for lo, hi := 0, 0; lo < len(cr.bins); lo = hi {
		before := co.bias
		for hi = lo + 1; hi < len(cr.bins) && cr.scores[hi] == cr.scores[lo]; {
			hi++
		}
		moveHalves := func() {
			for i := lo; i < hi; i++ {
				co.move(cr, i, .5)
			}
			total.Loss += co.evaluate() * (end - cr.scores[lo])
		}
		isTied := hi > lo+1
		if isTied {
			moveHalves()
		}
		for i := lo; i < hi; i++ {
			if isTied {
				co.move(cr, i, -.5)
				total.Loss += co.evaluate() * (end - cr.scores[lo])
			}
			co.move(cr, i, 1)
			cr.d[i] += co.evaluate()
			if isTied {
				co.move(cr, i, -.5)
			}
		}
		if isTied {
			moveHalves()
		}
		total.Bias += (co.bias - before) * (end - cr.scores[lo])
	}
	return total
}

// move takes a fraction of event i of a block: 1, 1/2 or -1/2. This fraction of the square of its step goes to S_b.
func (co *correcting) move(cr *crossing, i int, fraction float64) {
	b, w := cr.bins[i], fraction*cr.weights[i]
	row := co.rows[int(b)*co.width:][:co.width]
	sums, changes := co.sums[:co.y], co.change[:co.y]
	for k, x := range row[:len(sums)] {
		step := float64(w * x)
		changes[k] += step
		sums[k] += step
	}
	if co.tracks {
		state := &co.state[b]
		e := w * state.step
		square := e * e
		if fraction != 1 {
			square /= fraction
		}
		floats.AddScaled(co.sums[co.y:co.width], state.cross(e, square), row[co.y:])
	}
}

// evaluate returns the change of the correction of J since the last evaluation, which is a step.
//
// Where steps are small, a difference of two values of J would lose digits. With the change D and the sum S of delta before and
// after a step, and likewise of z, J changes by D.(G S + S_z) + D_z.S. For the bias, which is small, a difference of two
// values is enough.
func (co *correcting) evaluate() (change float64) {
	first, end := co.First, co.End
	base := co.sums[first-1]
	for l := first; l < end; l++ {
		c, before := co.sums[l], co.bounded[l]
		var bounded float64
		bounded, co.own[l], co.byBase[l] = co.Limits[l].At(c, base)
		co.differences[l] = co.change[l] - (bounded - before)
		co.both[l] = (c - bounded) + co.delta[l]
		co.bounded[l], co.delta[l] = bounded, c-bounded
		if l == 1 {
			base = bounded
		}
	}
	for l := first; l < end; l++ {
		row, along := co.gram[l*end:][:end], 0.0
		for m := first; m < end; m++ {
			along += float64(row[m] * co.both[m])
		}
		if co.z < co.y {
			z, step := co.sums[co.z+l], co.change[co.z+l]
			along += z + (z - step)
			change += float64(step * co.both[l])
		}
		change += float64(co.differences[l] * along)
	}
	if co.tracks {
		before := co.bias
		if co.bias = co.biasNow(); co.unbiased {
			change -= co.bias - before
		}
	}
	clear(co.change)
	return change
}

// biasNow returns what bounds add to the bias. With w_1 = 1 and w_l = dc~_l/dc~_1, N has the columns
//
//	N_l0 = -dc~_1/dc_0 w_l,   N_l1 = [l = 1] - dc~_1/dc_1 w_l,   N_ll = 1 - dc~_l/dc_l, l >= 2
//
// and no others. Without max_slope c~_1 = c_1 is no bounded moment: then l begins at 2.
func (co *correcting) biasNow() (bias float64) {
	first, end := co.First, co.End
	w, gw := co.w[:end], co.gw[:end]
	copy(w, co.byBase[:end])
	byFirst, bySlope, isBounded, p, r := 0.0, 1.0, 0.0, 0.0, 0.0
	if first == 1 {
		byFirst, bySlope, isBounded, w[1] = co.byBase[1], 1-co.own[1], 1, 1
	}
	q := 0.0 // w.G w; p and r are (G w)_1 and G_11
	for l := first; l < end; l++ {
		row, sum := co.gram[l*end:][:end], 0.0
		for m := first; m < end; m++ {
			sum += float64(row[m] * w[m])
		}
		gw[l] = sum
		q += float64(w[l] * sum)
	}
	if first == 1 {
		p, r = gw[1], co.gram[end+1]
	}
	y := co.sums[co.y:]
	rest := p - float64(bySlope*q)
	bias = float64(byFirst * (float64(byFirst*q*y[0]) - float64(2*rest*y[1])))
	bias += float64((r - float64(bySlope*(p+rest))) * y[2])
	y = y[3:]
	for k := 2; k < end; k++ {
		row := co.gram[k*end:][:end]
		along := float64((float64(isBounded*row[1])-float64(bySlope*gw[k]))*y[1]) - float64(byFirst*gw[k]*y[0])
		for j := 2; j < k; j++ {
			along += float64(co.own[j] * row[j] * y[j])
		}
		bias += float64(co.own[k] * (2*along + float64(co.own[k]*row[k]*y[k])))
		y = y[k+1:]
	}
	if x := co.sums[co.x:]; len(x) > 0 {
		for k := first; k < end; k++ {
			last := co.own[k] * x[3*k+2]
			if k == 1 {
				last = x[4]
			}
			bias += 2 * (last - float64(w[k]*(float64(byFirst*x[3*k])+float64(bySlope*x[3*k+1]))))
		}
	}
	return bias
}
