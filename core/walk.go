package core

import (
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// walk is one pass over the sorted records of one subset. Between neighbouring scores
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

	// A walk whose J has no bias, or has it, where that of this one has it, or has none; nil: the bias is not asked for.
	plain, unbiased *walk[T]

	curved *curvature[T] // writes the bound of the curvature; nil: it is not asked for

	integrals []float64 // of J over each chunk
	top       float64   // J above the highest score
	topFrom   int       // the first of the events of the highest score, if the integral ends there
	topShare  float64   // what their gradients gain from that
}

// integrate returns the loss and sets the gradient.
func (wa *walk[T]) integrate(sc *scratch) (Result, error) {
	var found Result
	wa.begin(sc)
	other := wa.other()
	if other != nil {
		other.begin(sc)
		found.Events = wa.effective()
	}
	sc.team.Run(len(wa.chunks)-1, func(k int) {
		if wa.chunks[k] == wa.chunks[k+1] {
			return
		}
		// First what needs the weights: results take their place.
		if other != nil {
			other.integrals[k] = other.walkChunk(k)
		}
		if wa.curved != nil {
			wa.curved.walkChunk(k)
		}
		wa.integrals[k] = wa.walkChunk(k)
	})
	integral := wa.integral()
	wa.in.stretched.check(integral, wa.in.bins, wa.limits, wa.in.scale)
	found.Loss = wa.in.scale * integral
	switch {
	case wa.plain != nil:
		found.Bias = wa.in.scale * (wa.plain.integral() - integral)
	case wa.unbiased != nil:
		found.Bias = wa.in.scale * (integral - wa.unbiased.integral())
	}
	if !finite(found.Loss) || !finite(found.Bias) {
		return Result{}, errorOf(ErrOverflow, "the loss is beyond double precision: scores, or weights relative to their sum in a bin, are too large")
	}
	if wa.results != nil {
		scatter(wa.grad, wa.results, wa.words, sc.team)
	}
	return found, nil
}

// other returns the second walk, from which the bias follows; nil: there is none.
func (wa *walk[T]) other() *walk[T] {
	if wa.plain != nil {
		return wa.plain
	}
	return wa.unbiased
}

// begin finds what is above the highest score, and makes room.
func (wa *walk[T]) begin(sc *scratch) {
	wa.integrals = par.Make[float64](&sc.arena, len(wa.chunks)-1)
	if scatters(wa) {
		// A result takes the place of its event's weight.
		sc.weights = par.Grown(sc.weights, len(wa.words))
		wa.results = asWords(sc.weights)
	}
	wa.top = wa.above(len(wa.integrals))
	wa.setUpperEnd(wa.top)
}

// integral returns that of J.
func (wa *walk[T]) integral() float64 {
	total := wa.top * (wa.limits.to - wa.score(len(wa.words)-1))
	for _, integral := range wa.integrals {
		total += integral
	}
	return total
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
	first, _ := wa.tieAt(top, 0, top+1)
	wa.topFrom, wa.topShare = first, wa.in.scale*j
	if first < top {
		wa.topShare /= 2
	}
}

// scoreBefore returns the score from which the integral over chunk k runs.
func (wa *walk[T]) scoreBefore(k int) float64 {
	if wa.chunks[k] == 0 { // those before it, if there are any, are empty
		return wa.limits.from
	}
	return wa.score(wa.chunks[k] - 1)
}

// above returns J where chunk k begins, or at the end.
func (wa *walk[T]) above(k int) float64 {
	cr := crossings.Get().(*crossing)
	defer crossings.Put(cr)
	return cr.start(wa.in, wa.sums, k, k, wa.weights != nil)
}

// walkChunk crosses the events of chunk k and writes their gradient. It returns the integral of J from the score before the
// chunk to its last.
func (wa *walk[T]) walkChunk(k int) float64 {
	cr := crossings.Get().(*crossing)
	defer crossings.Put(cr)
	lo, hi, scale := wa.chunks[k], wa.chunks[k+1], wa.in.scale
	if hi-lo > blockSize && wa.tied(lo, hi-1) {
		return wa.walkTie(cr, k)
	}
	end := wa.score(hi - 1)
	integral := cr.start(wa.in, wa.sums, k, k, wa.weights != nil) * (end - wa.scoreBefore(k))
	for lo < hi {
		next := wa.endOfBlock(lo, hi, blockSize)
		wa.load(cr, lo, next)
		cr.cross()
		integral += lanes.Finish(cr.d, cr.scores, end, -scale)
		if wa.grad != nil {
			cr.settleTies(-scale)
			wa.finish(lo, cr.d)
		}
		lo = next
	}
	return integral
}

// walkTie is walkChunk for a chunk whose events all have one score, as those of other chunks may: the middle of the tie
// is that of the sums on both sides of the score.
func (wa *walk[T]) walkTie(cr *crossing, k int) float64 {
	from, to := wa.chunksOfTie(k)
	lo, hi, weighted := wa.chunks[k], wa.chunks[k+1], wa.weights != nil
	integral := cr.start(wa.in, wa.sums, from, from, weighted) * (wa.score(lo) - wa.scoreBefore(k))
	if wa.grad == nil {
		return integral
	}
	cr.start(wa.in, wa.sums, from, to, weighted)
	for ; lo < hi; lo += len(cr.d) {
		wa.load(cr, lo, min(lo+blockSize, hi))
		cr.aroundMiddle()
		floats.Scale(-wa.in.scale, cr.d)
		wa.finish(lo, cr.d)
	}
	return integral
}

// load makes the events lo..hi-1 the block to be crossed.
func (wa *walk[T]) load(cr *crossing, lo, hi int) {
	var weights []float64
	if wa.weights != nil {
		weights = wa.weights[lo:hi]
	}
	scores, bins := cr.load(hi-lo, weights)
	wa.decode(lo, hi, scores, bins)
}

// finish writes the gradient of the records from lo on, with what the end of the integral adds to
// that of the highest score.
func (wa *walk[T]) finish(lo int, grad []float64) {
	for i := max(lo, wa.topFrom); i < lo+len(grad); i++ {
		grad[i-lo] += wa.topShare
	}
	wa.write(lo, grad)
}

// write brings the gradient of the records from lo on to where it belongs.
func (wa *walk[T]) write(lo int, grad []float64) {
	words, layout := wa.words[lo:][:len(grad)], wa.Layout // in locals, which stay in registers
	switch {
	case wa.results != nil:
		results := wa.results[lo:][:len(grad)]
		for i, r := range words {
			results[i] = result(layout.Index(r), T(grad[i]))
		}
	case wa.grad != nil:
		to := wa.grad
		for i, r := range words {
			to[layout.Index(r)] = T(grad[i])
		}
	}
}
