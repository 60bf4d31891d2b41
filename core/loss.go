package core

import (
	"cmp"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
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
	result, err := loss.Evaluate(events.Derivatives[T]{Grad: grad}, ev, cfg, false, 0)
	return result.Loss, err
}

// Evaluate is LossAndGrad that also returns the bias and the number of events. It takes up to a sixth longer.
func Evaluate[T Float](grad []T, ev Events[T], cfg Config) (Result, error) {
	return loss.Evaluate(events.Derivatives[T]{Grad: grad}, ev, cfg, true, 0)
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
// Here e_i = w_i/W_b and J = F'MF. f+_b and f-_b are the densities, at a score, of the |e_i| of the events of bin b with positive and
// with negative weights. Densities are means over a window around s_i. Its width is smoothing times the width of ScoreRange or, if that is
// unbounded, of the range of the inner three quarters of the scores. So h bounds moves of about that size. smoothing is finite and above
// 0, or 0 for the default, 1/16.
//
// Events of a strip of scores have the density at its middle. A strip has an eighth of the width of the window, and at least about 1/1024
// of the events, and as many as there are bins. If all scores are equal and ScoreRange is unbounded, h is 0. Events that take no part
// get 0.
//
// Biased, MaxSlope and Monotonic do not change h: it is the bound for the loss without bounds and with its bias. The call takes
// O(strips bins^2) more time.
func Curvature[T Float](grad, hess []T, smoothing float64, ev Events[T], cfg Config) (Result, error) {
	if !(smoothing >= 0) || !events.IsFinite(smoothing) {
		return Result{}, errs.Of(ErrOption, "smoothing = %v: must be finite and above 0, or 0 for the default", smoothing)
	}
	return loss.Evaluate(events.Derivatives[T]{Grad: grad, Hess: hess}, ev, cfg, true, cmp.Or(smoothing, defaultSmoothing))
}
