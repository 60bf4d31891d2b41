package core

import (
	"math"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
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

// linearWalker crosses events by way of fastLinear, a block at a time. An event of weight
// w changes J by w (2 (M F)_b)/W_b + w^2 M_bb/W_b^2, less what the bias changes by: without
// weights
//
//	M_bb (1 - 2 F_b - 1/W_b) g_b,   g_b = 1/W_b^2 times the factor of V_b
//
// which, linear in F_b, costs nothing: it is in the rows. With weights the squares come first,
// event by event.
type linearWalker[T Float] struct {
	*walk[T]
	linearKernel *linearKernel
	at           point
	fast         *fastLinear
	li           lanes.Linear
	bins         []uint32 // of the events of a block
	scores, d    []float64
	own          []tieSums // by bin: sums over the events of a tie
}

// walkBlock is a number of events that stay in cache between the loops over them.
const walkBlock = 512

func newLinearWalker[T Float](wa *walk[T], fast *fastLinear) walker {
	return &linearWalker[T]{
		walk: wa, linearKernel: newLinearKernel(wa.in), at: wa.in.newPoint(wa.sums), fast: fast,
		li: lanes.Linear{Rows: make([]lanes.Row, wa.in.bins)}, own: make([]tieSums, wa.in.bins),
		bins: make([]uint32, walkBlock), scores: make([]float64, walkBlock), d: make([]float64, walkBlock),
	}
}

// start moves to where chunk k begins and returns J there. A row is y_b and sqrt(2) x_b with
// 1/W_b multiplied in, so that only the weight is left to multiply with.
func (w *linearWalker[T]) start(k int) float64 {
	w.at.moveTo(k, w.in, w.sums)
	w.li.Y, w.li.X = [4]float64{3: 1}, [4]float64{}
	for b, e := range w.in.unit {
		row, cdf := &w.li.Rows[b], w.at.cdf[b]
		for l := range fastSize {
			x, y := math.Sqrt2*w.fast.x[b][l], math.Sqrt2*w.fast.y[b][l]
			row.X[l], row.Y[l] = e*x, e*y
			w.li.X[l] -= cdf * x
			w.li.Y[l] += cdf * y
		}
		row.Y[3], row.X[3] = 2*e*cdf, 2*e*e
		if w.weights == nil {
			own := w.in.linear.square[b] * e * e
			row.Y[3] += own
			if w.in.variance != nil {
				g := own * w.in.variance.factor[b]
				row.Y[3] += g * (2*cdf - (1 - e))
				row.X[3] += 2 * g * e
			}
		}
	}
	return w.linearKernel.start(&w.at)
}

func (w *linearWalker[T]) walkChunk(k int) float64 {
	lo, hi := w.chunks[k], w.chunks[k+1]
	end := w.score(hi - 1)
	integral := w.start(k) * (end - w.scoreBefore(k))
	for lo < hi {
		next := w.endOfBlock(lo, hi)
		w.cross(lo, next)
		for i := lanes.FirstTie(w.scores); i < len(w.scores)-1; {
			last := i + 1
			for last < len(w.scores)-1 && w.scores[last] == w.scores[last+1] {
				last++
			}
			w.settle(lo, i, last+1)
			i = last + 1
			if i < len(w.scores) {
				i += lanes.FirstTie(w.scores[i:])
			}
		}
		integral += lanes.Finish(w.d, w.scores, end, -w.in.scale)
		for i := max(lo, w.topFrom); i < next; i++ {
			w.d[i-lo] += w.topShare
		}
		write(w.walk, lo, w.d)
		lo = next
	}
	return integral
}

// endOfBlock returns where a block ends that begins at lo: all of one tie are in a block.
func (w *linearWalker[T]) endOfBlock(lo, hi int) int {
	if hi-lo <= walkBlock {
		return hi
	}
	at := lo + walkBlock
	for at > lo && w.tied(at-1, at) {
		at--
	}
	if at == lo {
		return w.endOfTie(lo, hi)
	}
	return at
}

// cross crosses the events lo..hi-1 one by one, also where they are tied.
func (w *linearWalker[T]) cross(lo, hi int) {
	w.bins, w.scores, w.d = par.Grown(w.bins, hi-lo), par.Grown(w.scores, hi-lo), par.Grown(w.d, hi-lo)
	w.decode(lo, hi, w.scores, w.bins)
	if w.weights == nil {
		w.li.Cross(w.bins, w.d)
		return
	}
	weights := w.weights[lo:hi]
	unit, square, va := w.in.unit, w.in.linear.square, w.in.variance
	for i, b := range w.bins {
		e := weights[i] * unit[b]
		moved := e * e
		if va != nil {
			moved -= va.change(step{int(b), e, e * e}, w.at.cdf[b], w.at.squares[b])
			w.at.cdf[b] += e
			w.at.squares[b] += e * e
		}
		w.d[i] = square[b] * moved
	}
	w.li.CrossWeighted(w.bins, weights, w.d)
}

// tieSums are sums of the weights, and of the squares of the steps, of events of a bin.
type tieSums struct{ weight, square float64 }

// settle makes the changes of the tied events i..end-1 of a block the mean of those where
// they are crossed in this order and in the reverse one, which is that of the left and
// the right derivatives: J is quadratic, so that each event changes by as much what each other
// one does. The sums are over the events after, less those before.
func (w *linearWalker[T]) settle(lo, i, end int) {
	var x, y [fastSize]float64
	add := func(k int, sign float64) {
		b := w.bins[k]
		weight, row := sign*w.weight(lo+k), &w.li.Rows[b]
		for l := range x {
			x[l] += weight * row.X[l]
			y[l] += weight * row.Y[l]
		}
		w.own[b].weight += weight
		e := weight * w.in.unit[b]
		w.own[b].square += sign * e * e
	}
	for k := i; k < end; k++ {
		add(k, 1)
	}
	for k := i; k < end; k++ {
		add(k, -1)
		w.d[k] += w.acrossTie(lo+k, w.bins[k], &x, &y) / 2
		add(k, -1)
	}
	for _, b := range w.bins[i:end] {
		w.own[b] = tieSums{}
	}
}

// acrossTie returns by how much other events of a tie, of which these are the sums, change
// what event i does.
func (w *linearWalker[T]) acrossTie(i int, b uint32, x, y *[fastSize]float64) float64 {
	row, others, weight := &w.li.Rows[b], &w.own[b], w.weight(i)
	d := row.X[3] * others.weight
	for l := range x {
		d += row.Y[l]*y[l] - row.X[l]*x[l]
	}
	d *= weight
	if va := w.in.variance; va != nil && w.weights != nil {
		e, of := weight*w.in.unit[b], others.weight*w.in.unit[b]
		both := 2*e*of*va.totals[b] - 2*(e*e*of+e*others.square)
		d -= w.in.linear.square[b] * both * va.factor[b]
	}
	return d
}
