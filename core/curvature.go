package core

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/walk"
)

// DefaultSmoothing is that of LossGradHess for boosted trees: a tree moves events by about as much.
const DefaultSmoothing = 1.0 / 16

// LossGradHess is LossAndGrad that sets hess, of the length of ev.Score, to a diagonal bound of the loss's curvature
// too, h_i >= 0 in units of the loss per score^2; grad, hess or both may be nil. Between the scores at which two events meet
// the loss is linear, and its curvature is that of these meetings:
//
//	v'Hv = -2 scale sum_{i<j} e_i e_j M_{b_i b_j} delta(s_i - s_j) (v_i - v_j)^2 <= sum_i h_i v_i^2
//	h_i  = 4 scale |e_i| sum_b [max(0, -sign(e_i) M_{b_i b}) f+_b(s_i) + max(0, sign(e_i) M_{b_i b}) f-_b(s_i)]
//
// with e_i = w_i/W_b, J = F'MF (package walk), and the densities f+_b, f-_b at a score of the |e_i| of the events of bin b with
// positive and with negative weights; docs/how-it-works.md derives it. Densities are means over a window of smoothing
// times the width of ScoreRange around s_i, where that is unbounded times the range of the inner three quarters of the scores,
// and are told no finer than by 64 strips of equally many events. So h bounds moves of about that size; where all scores
// are equal and ScoreRange is unbounded it is 0. Events that take no part get 0.
//
// Unbiased, whose bias takes from the pairs of a bin what is O(1/n_b) of their curvature, and MaxSlope and Monotonic,
// for which there is no such bound, do not change h: it is that of the loss without them. DisCo and Flatness
// have none, and smoothing must be finite and above 0: errors that wrap ErrOption. It takes O(strips bins^2) more time.
func LossGradHess[T Float](grad, hess []T, ev Events[T], cfg Config, smoothing float64) (float64, error) {
	if err := cfg.Validate(); err != nil {
		return 0, err
	}
	switch {
	case cfg.Loss != MoDe:
		return 0, errs.OfOption("loss", lossNames[cfg.Loss], "has no bound on its curvature: it is of loss = %s alone", lossNames[MoDe])
	case !(smoothing > 0) || math.IsInf(smoothing, 1):
		return 0, errs.Of(ErrOption, "smoothing = %v: must be finite and above 0", smoothing)
	}
	found, err := evaluate(events.Derivatives[T]{grad, hess}, ev, cfg, func(o *walk.Options) { o.Smoothing = smoothing })
	return found.Loss, err
}
