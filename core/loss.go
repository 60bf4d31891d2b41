package core

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
)

// Result is a loss, its bias and the number of events, see Evaluate.
type Result = loss.Result

// Loss returns the loss of the events.
func Loss[T Float](ev Events[T], cfg Config) (float64, error) {
	return LossAndGrad(nil, ev, cfg)
}

// LossAndGrad returns the loss of the events and sets grad to its derivatives with respect to the scores. grad has an
// element for each event, 0 for events that take no part. If grad is nil, only the loss is computed. After an error the
// contents of grad mean nothing.
func LossAndGrad[T Float](grad []T, ev Events[T], cfg Config) (float64, error) {
	result, err := Unprepared(ev).evaluate(events.Derivatives[T]{grad}, cfg, kind{})
	return result.Loss, err
}

// Evaluate is LossAndGrad that also returns the bias and the number of events, which takes up to a sixth longer.
func Evaluate[T Float](grad []T, ev Events[T], cfg Config) (Result, error) {
	return Unprepared(ev).evaluate(events.Derivatives[T]{grad}, cfg, kind{measured: true})
}

// defaultSmoothing is about the distance by which a boosted tree moves events.
const defaultSmoothing = 1.0 / 16

// Curvature is Evaluate that also sets hess, which has an element for each event, to a diagonal bound of the curvature of the
// loss, h_i >= 0, in units of the loss per score^2. Between the scores at which two events meet the loss is linear, so only
// these meetings have curvature:
//
//	v'Hv = -2 scale sum_{i<j} e_i e_j M_{b_i b_j} delta(s_i - s_j) (v_i - v_j)^2 <= sum_i h_i v_i^2
//	h_i  = 4 scale |e_i| sum_b [max(0, -sign(e_i) M_{b_i b}) f+_b(s_i) + max(0, sign(e_i) M_{b_i b}) f-_b(s_i)]
//
// Here e_i = w_i/W_b and J = F'MF. f+_b and f-_b are the densities, at a score, of the |e_i| of the events
// of bin b with positive and with negative weights. Densities are means over a
// window around s_i. Its width is smoothing times the width of ScoreRange or, if that is unbounded, of the range of the
// inner three quarters of the scores. So h bounds moves of about that size. smoothing is finite and above 0, or 0 for the
// default, 1/16.
// Events of a strip of scores have the density at its middle. There are 64 strips of about equal weights, or one for every 4 events a
// bin if these are fewer, and more where scores are far from each other. If all scores are equal and ScoreRange is unbounded, h is
// 0. Events that take no part get 0.
//
// Biased, MaxSlope and Monotonic do not change h: it is the bound for the loss without bounds and with its bias. The call takes
// O(strips bins^2) more time.
func Curvature[T Float](grad, hess []T, smoothing float64, ev Events[T], cfg Config) (Result, error) {
	return Unprepared(ev).evaluate(events.Derivatives[T]{grad, hess}, cfg, kind{measured: true, smoothing: cmp.Or(smoothing, defaultSmoothing)})
}

// Flatness returns the loss of J. Stevens and M. Williams, arXiv:1305.7248, in the form of section 2.1 of arXiv:2010.09745,
//
//	loss = sum_b share_b integral (F_b(s) - F(s))^2 ds,   F = sum_b share_b F_b
//
// over ScoreRange, where share_b is the share of bin b in the sum of weights. It sets grad as LossAndGrad does. Options that are
// about moments, bounds or the bias must be at their defaults.
func Flatness[T Float](grad []T, ev Events[T], cfg Config) (float64, error) {
	result, err := Unprepared(ev).evaluate(events.Derivatives[T]{grad}, cfg, kind{flat: true})
	return result.Loss, err
}

// kind is a kind of evaluation.
type kind struct {
	flat, measured bool
	smoothing      float64 // of the bound of the curvature
}

// Prepared is events for several evaluations, in bins and in order of score. Several goroutines may use it.
type Prepared[T Float] struct {
	ev     Events[T]
	batch  *loss.Batch[T] // nil: each evaluation prepares the events
	binned []string       // the options of the bins, as prepared, by their place in the table
	sc     *par.Scratch   // the memory of the batch
	freed  bool
}

// Unprepared returns events that each evaluation prepares anew, as the functions of the same names do.
func Unprepared[T Float](ev Events[T]) *Prepared[T] { return &Prepared[T]{ev: ev} }

// Prepare makes evaluations with other moments faster, about twice: they neither bin nor sort the events again. The arrays of the events
// must not change meanwhile.
func Prepare[T Float](ev Events[T], cfg Config) (*Prepared[T], error) {
	cfg.BackgroundLabel = slices.Clone(cfg.BackgroundLabel)
	p, err := loss.PlanOf(cfg, &ev)
	if err != nil {
		return nil, err
	}
	sc := par.Take()
	defer sc.Team.Dismiss()
	batch, err := loss.NewBatch(ev, p, sc)
	if err == nil {
		err = batch.Prepare(sc)
	}
	binned := make([]string, len(options))
	for k := range options {
		if o := &options[k]; o.Flatness {
			binned[k] = fmt.Sprint(o.shown(&cfg))
		}
	}
	return &Prepared[T]{ev: ev, batch: batch, binned: binned, sc: sc}, err
}

// Free gives the memory of prepared events to later calls, which saves time, but is not needed: without it the garbage collector takes
// the memory. Evaluations must have ended, and later ones are errors.
func (pr *Prepared[T]) Free() {
	if pr.batch != nil {
		pr.sc.Give()
	}
	*pr = Prepared[T]{freed: true}
}

// LossAndGrad is the function LossAndGrad for the prepared events. Options that Flatness takes must be as prepared.
func (pr *Prepared[T]) LossAndGrad(grad []T, cfg Config) (float64, error) {
	result, err := pr.evaluate(events.Derivatives[T]{grad}, cfg, kind{})
	return result.Loss, err
}

// Evaluate is the function Evaluate for the prepared events.
func (pr *Prepared[T]) Evaluate(grad []T, cfg Config) (Result, error) {
	return pr.evaluate(events.Derivatives[T]{grad}, cfg, kind{measured: true})
}

// Curvature is the function Curvature for the prepared events.
func (pr *Prepared[T]) Curvature(grad, hess []T, smoothing float64, cfg Config) (Result, error) {
	return pr.evaluate(events.Derivatives[T]{grad, hess}, cfg, kind{measured: true, smoothing: cmp.Or(smoothing, defaultSmoothing)})
}

// evaluate checks the arguments of an evaluation, and computes its loss.
func (pr *Prepared[T]) evaluate(out events.Derivatives[T], cfg Config, how kind) (Result, error) {
	switch {
	case pr.freed:
		return Result{}, errs.Of(ErrLength, "the prepared events were freed")
	case !(how.smoothing >= 0) || !events.IsFinite(how.smoothing):
		return Result{}, errs.Of(ErrOption, "smoothing = %v: must be finite and above 0, or 0 for the default", how.smoothing)
	}
	p, err := loss.PlanOf(cfg, &pr.ev, events.ArrayOf("grad", out[events.Grad]), events.ArrayOf("hess", out[events.Hess]))
	if err != nil {
		return Result{}, err
	}
	if err := out.CheckLengths(len(pr.ev.Score)); err != nil {
		return Result{}, err
	}
	for k := range options {
		switch o := &options[k]; {
		case how.flat && !o.Flatness && !o.isDefault(&cfg):
			return Result{}, errs.OfOption(o.Name, o.shown(&cfg), "has no meaning for the flatness loss: leave it at its default")
		case pr.batch != nil && o.Flatness && fmt.Sprint(o.shown(&cfg)) != pr.binned[k]:
			return Result{}, errs.OfOption(o.Name, o.shown(&cfg), "was %s when the events were prepared: prepare them again", pr.binned[k])
		}
	}
	p.Smoothing, p.Flat = how.smoothing, how.flat
	if how.flat {
		p.Biased = true // there is no bias to subtract
	}
	sc, batch := par.Take(), pr.batch
	defer sc.Give()
	if batch == nil {
		if batch, err = loss.NewBatch(pr.ev, p, sc); err != nil {
			return Result{}, err
		}
	}
	return batch.Evaluate(out, p, how.measured, sc)
}
