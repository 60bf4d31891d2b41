package core

import (
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
// element for each event, 0 for events that take no part, and shares no memory with an argument. If grad is nil, only the loss is
// computed. After an error the contents of grad mean nothing.
func LossAndGrad[T Float](grad []T, ev Events[T], cfg Config) (float64, error) {
	result, err := evaluate(events.Derivatives[T]{Grad: grad}, ev, cfg, false, 0)
	return result.Loss, err
}

// Evaluate is LossAndGrad that also returns the bias and the number of events. It takes up to a sixth longer.
func Evaluate[T Float](grad []T, ev Events[T], cfg Config) (Result, error) {
	return evaluate(events.Derivatives[T]{Grad: grad}, ev, cfg, true, 0)
}

// evaluate checks the arguments of an evaluation, and computes its loss.
func evaluate[T Float](out events.Derivatives[T], ev Events[T], cfg Config, measured bool, smoothing float64) (Result, error) {
	if !(smoothing >= 0) || !events.IsFinite(smoothing) {
		return Result{}, errs.Of(ErrOption, "smoothing = %v: must be finite and above 0, or 0 for the default", smoothing)
	}
	p, err := loss.PlanOf(cfg, &ev)
	if err != nil {
		return Result{}, err
	}
	if err := out.CheckLengths(len(ev.Score)); err != nil {
		return Result{}, err
	}
	p.Smoothing = smoothing
	sc := par.Take()
	defer sc.Give()
	return loss.Evaluate(out, ev, p, measured, sc)
}
