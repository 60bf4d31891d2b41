package core

import (
	"cmp"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"gonum.org/v1/gonum/floats"
)

// Strength makes a loss a multiple of the cross entropy, see Strengthen.
type Strength struct {
	Batch    int         // the first events, which the norms cover; 0: all
	Averages *[3]float64 // the number of batches, and the averages of both norms over 200 batches; zeros before the first
}

// leastDistance is the least 1 - s of an event: otherwise a single background event with a score near 1 would decide the norm.
const leastDistance = 0.01

// Strengthen multiplies grad, which LossAndGrad has set, by K |C|/|M|, returns this factor, and brings the averages up to date. K is
// Config.Strength. C is the gradient of the mean cross entropy of the batch by the scores of background, weight/(1 - score) over the
// number of events, where 1 - score counts as 0.01 at least. M is grad as if the batch were all events: times the number of selected
// events over their number in the batch. Both norms are averages.
func Strengthen[T Float](grad []T, ev Events[T], cfg Config, st Strength) (float64, error) {
	n := len(ev.Score)
	if len(grad) != n || st.Batch < 0 || st.Batch > n {
		return 0, errs.Of(errs.ErrLength, "grad has length %d, and batch = %d: score has length %d", len(grad), st.Batch, n)
	}
	switch {
	case cfg.Strength == NoStrength:
		return 0, errs.Of(ErrOption, "averages are given, and strength = none: give a strength too, or neither")
	case cfg.ScoreRange != [2]float64{0, 1}:
		return 0, errs.OfOption("score_range", errs.Range(cfg.ScoreRange), "cannot be combined with a strength, which is relative to the "+
			"cross entropy of scores from 0 to 1: leave the strength out, and multiply the loss by a number of your own")
	}
	if err := cmp.Or(cfg.Validate(), ev.CheckLengths()); err != nil {
		return 0, err
	}
	for k, x := range st.Averages {
		if !(x >= 0 && events.IsFinite(x)) {
			return 0, errs.Of(ErrOption, "averages[%d] = %v: must be finite and at least 0: averages are zeros before the first batch", k, x)
		}
	}
	batch := grad
	if st.Batch > 0 {
		batch = grad[:st.Batch]
	}
	selected, numbers := ev.Selected(cfg.BackgroundLabel, false), make([]float64, len(batch))
	for i, derivative := range batch {
		numbers[i] = float64(derivative)
	}
	gradient, inBatch := floats.Norm(numbers, 2), 0
	for inBatch < len(selected) && int(selected[inBatch]) < len(batch) {
		i := selected[inBatch]
		if numbers[inBatch] = 1 / max(1-float64(ev.Score[i]), leastDistance); ev.Weight != nil {
			numbers[inBatch] *= float64(ev.Weight[i])
		}
		inBatch++
	}
	entropy := floats.Norm(numbers[:inBatch], 2) / float64(max(len(batch), 1))
	gradient *= float64(len(selected)) / float64(max(inBatch, 1))
	if !events.IsFinite(entropy + gradient) {
		return 0, errs.Of(ErrOverflow, "gradients of norms %v and %v: must be finite", entropy, gradient)
	}
	batches := st.Averages[0] + 1
	after := [3]float64{batches, events.Average(st.Averages[1], entropy, batches), events.Average(st.Averages[2], gradient, batches)}
	scale := 0.0
	if after[2] > 0 {
		scale = cfg.Strength * after[1] / after[2]
	}
	if !events.IsFinite(scale) {
		return 0, errs.Of(ErrOverflow, "gradients of norms %v and %v: their ratio overflows", after[1], after[2])
	}
	*st.Averages = after
	for i, derivative := range grad {
		grad[i] = T(float64(derivative) * scale)
	}
	return scale, nil
}
