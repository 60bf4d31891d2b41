// Package walk crosses sorted events one after the other, and follows how J changes: its integral is the loss, and what each
// event changes is minus its derivative.
package walk

import (
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/order"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// Result is a loss and what says whether it is significant. With n events, N of which a user wants to see nothing, the
// response is as flat as N events can tell where the unbiased loss, Loss or Loss - Bias, is at most Bias n/N.
type Result struct {
	Loss float64 // as LossAndGrad returns it
	// Bias is by how much the plain loss of these events exceeds, in the mean, that of an infinite sample: what
	// Config.Unbiased subtracts, whether or not it is set.
	Bias float64
	// Events is how many events of equal weights there are in effect, (sum w)^2 / sum w^2 of those that take part:
	// the sum over labels and categories, and the mean over several variables one by one.
	Events float64
}

// walk is one pass over the sorted records. Between neighbouring scores J is constant, so that its integral is a finite
// sum; where a score is crossed one F_b jumps, and by how much J then changes is minus the derivative of the loss.
type walk[T events.Float] struct {
	*order.Records
	in      *Integrand
	sums    *order.Sums
	limits  limits
	grad    []T      // of the input's length; nil: not wanted
	results []uint64 // see scatter.go

	integrals []float64 // of J over each chunk
	top       float64   // J above the highest score
	topFrom   int       // the first of the events of the highest score, if the integral ends there
	topShare  float64   // what their gradients gain from that
}

// memory is that of a walk.
type memory struct{ results []uint64 }

// Integrate returns the loss of sorted records, and sets the derivatives that are wanted.
func Integrate[T events.Float](out events.Derivatives[T], st *events.Stats, in *Integrand, rs *order.Records, su *order.Sums, o *Options, sc *par.Scratch) (Result, error) {
	along := func(grad []T, in *Integrand, su *order.Sums) *walk[T] {
		return par.New(&sc.Arena, walk[T]{Records: rs, in: in, sums: su, limits: limitsOf(o.Score, st), grad: grad})
	}
	wa := along(out.Grad(), in, su)
	var other *walk[T] // the same without the bias, or with it
	if o.Measured {
		plain, plainSums := in.plain(su, sc)
		if o.Moments.Unbiased {
			other = along(nil, plain, plainSums)
		} else {
			wa, other = along(out.Grad(), plain, plainSums), along(nil, in, su)
		}
		other.begin(sc)
	}
	var curved *curvature[T]
	if out.Hess() != nil {
		var err error
		if curved, err = newCurvature(along(out.Hess(), in, su), in.linear, o.Smoothing, sc); err != nil {
			return Result{}, err
		}
	}
	wa.begin(sc)
	sc.Team.Run(len(wa.Chunks)-1, func(k int) {
		if wa.Chunks[k] == wa.Chunks[k+1] {
			return
		}
		if other != nil {
			other.integrals[k] = other.walkChunk(k)
		}
		if curved != nil {
			curved.walkChunk(k)
		}
		wa.integrals[k] = wa.walkChunk(k)
	})
	integral := wa.integral()
	in.stretched.check(integral, in.bins, wa.limits, in.scale)
	found := Result{Loss: in.scale * integral}
	if other != nil {
		found.Events = rs.Effective()
		found.Bias = in.scale * (other.integral() - integral)
		if !o.Moments.Unbiased {
			found.Bias = -found.Bias
		}
	}
	if !events.IsFinite(found.Loss) || !events.IsFinite(found.Bias) {
		return Result{}, errs.Of(errs.ErrOverflow, "the loss is beyond double precision: scores, or weights relative to their sum in a bin, are too large")
	}
	if wa.results != nil {
		scatter(wa.grad, wa.results, wa.Words, sc.Team)
	}
	return found, nil
}

// begin finds what is above the highest score, and makes room.
func (wa *walk[T]) begin(sc *par.Scratch) {
	wa.integrals = par.Make[float64](&sc.Arena, len(wa.Chunks)-1)
	if scatters(wa) {
		kept := par.Kept[memory](sc)
		kept.results = par.Grown(kept.results, len(wa.Words))
		wa.results = kept.results
	}
	wa.top = wa.above(len(wa.integrals))
	wa.setUpperEnd(wa.top)
}

// integral returns that of J.
func (wa *walk[T]) integral() float64 {
	total := wa.top * (wa.limits.to - wa.Score(len(wa.Words)-1))
	for _, integral := range wa.integrals {
		total += integral
	}
	return total
}

// setUpperEnd finds what the gradient of the highest score gains from the end of the
// integral, where that is the highest score and J above it is j. Of tied events only
// one that moves up takes the end along, hence half of it.
func (wa *walk[T]) setUpperEnd(j float64) {
	wa.topFrom = len(wa.Words)
	if !wa.limits.open {
		return
	}
	top := len(wa.Words) - 1
	first, _ := wa.TieAt(top, 0, top+1)
	wa.topFrom, wa.topShare = first, wa.in.scale*j
	if first < top {
		wa.topShare /= 2
	}
}

// scoreBefore returns the score from which the integral over chunk k runs.
func (wa *walk[T]) scoreBefore(k int) float64 {
	if wa.Chunks[k] == 0 { // those before it, if there are any, are empty
		return wa.limits.from
	}
	return wa.Score(wa.Chunks[k] - 1)
}

// above returns J where chunk k begins, or at the end.
func (wa *walk[T]) above(k int) float64 {
	cr := crossings.Get().(*crossing)
	defer crossings.Put(cr)
	return cr.start(wa.in, wa.sums, k, k, wa.Weights != nil)
}

// walkChunk crosses the events of chunk k and writes their gradient. It returns the integral of J from the score before the
// chunk to its last.
func (wa *walk[T]) walkChunk(k int) float64 {
	cr := crossings.Get().(*crossing)
	defer crossings.Put(cr)
	lo, hi, scale := wa.Chunks[k], wa.Chunks[k+1], wa.in.scale
	if hi-lo > blockSize && wa.Tied(lo, hi-1) {
		return wa.walkTie(cr, k)
	}
	end := wa.Score(hi - 1)
	integral := cr.start(wa.in, wa.sums, k, k, wa.Weights != nil) * (end - wa.scoreBefore(k))
	for lo < hi {
		next := wa.EndOfBlock(lo, hi, blockSize)
		wa.load(cr, lo, next)
		cr.cross(end)
		integral += lanes.Finish(cr.d, cr.scores, end, -scale) + cr.jumps
		if wa.grad != nil {
			wa.finish(lo, cr.d)
		}
		lo = next
	}
	return integral
}

// walkTie is walkChunk for a chunk whose events all have one score, as those of other chunks may: the middle of the tie
// is that of the sums on both sides of the score.
func (wa *walk[T]) walkTie(cr *crossing, k int) float64 {
	from, to := wa.ChunksOfTie(k)
	lo, hi := wa.Chunks[k], wa.Chunks[k+1]
	integral := cr.start(wa.in, wa.sums, from, from, wa.Weights != nil) * (wa.Score(lo) - wa.scoreBefore(k))
	if wa.grad == nil {
		return integral
	}
	cr.start(wa.in, wa.sums, from, to, wa.Weights != nil)
	for ; lo < hi; lo += len(cr.d) {
		wa.load(cr, lo, min(lo+blockSize, hi))
		cr.crossTie()
		floats.Scale(-wa.in.scale, cr.d)
		wa.finish(lo, cr.d)
	}
	return integral
}

// load makes the events lo..hi-1 the block to be crossed.
func (wa *walk[T]) load(cr *crossing, lo, hi int) {
	var weights []float64
	if wa.Weights != nil {
		weights = wa.Weights[lo:hi]
	}
	scores, bins := cr.load(hi-lo, weights)
	wa.Decode(lo, hi, scores, bins)
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
	words, mask := wa.Words[lo:][:len(grad)], wa.IndexMask // in locals, which stay in registers
	switch {
	case wa.results != nil:
		results := wa.results[lo:][:len(grad)]
		for i, r := range words {
			results[i] = result(int(r&mask), T(grad[i]))
		}
	case wa.grad != nil:
		to := wa.grad
		for i, r := range words {
			to[r&mask] = T(grad[i])
		}
	}
}
