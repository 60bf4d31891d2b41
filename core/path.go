package core

import (
	"math"

	"github.com/libmode/libmode/core/internal/par"
)

// path is a way to cross events: a general one, kernelPath, and that of bounded_fast.go.
type path interface {
	// start moves to a point, which it then takes along, and returns J there.
	start(*point) float64
	// run crosses as many events as it can from i on, writes their gradient, and returns where it
	// stopped, which is not within a tie.
	run(st *state, i, hi int) int
	// cross makes a step and returns by how much J has changed.
	cross(step) float64
	// change returns by how much J changes from where half of event i, of a tie, is taken out to where as much is added,
	// and leaves everything as it is.
	change(i int) float64
	// changes sets d to that of each of the tied events from lo on.
	changes(d []float64, lo int)
}

// state is the integral of a J up to an end that stays as it is above the events crossed so far.
type state struct{ integral, end float64 }

// advance crosses a score where J changes by d.
func (st *state) advance(score, d float64) { st.integral += d * (st.end - score) }

// pathWalker crosses events one after the other, by a path.
type pathWalker[T Float] struct {
	*walk[T]
	path
	at    point
	out   []T       // the gradient of the events of a chunk, in order of score
	base  int       // the first of them
	d     []float64 // what tied events change
	byBin []float64 // see putTie
}

// pathWalkers are as many as there are goroutines.
type pathWalkers[T Float] struct{ par.Pool[*pathWalker[T]] }

func newPathWalkers[T Float](wa *walk[T], newPath func(*pathWalker[T]) path) walker {
	return pathWalkers[T]{par.NewPool(func() *pathWalker[T] {
		w := &pathWalker[T]{walk: wa}
		w.path = newPath(w)
		return w
	})}
}

func newKernelWalkers[T Float](wa *walk[T]) walker { return newPathWalkers(wa, newKernelPath[T]) }

func (ws pathWalkers[T]) above(k int) float64 {
	w := ws.Take()
	defer ws.Give(w)
	return w.start(k)
}

func (ws pathWalkers[T]) walkChunk(k int) float64 {
	w := ws.Take()
	defer ws.Give(w)
	return w.walkChunk(k)
}

// start moves to where chunk k begins and returns J there.
func (w *pathWalker[T]) start(k int) float64 {
	w.at.moveTo(k, w.in, w.sums)
	return w.path.start(&w.at)
}

// walkChunk is that of walker.
func (w *pathWalker[T]) walkChunk(k int) float64 {
	lo, hi := w.chunks[k], w.chunks[k+1]
	w.base, w.out = lo, par.Grown(w.out, hi-lo)
	if hi-lo > 1 && w.tied(lo, hi-1) {
		return w.walkTie(k)
	}
	st := state{end: w.score(hi - 1)}
	st.integral = w.start(k) * (st.end - w.scoreBefore(k))
	for i := w.run(&st, lo, hi); i < hi; i = w.run(&st, i, hi) {
		end := w.endOfTie(i, hi)
		st.advance(w.score(i), w.crossAll(i, end))
		write(w.walk, i, w.out[i-lo:end-lo])
		i = end
	}
	return st.integral
}

// walkTie is walkChunk for a chunk whose events all have one score, as those of other chunks may: the middle of the tie
// is that of the sums on both sides of the score.
func (w *pathWalker[T]) walkTie(k int) float64 {
	from, to := w.chunksOfTie(k)
	integral := w.start(from) * (w.score(w.base) - w.scoreBefore(k))
	if w.grad == nil {
		return integral
	}
	w.at.moveBetween(from, to, w.in, w.sums)
	w.path.start(&w.at)
	w.putTie(w.base, w.base+len(w.out))
	write(w.walk, w.base, w.out)
	return integral
}

// crossAll crosses events of equal score, often one, and returns by how much J changes. Each of several has
// the gradient of one that crosses the middle of the tie.
func (w *pathWalker[T]) crossAll(lo, hi int) float64 {
	if hi == lo+1 {
		d := w.cross(w.step(lo, w.in.unit))
		w.put(lo, -w.in.scale*d)
		return d
	}
	before := w.crossHalf(lo, hi)
	if w.grad != nil {
		w.putTie(lo, hi)
	}
	return before + w.crossHalf(lo, hi)
}

// crossHalf crosses one half of each of the events lo..hi-1, and returns by how much J changes.
func (w *pathWalker[T]) crossHalf(lo, hi int) (total float64) {
	if hi-lo <= max(boundedBlock, 2*w.in.bins) {
		for i := lo; i < hi; i++ {
			total += w.cross(w.step(i, w.in.unit).half())
		}
		return total
	}
	before := w.path.start(&w.at)
	for i := lo; i < hi; i++ {
		w.at.cross(w.step(i, w.in.unit).half())
	}
	return w.path.start(&w.at) - before
}

// putTie keeps the gradient of the tied events lo..hi-1, in the middle of whose tie the path is. Without weights it is the
// same for all of a bin, and found once.
func (w *pathWalker[T]) putTie(lo, hi int) {
	w.d = par.Grown(w.d, hi-lo)
	if w.weights != nil || hi-lo <= w.in.bins {
		w.changes(w.d, lo)
	} else {
		w.byBin = par.Grown(w.byBin, w.in.bins)
		for b := range w.byBin {
			w.byBin[b] = math.NaN() // not found yet
		}
		for i := range w.d {
			of := &w.byBin[w.Bin(w.words[lo+i])]
			if *of != *of {
				*of = w.change(lo + i)
			}
			w.d[i] = *of
		}
	}
	for i, d := range w.d {
		w.put(lo+i, -w.in.scale*d)
	}
}

// put keeps the gradient of an event that is the last of its chunk, or tied.
func (w *pathWalker[T]) put(i int, grad float64) {
	if i >= w.topFrom {
		grad += w.topShare
	}
	w.out[i-w.base] = T(grad)
}

// kernelPath crosses events one by one, as a kernel does.
type kernelPath[T Float] struct {
	kernel
	w *pathWalker[T]
}

func newKernelPath[T Float](w *pathWalker[T]) path { return &kernelPath[T]{w.in.newKernel(), w} }

// run stops before a tie, or where keys are equal, and before the last event.
func (p *kernelPath[T]) run(st *state, i, hi int) int {
	w, unit, from := p.w, p.w.in.unit, i
	for ; i < hi-1 && w.Key(w.words[i]) != w.Key(w.words[i+1]); i++ {
		d := p.kernel.cross(w.step(i, unit))
		st.advance(w.score(i), d)
		w.out[i-w.base] = T(-w.in.scale * d)
	}
	write(w.walk, from, w.out[from-w.base:i-w.base])
	return i
}

func (p *kernelPath[T]) change(i int) float64 {
	half := p.w.step(i, p.w.in.unit).half()
	return p.kernel.change(half) - p.kernel.change(half.reversed())
}

func (p *kernelPath[T]) changes(d []float64, lo int) {
	for i := range d {
		d[i] = p.change(lo + i)
	}
}
