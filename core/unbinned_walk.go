package core

import (
	"sync"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// unbinnedWalker crosses events a block at a time. J is a quadratic function of how far each event is crossed. So
// an event changes it by its derivative where the event is half crossed; and of tied events, the mean of what one
// changes below all others and above them is its derivative where all of the tie is half crossed. With a_k and, for
// the bias, B_l there, in the middle, an event changes J by
//
//	d_i = sum_{k > order} 2 e_k a_k - g [Q_i + sum_{l <= order} (2 (u_i (M q)_l - r_l) a_l - 2 e_l B_l)]
//
// where e_k = u_i q_k(x_i) and r_l = Q_i q_l(x_i) are the steps of a_k and B_l. No two values of J are subtracted.
type unbinnedWalker[T Float] struct {
	*walk[T]
	of *unbinned
}

// unbinnedPoint is where a walk stands: a_k, a 0 after the last of them, and from bAt on B_l.
type unbinnedPoint [2 * bAt]float64

const bAt = MaxOrder + 2

// unbinnedRoom is what a chunk is walked in: the point, and a block of events.
type unbinnedRoom struct {
	polynomialBlock
	at        unbinnedPoint
	bins      []uint32
	scores, d []float64
	ties      []tie
}

// tie is the events lo..hi-1 of a block, which have one score.
type tie struct {
	lo, hi int
	inside bool // the block is within a larger tie, in whose middle the point is
}

var unbinnedRooms = sync.Pool{New: func() any { return new(unbinnedRoom) }}

func (w *unbinnedWalker[T]) above(k int) float64 { return w.of.start(k, new(unbinnedPoint)) }

func (w *unbinnedWalker[T]) walkChunk(k int) float64 {
	room := unbinnedRooms.Get().(*unbinnedRoom)
	defer unbinnedRooms.Put(room)
	lo, hi := w.chunks[k], w.chunks[k+1]
	if hi-lo > columnBlock && w.tied(lo, hi-1) {
		return w.walkTie(k, room)
	}
	end := w.score(hi - 1)
	integral := w.of.start(k, &room.at) * (end - w.scoreBefore(k))
	for lo < hi {
		next := w.endOfBlock(lo, hi, columnBlock)
		w.load(room, lo, next)
		room.findTies()
		w.of.cross(room)
		integral += lanes.Finish(room.d, room.scores, end, -w.in.scale)
		w.finish(lo, room.d)
		lo = next
	}
	return integral
}

// walkTie is walkChunk for a chunk whose events all have one score, as those of other chunks may: both sides of the
// score, and so the middle, start from sums.
func (w *unbinnedWalker[T]) walkTie(k int, room *unbinnedRoom) float64 {
	var before, middle unbinnedPoint
	from, to := w.chunksOfTie(k)
	w.of.start(to, &middle)
	j := w.of.start(from, &before)
	for i := range middle {
		middle[i] = (before[i] + middle[i]) / 2
	}
	lo, hi := w.chunks[k], w.chunks[k+1]
	for next := lo; next < hi; next += len(room.d) {
		w.load(room, next, min(next+columnBlock, hi))
		room.at = middle
		room.ties = append(room.ties[:0], tie{0, len(room.d), true})
		w.of.cross(room)
		lanes.Finish(room.d, room.scores, 0, -w.in.scale)
		w.finish(next, room.d)
	}
	return j * (w.score(lo) - w.scoreBefore(k))
}

// load sets the block to the events lo..hi-1.
func (w *unbinnedWalker[T]) load(room *unbinnedRoom, lo, hi int) {
	w.of.load(&room.polynomialBlock, lo, hi)
	w.of.rec.evaluate(&room.polynomialBlock, w.of.degree)
	n := hi - lo
	room.bins, room.scores, room.d = par.Grown(room.bins, n), par.Grown(room.scores, n), par.Grown(room.d, n)
	w.decode(lo, hi, room.scores, room.bins)
}

// findTies finds the ties of the block.
func (room *unbinnedRoom) findTies() {
	room.ties = room.ties[:0]
	scores := room.scores
	for i := lanes.FirstTie(scores); i < len(scores)-1; {
		end := i + 2
		for end < len(scores) && scores[i] == scores[end] {
			end++
		}
		room.ties = append(room.ties, tie{lo: i, hi: end})
		if i = end; i < len(scores) {
			i += lanes.FirstTie(scores[i:])
		}
	}
}

// cross crosses the events of the block, and sets d to by how much J changes with each.
func (ub *unbinned) cross(room *unbinnedRoom) {
	none := room.spare[0]
	clear(none)
	clear(room.d)
	for k := ub.order + 1; k <= ub.degree; k += 2 {
		second := none
		if k < ub.degree {
			second = room.q[k+1]
		}
		step := degreeStep{room.d, room.u, room.q[k], second}
		room.at[k], room.at[k+1] = step.alone(room.at[k], room.at[k+1])
		for _, t := range room.ties {
			step.tied(t)
		}
	}
	if ub.bias != nil {
		ub.bias.cross(room)
	}
}

// degreeStep is what the events change J by through a_k of two degrees above the order.
type degreeStep struct{ d, u, q0, q1 []float64 }

// alone crosses the events one after the other, from these a_k on, and returns those after the last.
func (p *degreeStep) alone(a0, a1 float64) (_, _ float64) {
	a, b := 2*a0, 2*a1
	d, q0, q1 := p.d[:len(p.u)], p.q0[:len(p.u)], p.q1[:len(p.u)]
	for i, u := range p.u {
		e, f := float64(u*q0[i]), float64(u*q1[i])
		d[i] += float64(e*(a+e)) + float64(f*(b+f))
		a, b = a+2*e, b+2*f
	}
	return a / 2, b / 2
}

// tied moves the middle of each event of a tie to that of the tie: by half of the steps after it, less half of those
// before it.
func (p *degreeStep) tied(t tie) {
	var a, b float64
	if !t.inside {
		a, b = floats.Dot(p.u[t.lo:t.hi], p.q0[t.lo:t.hi]), floats.Dot(p.u[t.lo:t.hi], p.q1[t.lo:t.hi])
	}
	for i := t.lo; i < t.hi; i++ {
		e, f := float64(p.u[i]*p.q0[i]), float64(p.u[i]*p.q1[i])
		a, b = a-e, b-f
		p.d[i] += float64(e*a) + float64(f*b)
		a, b = a-e, b-f
	}
}
