package core

import (
	"math"

	"github.com/libmode/libmode/core/internal/radix"
)

// fastLinear is J without bounds for orders 0, 1 and 2, in the form that costs least
// to follow. With P'P + slope_penalty s s' = L L' (s.c = c_1) the matrix M of linear.go is
//
//	M_ab = [a = b] - x_a.x_b + y_a.y_b,   L x_b = P_b,  y_b = L' A_b - x_b
//
// so that crossing an event changes two short vectors, X = sum_b F_b x_b and Y,
// by what also gives the change of J.
type fastLinear struct {
	x, y [][fastSize]float64 // per bin; lower orders have zeros
}

// fastSize is the most moments that a row has room for.
const fastSize = 3

// newFastLinear returns nil where P'P is singular, as with fewer bins than moments.
func newFastLinear(in *integrand) *fastLinear {
	ba := in.linear.basis
	l, ok := newLower(ba, in.penalty)
	if !ok {
		return nil
	}
	f := &fastLinear{make([][fastSize]float64, in.bins), make([][fastSize]float64, in.bins)}
	for b := range in.bins {
		x, y := l.solve(ba.rowP(b)), &f.y[b]
		f.x[b] = x
		for i := range ba.size {
			y[i] = -x[i]
			for m := i; m < ba.size; m++ {
				y[i] += l[m][i] * ba.rowA(b)[m]
			}
		}
	}
	return f
}

// lower is the L of the Cholesky decomposition P'P + slope_penalty s s' = L L'.
type lower [fastSize][fastSize]float64

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
func (l *lower) solve(p []float64) (x [fastSize]float64) {
	for i := range p {
		x[i] = p[i]
		for m := range i {
			x[i] -= l[i][m] * x[m]
		}
		x[i] /= l[i][i]
	}
	return x
}

// linearRow is what crossing an event needs of its bin: one line of cache, with
// 1/W_b multiplied in, so that only the event's weight is left to multiply with.
type linearRow struct {
	x, y [fastSize]float64 // sqrt(2) x_b/W_b and y_b
	f    float64           // 2 F_b/W_b; without weights all that J changes by but for x and y
	rise float64           // by how much f grows with weight: 2/W_b^2, without weights and with the bias more
}

// linearPath crosses events by way of fastLinear. An event of weight w changes J by
// w (2 (M F)_b)/W_b + w^2 M_bb/W_b^2, less what the bias changes by: without weights
//
//	M_bb (1 - 2 F_b - 1/W_b) g_b,   g_b = 1/W_b^2 times the factor of V_b
//
// which, linear in F_b, costs nothing.
type linearPath[T Float] struct {
	*kernelPath[T]
	fast *fastLinear
	rows []linearRow
	down []float64         // without weights, per bin: what a step down has more than a step up
	x, y [fastSize]float64 // sqrt(2) X and Y
}

func newLinearPath[T Float](w *walker[T], fast *fastLinear) path {
	p := &linearPath[T]{
		kernelPath: &kernelPath[T]{newLinearKernel(w.in), w}, fast: fast, rows: make([]linearRow, w.in.bins),
	}
	if w.weights == nil {
		p.down = make([]float64, w.in.bins)
	}
	return p
}

func (p *linearPath[T]) start(pt *point) float64 {
	in := p.w.in
	p.x, p.y = [fastSize]float64{}, [fastSize]float64{}
	for b := range p.rows {
		row, e, cdf := &p.rows[b], in.unit[b], pt.cdf[b]
		for l := range row.x {
			x, y := math.Sqrt2*p.fast.x[b][l], math.Sqrt2*p.fast.y[b][l]
			row.x[l], row.y[l] = e*x, e*y
			p.x[l] += cdf * x
			p.y[l] += cdf * y
		}
		row.f, row.rise = 2*e*cdf, 2*e*e
		if p.w.weights == nil {
			own := in.linear.square[b] * e * e
			row.f += own
			p.down[b] = 2 * own
			if in.variance != nil {
				g := own * in.variance.factor[b]
				row.f += g * (2*cdf - (1 - e))
				row.rise += 2 * g * e
				p.down[b] += 2 * g * e
			}
		}
	}
	return p.kernel.start(pt)
}

func (p *linearPath[T]) run(st *state, i, hi int) int {
	if p.w.weights == nil && p.w.Half {
		return p.runHalves(st, i, hi)
	}
	return p.runAny(st, i, hi)
}

// runHalves crosses events of weight 1, with keys in the upper halves of their records,
// from i on, up to the last before hi or the first whose key equals the next one's. It
// returns where it stopped.
func (p *linearPath[T]) runHalves(st *state, i, hi int) int {
	rows, scale, binShift := p.rows, -p.w.in.scale, p.w.BinShift&31
	j, integral, score := st.j, st.integral, st.score
	x0, x1, x2, y0, y1, y2 := p.x[0], p.x[1], p.x[2], p.y[0], p.y[1], p.y[2]
	r, rest := p.w.words[i], p.w.words[i+1:hi]
	out := p.w.out[i-p.w.base:][:len(rest)]
	for k, after := range rest {
		if after>>32 == r>>32 {
			break
		}
		i++
		next := float64(radix.HalfValue(uint32(r >> 32)))
		integral += j * (next - score)
		score = next
		row := &rows[uint32(r)>>binShift]
		d := row.f - (x0*row.x[0] + x1*row.x[1] + x2*row.x[2]) + (y0*row.y[0] + y1*row.y[1] + y2*row.y[2])
		j += d
		out[k] = T(scale * d)
		row.f += row.rise
		x0, x1, x2 = x0+row.x[0], x1+row.x[1], x2+row.x[2]
		y0, y1, y2 = y0+row.y[0], y1+row.y[1], y2+row.y[2]
		r = after
	}
	*st = state{j, integral, score}
	p.x, p.y = [fastSize]float64{x0, x1, x2}, [fastSize]float64{y0, y1, y2}
	return i
}

// runAny is runHalves for all records, with weights or without.
func (p *linearPath[T]) runAny(st *state, i, hi int) int {
	words, weights, rows, layout := p.w.words, p.w.weights, p.rows, p.w.Layout
	unit, square, variance, squares := p.w.in.unit, p.w.in.linear.square, p.w.in.variance, p.w.at.squares
	base, scale, exact, scores, out := p.w.base, -p.w.in.scale, layout.Exact(), p.w.scores, p.w.out
	j, integral, score := st.j, st.integral, st.score
	x0, x1, x2, y0, y1, y2 := p.x[0], p.x[1], p.x[2], p.y[0], p.y[1], p.y[2]
	for ; i < hi-1; i++ {
		r := words[i]
		if layout.Key(words[i+1]) == layout.Key(r) {
			break
		}
		next := layout.Number(r)
		if !exact {
			next = float64(scores[layout.Index(r)])
		}
		integral += j * (next - score)
		score = next
		b, w := layout.Bin(r), 1.0
		row := &rows[b]
		d := row.f - (x0*row.x[0] + x1*row.x[1] + x2*row.x[2]) + (y0*row.y[0] + y1*row.y[1] + y2*row.y[2])
		if weights != nil {
			w = weights[i]
			e := w * unit[b]
			moved := e * e
			if variance != nil {
				moved -= variance.change(step{b, e, e * e}, row.f/(2*unit[b]), squares[b])
				squares[b] += e * e
			}
			d = w*d + square[b]*moved
		}
		j += d
		out[i-base] = T(scale * d)
		row.f += w * row.rise
		x0, x1, x2 = x0+w*row.x[0], x1+w*row.x[1], x2+w*row.x[2]
		y0, y1, y2 = y0+w*row.y[0], y1+w*row.y[1], y2+w*row.y[2]
	}
	*st = state{j, integral, score}
	p.x, p.y = [fastSize]float64{x0, x1, x2}, [fastSize]float64{y0, y1, y2}
	return i
}

func (p *linearPath[T]) change(i int, sign float64) float64 {
	b := p.w.Bin(p.w.words[i])
	row := &p.rows[b]
	slope := row.f - (p.x[0]*row.x[0] + p.x[1]*row.x[1] + p.x[2]*row.x[2]) + (p.y[0]*row.y[0] + p.y[1]*row.y[1] + p.y[2]*row.y[2])
	if p.w.weights == nil {
		if sign < 0 {
			return p.down[b] - slope
		}
		return slope
	}
	w, in := sign*p.w.weights[i], p.w.in
	e := w * in.unit[b]
	d := w*slope + e*e*in.linear.square[b]
	if in.variance != nil {
		d -= in.linear.square[b] * in.variance.change(step{b, e, sign * e * e}, row.f/(2*in.unit[b]), p.w.at.squares[b])
	}
	return d
}

func (p *linearPath[T]) cross(i int) float64 {
	d := p.change(i, 1)
	b, w := p.w.Bin(p.w.words[i]), p.w.weight(i)
	row := &p.rows[b]
	row.f += w * row.rise
	for l := range p.x {
		p.x[l] += w * row.x[l]
		p.y[l] += w * row.y[l]
	}
	if p.w.weights != nil && p.w.in.variance != nil {
		e := w * p.w.in.unit[b]
		p.w.at.squares[b] += e * e
	}
	return d
}
