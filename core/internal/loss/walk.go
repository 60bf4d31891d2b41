package loss

import (
	"math"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/sorted"
)

// walk is one pass over the sorted records. J is constant between neighboring scores, so that its integral is a finite sum.
type walk struct {
	*sorted.Records
	in       *integrand
	from, to float64 // the limits of the integral over the scores
	open     bool    // to is the highest score
	// write writes derivatives, over the scale of the loss, of the records from lo on; nil: not wanted.
	write func(lo int, derivatives []float64)

	topFrom  int     // the first event of the highest score, if the integral ends there; otherwise after the last event
	topShare float64 // the part of J that each of these events gains, because the integral ends with them
}

// integrate returns the loss of one variable, and sets the derivatives that are wanted.
func (pr *Prepared[T]) integrate(out events.Derivatives[T], measured bool, sc *par.Scratch) (result Result, err error) {
	defer sc.Arena.Release(sc.Arena.Mark())
	p, rs := pr.plan, pr.rs
	if err := bins.CheckSums(pr.Bins, rs.Totals(), pr.sel); err != nil {
		return result, err
	}
	in, err := newIntegrand(p, measured, pr.Basis, pr.Bins, rs, sc)
	if err != nil {
		return result, err
	}
	if pr.sel.N < len(pr.sel.Score) { // the walk writes no others
		out.Clear(sc)
	}
	limits := p.Masses[0].Score
	wa := &walk{Records: rs, in: in, from: limits[0], to: limits[1], write: pr.writer(out.Grad, -in.scale), topFrom: len(rs.Words)}
	switch {
	case p.ByOrder:
		wa.from, wa.to = pr.sel.ScoreSpan.Lo, pr.sel.ScoreSpan.Hi
	case math.IsInf(wa.from, -1):
		wa.from, wa.to, wa.open = pr.sel.ScoreSpan.Lo, pr.sel.ScoreSpan.Hi, true
	}
	var curved *curvature
	if out.Hess != nil {
		if curved, err = newCurvature(wa, pr.writer(out.Hess, in.scale), p.Smoothing, sc); err != nil {
			return result, err
		}
	}
	chunks, last := len(rs.Chunks)-1, len(rs.Words)-1
	top := (&crossing{walk: wa, arena: &sc.Arena}).start(rs.Row(rs.Sums, chunks), rs.Row(in.squares, chunks))
	if wa.open { // the events of the highest score move the end
		wa.topFrom, _ = wa.TieAt(last, 0, last+1)
		if wa.topShare = top.Loss; wa.topFrom < last {
			wa.topShare /= 2 // an event of a tie moves it only upwards
		}
	}
	integrals := par.Make[Result](&sc.Arena, chunks)
	sc.Run(chunks, func(k int) {
		if curved != nil {
			curved.walkChunk(k)
		}
		integrals[k] = wa.walkChunk(k)
	})
	if p.ByOrder {
		return result, nil
	}
	var total Result
	total.Add(top, wa.to-wa.Score(last), 0)
	for _, integral := range integrals {
		total.Add(integral, 1, 0)
	}
	result.Loss = in.scale * total.Loss
	if measured {
		result.Events, result.Bias = pr.sel.Effective(), math.NaN()
	}
	if in.measured {
		result.Bias = in.scale * total.Bias
	}
	if events.IsFinite(result.Loss) && events.IsFinite(total.Bias) {
		return result, nil
	}
	return Result{}, errs.Of(errs.ErrOverflow, "the loss overflows double precision: scores, or weights relative to their sum in a bin, are too large")
}

// walkChunk crosses the events of chunk k and writes their derivatives. It returns the integrals of J, as a loss, and of the bias from the
// score before the chunk to its last one.
func (wa *walk) walkChunk(k int) (total Result) {
	room := par.Room()
	defer room.Give()
	cr := &crossing{walk: wa, arena: &room.Arena}
	lo, hi, before := wa.Chunks[k], wa.Chunks[k+1], wa.from
	if lo > 0 {
		before = wa.Score(lo - 1)
	}
	end := wa.Score(hi - 1)
	total.Add(cr.start(wa.Row(wa.Sums, k), wa.Row(wa.in.squares, k)), end-before, 0)
	if from, to := wa.ChunksOfTie(k); to > from+1 { // a tie of several chunks: each crosses the middle of all
		cr.start(wa.middle(wa.Sums, from, to, k, cr.arena), wa.middle(wa.in.squares, from, to, k, cr.arena))
	}
	for next := 0; lo < hi; lo = next {
		next = wa.EndOfBlock(lo, hi, par.Block)
		total.Add(cr.cross(lo, next, end), 1, 0)
		if wa.write == nil {
			continue
		}
		for i := max(lo, wa.topFrom); i < next; i++ {
			cr.d[i-lo] -= wa.topShare
		}
		wa.write(lo, cr.d)
	}
	return total
}

// middle returns the sums before chunk k of the chunks from..to-1 of one tie, if half of the others comes before it.
func (wa *walk) middle(rows []float64, from, to, k int, arena *par.Arena) []float64 {
	if rows == nil {
		return nil
	}
	sums := par.Make[float64](arena, wa.in.bins)
	for i := range sums {
		chunk := wa.Row(rows, k+1)[i] - wa.Row(rows, k)[i]
		sums[i] = (wa.Row(rows, from)[i] + wa.Row(rows, to)[i] - chunk) / 2
	}
	return sums
}

// writer returns a function that writes numbers of the records from lo on, times a scale, to where these stand; nil for nil.
func (pr *Prepared[T]) writer(to []T, scale float64) func(lo int, numbers []float64) {
	switch {
	case to == nil:
		return nil
	case pr.Sorted:
		return func(lo int, numbers []float64) {
			for i, x := range numbers {
				to[lo+i] = T(scale * x)
			}
		}
	}
	words, mask := pr.rs.Words, pr.rs.IndexMask
	return func(lo int, numbers []float64) {
		to, mask := to, mask // in registers
		for i, r := range words[lo:][:len(numbers)] {
			to[r&mask] = T(scale * numbers[i])
		}
	}
}
