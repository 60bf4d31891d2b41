package core

import (
	"math"
	"sync"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// fastLinear is J without bounds for orders 0, 1 and 2, and for any number of orthonormal columns of P, in the form
// that costs least to follow. With P'P + slope_penalty s s' = L L' (s.c = c_1) the matrix M of linear.go is
//
//	M_ab = [a = b] - x_a.x_b + y_a.y_b,   L x_b = P_b,  y_b = L' A_b - x_b
//
// so that crossing an event changes two short vectors, X = sum_b F_b x_b and Y,
// by what also gives the change of J. Where P = A has orthonormal columns and there is no penalty, L = 1, x_b = P_b and
// y_b = 0, so that the columns from the fourth on are more elements of x.
type fastLinear struct {
	x, y [][fastSize]float64 // per bin; lower orders have zeros
	wide [][][4]float64      // further elements of x, four at a time, per bin
}

// fastSize is the most moments that a row has room for.
const fastSize = 3

// newFastLinear returns nil where P'P is singular, as with fewer bins than moments, or where there are more columns than
// these forms have.
func newFastLinear(in *integrand, sc *scratch) *fastLinear {
	ba := in.linear.basis
	if ba.size > fastSize {
		return newWideLinear(in, sc)
	}
	l, ok := newLower(ba, in.penalty)
	if !ok {
		return nil
	}
	f := par.New(&sc.arena, fastLinear{x: par.Make[[fastSize]float64](&sc.arena, in.bins), y: par.Make[[fastSize]float64](&sc.arena, in.bins)})
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

// newWideLinear returns that of orthonormal columns.
func newWideLinear(in *integrand, sc *scratch) *fastLinear {
	ba := in.linear.basis
	if !ba.isOrthonormal || in.penalty != 0 {
		return nil
	}
	f := par.New(&sc.arena, fastLinear{x: par.Make[[fastSize]float64](&sc.arena, in.bins), y: par.Make[[fastSize]float64](&sc.arena, in.bins)})
	for b := range in.bins {
		copy(f.x[b][:], ba.rowP(b))
	}
	for l := fastSize; l < ba.size; l += 4 {
		rows := par.Make[[4]float64](&sc.arena, in.bins)
		for b := range rows {
			copy(rows[b][:], ba.rowP(b)[l:])
		}
		f.wide = append(f.wide, rows)
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
	fast *fastLinear
}

// linearRoom is what a chunk is walked in: the state, and a block of events.
type linearRoom struct {
	linearKernel
	at        point
	li        lanes.Linear
	wide      []wideColumns
	bins      []uint32
	scores, d []float64
	own       []tieSums // by bin: sums over the events of a tie
}

// wideColumns are four further columns, as a chunk is walked along them.
type wideColumns struct {
	rows [][4]float64 // per bin: sqrt(2) x_b / W_b
	x    [4]float64   // -X
	tie  [4]float64   // a sum over the events of a tie
}

var linearRooms = sync.Pool{New: func() any { return new(linearRoom) }}

// walkBlock is a number of events that stay in cache between the loops over them.
const walkBlock = 512

// start moves to where chunk k begins and returns J there. A row is y_b and sqrt(2) x_b with
// 1/W_b multiplied in, so that only the weight is left to multiply with.
func (w *linearWalker[T]) start(k int, room *linearRoom) float64 { return w.startBetween(k, k, room) }

// startBetween is start in the middle between where chunks k and l begin.
func (w *linearWalker[T]) startBetween(k, l int, room *linearRoom) float64 {
	in, li := w.in, &room.li
	room.linear, room.in = in.linear, in
	room.c, room.z = par.Grown(room.c, in.basis.size), par.Grown(room.z, in.basis.size)
	room.own, li.Rows = par.Grown(room.own, in.bins), par.Grown(li.Rows, in.bins)
	room.at.moveBetween(k, l, in, w.sums)
	li.Y, li.X = [4]float64{3: 1}, [4]float64{}
	for b, e := range in.unit {
		row, cdf := &li.Rows[b], room.at.cdf[b]
		for l := range fastSize {
			x, y := math.Sqrt2*w.fast.x[b][l], math.Sqrt2*w.fast.y[b][l]
			row.X[l], row.Y[l] = e*x, e*y
			li.X[l] -= cdf * x
			li.Y[l] += cdf * y
		}
		row.Y[3], row.X[3] = 2*e*cdf, 2*e*e
		if w.weights == nil {
			own := in.linear.square[b] * e * e
			row.Y[3] += own
			if in.variance != nil {
				g := own * in.variance.factor[b]
				row.Y[3] += g * (2*cdf - (1 - e))
				row.X[3] += 2 * g * e
			}
		}
	}
	w.startWide(room)
	return room.linearKernel.start(&room.at)
}

// startWide is start for further columns.
func (w *linearWalker[T]) startWide(room *linearRoom) {
	room.wide = par.Grown(room.wide, len(w.fast.wide))
	for g, columns := range w.fast.wide {
		wi := &room.wide[g]
		wi.rows, wi.x = par.Grown(wi.rows, len(columns)), [4]float64{}
		for b, e := range w.in.unit {
			cdf := room.at.cdf[b]
			for l, p := range columns[b] {
				x := math.Sqrt2 * p
				wi.rows[b][l] = e * x
				wi.x[l] -= cdf * x
			}
		}
	}
}

func (w *linearWalker[T]) above(k int) float64 {
	room := linearRooms.Get().(*linearRoom)
	defer linearRooms.Put(room)
	return w.start(k, room)
}

func (w *linearWalker[T]) walkChunk(k int) float64 {
	lo, hi := w.chunks[k], w.chunks[k+1]
	if hi-lo > walkBlock && w.tied(lo, hi-1) {
		return w.walkTie(k)
	}
	room := linearRooms.Get().(*linearRoom)
	defer linearRooms.Put(room)
	end := w.score(hi - 1)
	integral := w.start(k, room) * (end - w.scoreBefore(k))
	for lo < hi {
		next := w.endOfBlock(lo, hi, walkBlock)
		w.cross(room, lo, next)
		integral += lanes.Finish(room.d, room.scores, end, -w.in.scale)
		if w.grad != nil {
			w.settleTies(room, lo)
			w.finish(lo, room.d)
		}
		lo = next
	}
	return integral
}

// cross crosses the events lo..hi-1 one by one, also where they are tied.
func (w *linearWalker[T]) cross(room *linearRoom, lo, hi int) {
	room.bins, room.scores, room.d = par.Grown(room.bins, hi-lo), par.Grown(room.scores, hi-lo), par.Grown(room.d, hi-lo)
	w.decode(lo, hi, room.scores, room.bins)
	if w.weights == nil {
		room.li.Cross(room.bins, room.d)
		for g := range room.wide {
			lanes.CrossWide(room.wide[g].rows, &room.wide[g].x, room.bins, room.d)
		}
		return
	}
	weights, at := w.weights[lo:hi], &room.at
	unit, square, va := w.in.unit, w.in.linear.square, w.in.variance
	for i, b := range room.bins {
		e := weights[i] * unit[b]
		moved := e * e
		if va != nil {
			moved -= va.change(step{int(b), e, e * e}, at.cdf[b], at.squares[b])
			at.cdf[b] += e
			at.squares[b] += e * e
		}
		room.d[i] = square[b] * moved
	}
	room.li.CrossWeighted(room.bins, weights, room.d)
	for g := range room.wide {
		lanes.CrossWideWeighted(room.wide[g].rows, &room.wide[g].x, room.bins, weights, room.d)
	}
}
