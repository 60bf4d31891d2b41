package core

import (
	"github.com/libmode/libmode/core/internal/par"
)

// walk is one pass over the sorted records of one label. Between neighbouring scores
// J is constant, so that its integral is a finite sum; where a score is crossed one
// F_b jumps, and by how much J then changes is the gradient of the loss with respect
// to that score.
type walk[T Float] struct {
	*records[T]
	in      *integrand
	sums    *sums
	limits  limits
	grad    []T // of the input's length; nil: not wanted
	results []uint64
	newPath func(*walker[T]) path

	topFrom  int     // the first of the events of the highest score, if the integral ends there
	topShare float64 // what their gradients gain from that
}

// integrate returns the loss and sets the gradient.
func (wa *walk[T]) integrate(sc *scratch) (float64, error) {
	integrals := make([]float64, len(wa.chunks)-1)
	if scatters(wa) {
		// A result takes the place of its event's weight.
		sc.weights = par.Grown(sc.weights, len(wa.words))
		wa.results = asWords(sc.weights)
	}
	walkers := par.NewPool(wa.newWalker)
	w := walkers.Take()
	top := w.start(len(integrals))
	wa.setUpperEnd(top)
	walkers.Give(w)
	sc.team.Run(len(integrals), func(k int) {
		if wa.chunks[k] < wa.chunks[k+1] {
			w := walkers.Take()
			integrals[k] = w.walkChunk(k)
			walkers.Give(w)
		}
	})
	total := top * (wa.limits.to - wa.score(len(wa.words)-1))
	for _, integral := range integrals {
		total += integral
	}
	if !finite(total) {
		return 0, errorOf(ErrOverflow, "the loss is %v: scores, or weights relative to their sum in a bin, are too large for double precision", total)
	}
	if wa.results != nil {
		scatter(wa.grad, wa.results, wa.words, sc.team)
	}
	return wa.in.scale * total, nil
}

// setUpperEnd finds what the gradient of the highest score gains from the end of the
// integral, where that is the highest score and J above it is j. Of tied events only
// one that moves up takes the end along, hence half of it.
func (wa *walk[T]) setUpperEnd(j float64) {
	wa.topFrom = len(wa.words)
	if !wa.limits.open {
		return
	}
	top := len(wa.words) - 1
	first := top
	for first > 0 && wa.tied(first-1, top) {
		first--
	}
	wa.topFrom, wa.topShare = first, wa.in.scale*j
	if first < top {
		wa.topShare /= 2
	}
}

// scoreBefore returns the score from which the integral over chunk k runs.
func (wa *walk[T]) scoreBefore(k int) float64 {
	if k == 0 {
		return wa.limits.from
	}
	return wa.score(wa.chunks[k] - 1)
}

// path is a way to cross events. There is a general one (kernelPath), and two written
// out for speed that tests compare with it (linear_fast.go, bounded_fast.go).
type path interface {
	// start moves to a point, which it then takes along, and returns J there.
	start(*point) float64
	// run crosses as many events as it can from i on, none of which is tied or the last
	// before hi, and returns where it stopped.
	run(st *state, i, hi int) int
	// change returns by how much J would change if event i were crossed, upwards
	// (sign 1) or downwards (-1), and leaves everything as it is.
	change(i int, sign float64) float64
	// cross crosses event i upwards and returns by how much J has changed.
	cross(i int) float64
}

// state is J above the last score, and its integral so far.
type state struct{ j, integral, score float64 }

// advance goes on to a score where J changes by d.
func (st *state) advance(score, d float64) {
	st.integral += st.j * (score - st.score)
	st.score = score
	st.j += d
}

// pathOf chooses the path.
func pathOf[T Float](in *integrand, su *sums) func(*walker[T]) path {
	if su.heavy == nil && in.basis.size <= fastSize {
		if in.linear != nil {
			if fast := newFastLinear(in); fast != nil {
				return func(w *walker[T]) path { return newLinearPath(w, fast) }
			}
		} else if lower, ok := newLower(in.basis, 0); ok && in.basis.size == fastSize {
			return func(w *walker[T]) path { return newBoundedPath(w, lower) }
		}
	}
	return newKernelPath[T]
}

// walker is the state of one goroutine.
type walker[T Float] struct {
	*walk[T]
	path
	at         point
	out        []T // the gradient of the events of a chunk, in order of score
	base       int // the first of them
	ups, downs []float64
}

func (wa *walk[T]) newWalker() *walker[T] {
	w := &walker[T]{walk: wa, at: wa.in.newPoint(wa.sums)}
	w.path = wa.newPath(w)
	return w
}

// start moves to where chunk k begins and returns J there.
func (w *walker[T]) start(k int) float64 {
	w.at.moveTo(k, w.in, w.sums)
	return w.path.start(&w.at)
}

// walkChunk crosses the events of chunk k and writes their gradient. It returns the integral
// of J from the score before the chunk to its last.
func (w *walker[T]) walkChunk(k int) float64 {
	lo, hi := w.chunks[k], w.chunks[k+1]
	w.base, w.out = lo, par.Grown(w.out, hi-lo)
	defer w.write(lo, hi)
	if hi-lo > 1 && w.endOfTie(lo, hi) == hi {
		return w.walkTie(k)
	}
	st := state{j: w.start(k), score: w.scoreBefore(k)}
	for i := lo; i < hi; {
		i = w.run(&st, i, hi)
		// A tie begins, or only the keys are equal, or this is the last event.
		end := w.endOfTie(i, hi)
		st.advance(w.score(i), w.crossAll(i, end))
		i = end
	}
	return st.integral
}

// walkTie is walkChunk for a chunk whose events all have one score, however many: both
// sides of the score start from sums.
func (w *walker[T]) walkTie(k int) float64 {
	w.ups, w.downs = par.Grown(w.ups, len(w.out)), par.Grown(w.downs, len(w.out))
	j := w.start(k)
	for i := range w.ups {
		w.ups[i] = w.change(w.base+i, 1)
	}
	w.start(k + 1)
	for i := range w.downs {
		w.downs[i] = w.change(w.base+i, -1)
	}
	for i, down := range w.downs {
		w.put(w.base+i, w.in.scale*(down-w.ups[i])/2)
	}
	return j * (w.score(w.base) - w.scoreBefore(k))
}

// crossAll crosses events of equal score, often one, and returns by how much J changes.
// The gradient of each of several is the mean of its left and right derivatives: for one
// that moves up, J above the tie loses the event; for one that moves down, J below the
// tie gains it.
func (w *walker[T]) crossAll(lo, hi int) (total float64) {
	if hi == lo+1 {
		d := w.cross(lo)
		w.put(lo, -w.in.scale*d)
		return d
	}
	w.ups = par.Grown(w.ups, hi-lo)
	for i := lo; i < hi; i++ {
		w.ups[i-lo] = w.change(i, 1)
	}
	for i := lo; i < hi; i++ {
		total += w.cross(i)
	}
	for i := lo; i < hi; i++ {
		w.put(i, w.in.scale*(w.change(i, -1)-w.ups[i-lo])/2)
	}
	return total
}

// put keeps the gradient of an event that is the last of its chunk, or tied.
func (w *walker[T]) put(i int, grad float64) {
	if i >= w.topFrom {
		grad += w.topShare
	}
	w.out[i-w.base] = T(grad)
}

// write takes over the gradient of the records lo..hi-1.
func (w *walker[T]) write(lo, hi int) {
	words, out, layout := w.words[lo:hi], w.out, w.Layout // in locals, which stay in registers
	switch {
	case w.results != nil:
		results := w.results[lo:hi]
		for i, r := range words {
			results[i] = result(layout.Index(r), out[i])
		}
	case w.grad != nil:
		grad := w.grad
		for i, r := range words {
			grad[layout.Index(r)] = out[i]
		}
	}
}

// kernelPath crosses events one by one, as a kernel does.
type kernelPath[T Float] struct {
	kernel
	w *walker[T]
}

func newKernelPath[T Float](w *walker[T]) path { return &kernelPath[T]{w.in.newKernel(), w} }

func (p *kernelPath[T]) run(st *state, i, hi int) int {
	w, unit := p.w, p.w.in.unit
	for ; i < hi-1 && w.Key(w.words[i]) != w.Key(w.words[i+1]); i++ {
		d := p.kernel.cross(w.step(i, unit))
		st.advance(w.score(i), d)
		w.out[i-w.base] = T(-w.in.scale * d)
	}
	return i
}

func (p *kernelPath[T]) change(i int, sign float64) float64 {
	st := p.w.step(i, p.w.in.unit)
	if sign < 0 {
		st = st.reversed()
	}
	return p.kernel.change(st)
}

func (p *kernelPath[T]) cross(i int) float64 { return p.kernel.cross(p.w.step(i, p.w.in.unit)) }
