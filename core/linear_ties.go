package core

import (
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// settleTies settles the ties of a block, of which lo is the first event and d the gradient, were there no ties.
func (w *linearWalker[T]) settleTies(room *linearRoom, lo int) {
	scores := room.scores
	for i := lanes.FirstTie(scores); i < len(scores)-1; {
		end := i + 2
		for end < len(scores) && scores[i] == scores[end] {
			end++
		}
		w.settle(room, lo, i, end)
		if i = end; i < len(scores) {
			i += lanes.FirstTie(scores[i:])
		}
	}
}

// tieSums are sums of the weights, and of the squares of the steps, of events of a bin.
type tieSums struct{ weight, square float64 }

// settle makes the gradient of the tied events i..end-1 of a block that where each crosses the middle of the tie. J is
// quadratic, so that each event changes by as much what each other one does. The sums are over the events after, less
// those before: half of that is how far the middle of the tie is from that of the event's step.
func (w *linearWalker[T]) settle(room *linearRoom, lo, i, end int) {
	var x, y [fastSize]float64
	for _, b := range room.bins[i:end] {
		room.own[b] = tieSums{}
	}
	for g := range room.wide {
		room.wide[g].tie = [4]float64{}
	}
	add := func(k int, sign float64) {
		b := room.bins[k]
		weight, row, own := sign*w.weight(lo+k), &room.li.Rows[b], &room.own[b]
		for l := range x {
			x[l] += weight * row.X[l]
			y[l] += weight * row.Y[l]
		}
		for g := range room.wide {
			for l, x := range room.wide[g].rows[b] {
				room.wide[g].tie[l] += weight * x
			}
		}
		own.weight += weight
		e := weight * w.in.unit[b]
		own.square += sign * e * e
	}
	for k := i; k < end; k++ {
		add(k, 1)
	}
	for k := i; k < end; k++ {
		add(k, -1)
		room.d[k] -= w.in.scale * w.acrossTie(room, room.bins[k], w.weight(lo+k), &x, &y) / 2
		add(k, -1)
	}
}

// acrossTie returns by how much other events of a tie, of which these are the sums, change
// what an event of this weight in bin b does.
func (w *linearWalker[T]) acrossTie(room *linearRoom, b uint32, weight float64, x, y *[fastSize]float64) float64 {
	row, others := &room.li.Rows[b], &room.own[b]
	d := row.X[3] * others.weight
	for l := range x {
		d += row.Y[l]*y[l] - row.X[l]*x[l]
	}
	for g := range room.wide {
		for l, x := range room.wide[g].rows[b] {
			d -= x * room.wide[g].tie[l]
		}
	}
	d *= weight
	if va := w.in.variance; va != nil && w.weights != nil {
		e, of := weight*w.in.unit[b], others.weight*w.in.unit[b]
		both := 2*e*of*va.totals[b] - 2*(e*e*of+e*others.square)
		d -= w.in.linear.square[b] * both * va.factor[b]
	}
	return d
}

// walkTie is walkChunk for a chunk whose events all have one score, as those of other chunks may: the middle of the tie
// is that of the sums on both sides of the score.
func (w *linearWalker[T]) walkTie(k int) float64 {
	room := linearRooms.Get().(*linearRoom)
	defer linearRooms.Put(room)
	from, to := w.chunksOfTie(k)
	lo, hi := w.chunks[k], w.chunks[k+1]
	integral := w.start(from, room) * (w.score(lo) - w.scoreBefore(k))
	if w.grad == nil {
		return integral
	}
	w.startBetween(from, to, room)
	for next := lo; next < hi; next += len(room.d) {
		room.d = par.Grown(room.d, min(walkBlock, hi-next))
		for i := range room.d {
			room.d[i] = -w.in.scale * w.changeHalf(room, next+i)
		}
		w.finish(next, room.d)
	}
	return integral
}

// changeHalf returns by how much an event changes J that is counted half already.
func (w *linearWalker[T]) changeHalf(room *linearRoom, i int) float64 {
	b, weight := w.Bin(w.words[i]), w.weight(i)
	row, half := &room.li.Rows[b], weight/2
	d := row.Y[3] - half*row.X[3]
	for l := range fastSize {
		d += row.Y[l]*(room.li.Y[l]-half*row.Y[l]) + row.X[l]*(room.li.X[l]+half*row.X[l])
	}
	for g := range room.wide {
		wi := &room.wide[g]
		for l, x := range wi.rows[b] {
			d += x * (wi.x[l] + half*x)
		}
	}
	d *= weight
	if w.weights == nil {
		return d
	}
	e := weight * w.in.unit[b]
	moved := e * e
	if va := w.in.variance; va != nil {
		moved -= va.change(step{b, e, e * e}, room.at.cdf[b]-e/2, room.at.squares[b]-e*e/2)
	}
	return d + w.in.linear.square[b]*moved
}
