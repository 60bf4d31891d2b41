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
	// change returns by how much J would change if event i were crossed, upwards or
	// downwards, and leaves everything as it is.
	change(i int, up bool) float64
	// changes sets d to that of each of the tied events from lo on.
	changes(d []float64, lo int, up bool)
	// cross crosses event i upwards and returns by how much J has changed.
	cross(i int) float64
}

// state is the integral of a J up to an end that stays as it is above the events crossed so far.
type state struct{ integral, end float64 }

// advance crosses a score where J changes by d.
func (st *state) advance(score, d float64) { st.integral += d * (st.end - score) }

// pathWalker crosses events one after the other, by a path.
type pathWalker[T Float] struct {
	*walk[T]
	path
	at         point
	out        []T // the gradient of the events of a chunk, in order of score
	base       int // the first of them
	ups, downs []float64
	byBin      []float64 // see changes
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

// walkTie is walkChunk for a chunk whose events all have one score, as those of other chunks may: both
// sides of the score start from sums.
func (w *pathWalker[T]) walkTie(k int) float64 {
	hi := w.base + len(w.out)
	from, to := w.chunksOfTie(k)
	integral := w.start(from) * (w.score(w.base) - w.scoreBefore(k))
	if w.grad == nil {
		return integral
	}
	w.ups = w.changesOf(w.ups, w.base, hi, true)
	w.start(to)
	w.putTie(w.base, hi)
	write(w.walk, w.base, w.out)
	return integral
}

// crossAll crosses events of equal score, often one, and returns by how much J changes.
// The gradient of each of several is the mean of its left and right derivatives: for one
// that moves up, J above the tie loses the event; for one that moves down, J below the
// tie gains it.
func (w *pathWalker[T]) crossAll(lo, hi int) (total float64) {
	if hi == lo+1 {
		d := w.cross(lo)
		w.put(lo, -w.in.scale*d)
		return d
	}
	if w.grad != nil {
		w.ups = w.changesOf(w.ups, lo, hi, true)
	}
	if hi-lo <= max(boundedBlock, 2*w.in.bins) {
		for i := lo; i < hi; i++ {
			total += w.cross(i)
		}
	} else {
		before := w.path.start(&w.at)
		for i := lo; i < hi; i++ {
			w.at.cross(w.step(i, w.in.unit))
		}
		total = w.path.start(&w.at) - before
	}
	if w.grad != nil {
		w.putTie(lo, hi)
	}
	return total
}

// changesOf returns by how much J would change if each of the tied events lo..hi-1 were crossed alone. Without weights
// it is the same for all of a bin, and asked for once.
func (w *pathWalker[T]) changesOf(room []float64, lo, hi int, up bool) []float64 {
	room = par.Grown(room, hi-lo)
	if w.weights != nil || hi-lo <= w.in.bins {
		w.changes(room, lo, up)
		return room
	}
	w.byBin = par.Grown(w.byBin, w.in.bins)
	fill(w.byBin, math.NaN()) // not asked for yet
	for i := range room {
		of := &w.byBin[w.bin(w.words[lo+i])]
		if *of != *of {
			*of = w.change(lo+i, up)
		}
		room[i] = *of
	}
	return room
}

// putTie keeps the gradient of the tied events lo..hi-1, all of which have been crossed.
func (w *pathWalker[T]) putTie(lo, hi int) {
	w.downs = w.changesOf(w.downs, lo, hi, false)
	for i, down := range w.downs {
		w.put(lo+i, w.in.scale*(down-w.ups[i])/2)
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

func (p *kernelPath[T]) change(i int, up bool) float64 {
	st := p.w.step(i, p.w.in.unit)
	if !up {
		st = st.reversed()
	}
	return p.kernel.change(st)
}

func (p *kernelPath[T]) changes(d []float64, lo int, up bool) {
	for i := range d {
		d[i] = p.change(lo+i, up)
	}
}

func (p *kernelPath[T]) cross(i int) float64 { return p.kernel.cross(p.w.step(i, p.w.in.unit)) }
