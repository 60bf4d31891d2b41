package core

import (
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/walk"
)

// Loss returns the loss of the events.
func Loss[T Float](ev Events[T], cfg Config) (float64, error) {
	return LossAndGrad(nil, ev, cfg)
}

// LossAndGrad returns the loss of the events and sets grad, of the length of
// ev.Score, to its derivatives with respect to the scores. Events that take
// no part get 0. With grad nil only the loss is computed. After an error the
// contents of grad mean nothing.
func LossAndGrad[T Float](grad []T, ev Events[T], cfg Config) (float64, error) {
	found, err := evaluate(events.Derivatives[T]{grad}, ev, cfg, func(*walk.Options) {})
	return found.Loss, err
}

// Result is a loss and what says whether it is significant, see Evaluate.
type Result = walk.Result

// Evaluate is LossAndGrad that returns the bias and the number of events too. It takes a third longer. DisCo and flatness
// have no such bias: an error.
func Evaluate[T Float](grad []T, ev Events[T], cfg Config) (Result, error) {
	if err := cfg.Validate(); err != nil {
		return Result{}, err
	}
	if cfg.Loss != MoDe {
		return Result{}, errs.OfOption("loss", lossNames[cfg.Loss], "has no bias that can be told: it is of loss = %s alone", lossNames[MoDe])
	}
	return evaluate(events.Derivatives[T]{grad}, ev, cfg, func(o *walk.Options) { o.Measured = true })
}

// evaluate returns the loss of a plan that change has completed.
func evaluate[T Float](out events.Derivatives[T], ev Events[T], cfg Config, change func(*walk.Options)) (Result, error) {
	if err := cfg.Validate(); err != nil {
		return Result{}, err
	}
	if err := ev.CheckLengths(); err != nil {
		return Result{}, err
	}
	if err := out.CheckLengths(len(ev.Score)); err != nil {
		return Result{}, err
	}
	p, err := planFor[T](cfg, len(ev.Variables()))
	if err != nil {
		return Result{}, err
	}
	change(&p.Walk)
	sc := par.Take()
	defer sc.Give()
	switch out := any(out).(type) {
	case events.Derivatives[float32]:
		return single(out, any(ev).(Events[float32]), p, sc)
	default:
		return double(any(out).(events.Derivatives[float64]), any(ev).(Events[float64]), p, sc)
	}
}

// The losses of either type, which tests call with vector instructions and without.
var (
	single = loss.Evaluate[float32]
	double = loss.Evaluate[float64]
)
