// Package walk crosses sorted events one after the other, and follows how J changes. The integral of J is the loss, and the
// change at an event is minus its derivative.
package walk

import (
	"math"

	"github.com/libmode/libmode/core/internal/config"
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/order"
	"github.com/libmode/libmode/core/internal/par"
)

// Result is a loss with the numbers that say whether it is significant. A test with N events sees no difference from a flat
// response if the unbiased loss of n events is at most Bias n/N.
type Result struct {
	Loss float64 // as LossAndGrad returns it
	// Bias is the mean difference between the plain loss of these events and the loss of an infinite sample.
	// The loss has no bias unless Config.Biased is set; Bias is here either way. It is NaN if it cannot be known, because a bin has
	// fewer than 1.05 effective events: without Biased that is an error.
	Bias float64
	// Events is the effective number of events, (sum w)^2 / sum w^2, that take part: the sum over labels and
	// categories, and the mean over several variables one by one.
	Events float64
}

// Add adds a result, times a factor, with a share of its events.
func (r *Result) Add(other Result, factor, share float64) {
	r.Loss += factor * other.Loss
	r.Bias += factor * other.Bias
	r.Events += share * other.Events
}

// walk is one pass over the sorted records. J is constant between neighboring scores, so that its integral is a finite sum.
type walk[T events.Float] struct {
	*order.Records
	in     *Integrand
	limits limits
	grad   []T // of the input's length; nil: not wanted

	integrals []sums  // over each chunk
	top       sums    // above the highest score
	topFrom   int     // the first event of the highest score, if the integral ends there; otherwise after the last event
	topShare  float64 // the part of J that each of these events gains, because the integral ends with them
}

// sums are J and the bias, or integrals of both.
type sums struct{ j, bias float64 }

// Integrate returns the loss of sorted records, and sets the derivatives that are wanted. The bias is wanted too, whether or not it
// is subtracted, if it is measured. Smoothing is that of the bound of the curvature. If the scores are logits, the integral is over their
// probabilities.
func Integrate[T events.Float](out events.Derivatives[T], stats *events.Stats, in *Integrand, rs *order.Records, c *config.Config, logits, measured bool, smoothing float64, sc *par.Scratch) (Result, error) {
	limits := limitsOf(c.ScoreRange, stats)
	if logits {
		limits.to, limits.from, limits.open, limits.logits = 1, 0, false, true
	}
	along := func(of []T) *walk[T] { return &walk[T]{Records: rs, in: in, limits: limits, grad: of} }
	var curved *curvature[T]
	if out.Hess() != nil {
		var err error
		if curved, err = newCurvature(along(out.Hess()), smoothing, sc); err != nil {
			return Result{}, err
		}
	}
	wa := along(out.Grad())
	wa.begin(sc)
	sc.Team.Run(len(wa.Chunks)-1, func(k int) {
		if wa.Chunks[k] == wa.Chunks[k+1] {
			return
		}
		if curved != nil {
			curved.walkChunk(k)
		}
		wa.integrals[k].j, wa.integrals[k].bias = wa.walkChunk(k)
	})
	integral := wa.integral()
	found := Result{Loss: in.scale * integral.j}
	if measured {
		found.Events, found.Bias = rs.Effective(), math.NaN()
	}
	if in.measured {
		found.Bias = in.scale * integral.bias
	}
	if !events.IsFinite(found.Loss) || in.measured && !events.IsFinite(found.Bias) {
		return Result{}, errs.Of(errs.ErrOverflow, "the loss overflows double precision: scores, or weights relative to their sum in a bin, are too large")
	}
	return found, nil
}

// begin finds J above the highest score. If the integral ends at that score, its events move the end: begin finds the part of
// J that each event gains. An event of a tie moves the end only upwards, so it gains half.
func (wa *walk[T]) begin(sc *par.Scratch) {
	chunks, last := len(wa.Chunks)-1, len(wa.Words)-1
	wa.integrals = par.Make[sums](&sc.Arena, chunks)
	wa.top.j, wa.top.bias = (&crossing{arena: &sc.Arena}).start(wa.in, wa.Records, chunks, chunks)
	wa.topFrom = len(wa.Words)
	if wa.limits.open {
		wa.topFrom, _ = wa.TieAt(last, 0, last+1)
		wa.topShare = wa.top.j
		if wa.topFrom < last {
			wa.topShare /= 2
		}
	}
}

// integral returns the integrals of J and of the bias.
func (wa *walk[T]) integral() (total sums) {
	above := wa.limits.to - wa.place(len(wa.Words)-1)
	total = sums{wa.top.j * above, wa.top.bias * above}
	for _, of := range wa.integrals {
		total.j += of.j
		total.bias += of.bias
	}
	return total
}

// walkChunk crosses the events of chunk k and writes their derivatives. It returns the integrals of J and the bias from the score
// before the chunk to its last one.
func (wa *walk[T]) walkChunk(k int) (j, bias float64) {
	room := par.Room()
	defer room.Give()
	cr := &crossing{arena: &room.Arena}
	lo, hi, before := wa.Chunks[k], wa.Chunks[k+1], wa.limits.from
	if lo > 0 {
		before = wa.place(lo - 1)
	}
	if hi-lo > blockSize && wa.Tied(lo, hi-1) {
		return wa.walkTie(cr, k, before)
	}
	end := wa.place(hi - 1)
	j, bias = cr.start(wa.in, wa.Records, k, k)
	j, bias = j*(end-before), bias*(end-before)
	for lo < hi {
		next := wa.EndOfBlock(lo, hi, blockSize)
		wa.load(cr, lo, next)
		ofJ, ofBias := cr.cross(end)
		j, bias = j+ofJ, bias+ofBias
		wa.writeGradient(cr, lo)
		lo = next
	}
	return j, bias
}

// walkTie is walkChunk for a chunk of one score, which other chunks may share. The state in the middle of the tie is the mean
// of the states on both sides of the score.
func (wa *walk[T]) walkTie(cr *crossing, k int, before float64) (j, bias float64) {
	from, to := wa.ChunksOfTie(k)
	lo, hi := wa.Chunks[k], wa.Chunks[k+1]
	j, bias = cr.start(wa.in, wa.Records, from, from)
	j, bias = j*(wa.place(lo)-before), bias*(wa.place(lo)-before)
	if wa.grad == nil {
		return j, bias
	}
	cr.start(wa.in, wa.Records, from, to)
	for ; lo < hi; lo += len(cr.d) {
		wa.load(cr, lo, min(lo+blockSize, hi))
		cr.crossTie()
		wa.writeGradient(cr, lo)
	}
	return j, bias
}

// load makes the events lo..hi-1 the block to be crossed.
func (wa *walk[T]) load(cr *crossing, lo, hi int) {
	var weights []float64
	if wa.Weights != nil {
		weights = wa.Weights[lo:hi]
	}
	cr.load(hi-lo, weights)
	wa.Decode(lo, hi, cr.scores, cr.bins)
	cr.places = cr.scores
	if wa.limits.logits {
		cr.places = par.Unset[float64](cr.arena, hi-lo)
		for i, z := range cr.scores {
			cr.places[i] = probability(z)
		}
	}
}

// place returns where the integral has record i.
func (wa *walk[T]) place(i int) float64 {
	if wa.limits.logits {
		return probability(wa.Score(i))
	}
	return wa.Score(i)
}

// probability returns the probability of a logit.
func probability(logit float64) float64 { return 1 / (1 + math.Exp(-logit)) }

// writeGradient writes the derivatives of the block of events from lo on.
func (wa *walk[T]) writeGradient(cr *crossing, lo int) {
	if wa.grad == nil {
		return
	}
	for i := max(lo, wa.topFrom); i < lo+len(cr.d); i++ {
		cr.d[i-lo] -= wa.topShare
	}
	wa.write(lo, cr.d, -wa.in.scale)
}

// write writes numbers of the records from lo on, times a scale, to where these stand in the input.
func (wa *walk[T]) write(lo int, of []float64, scale float64) {
	to, mask := wa.grad, wa.IndexMask // in locals, which stay in registers
	for i, r := range wa.Words[lo:][:len(of)] {
		to[r&mask] = T(scale * of[i])
	}
}
