package constraint

import (
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
)

// Steering says how strongly a constraint pushes, and holds what it remembers.
type Steering struct {
	// RelativeStrength is a fixed strength: the push is this times the residual. 0: the push is 4 times the residual plus the
	// sum of earlier ones, which finds the strength.
	RelativeStrength float64
	// Tolerance is a number of background events. While a test with so many sees no dependence, push and sum shrink. 0: none.
	Tolerance float64
	// State is what is remembered of earlier batches, StateSize numbers, all 0 before the first. Direction brings it up to date;
	// after an error it is as before. Nil: nothing is remembered.
	State []float64
	// Batch is the number of events that are pushed. The events after it are reference events. 0: all are pushed.
	Batch int
	// Logits says that the scores of the events are logits. The push is with respect to them, and their order alone matters for it.
	Logits bool
	// TrainingEvents is the number of background events of the whole training, of all labels and processes. The multiplier learns
	// no fluctuations of so few. 0: unknown.
	TrainingEvents float64
	// Categories is the number of values of Events.Category, 0 to Categories-1. Each has a push and a memory of its own. A
	// category with too few events in a batch for bins gets no push from it, and its memory stays. 0: events have no category.
	Categories int
}

// Pushed is what Direction returns beside the push.
type Pushed struct {
	loss.Result // the loss, without its bias; NaN if the bias cannot be known
	// Size is what the push is to be multiplied with, over the norm of the gradient of the events that are moved: the standard
	// deviation of the logits of background events, at most 1, over the square root of the number of events that are moved.
	Size float64
}

// check returns an error for the first number that is out of its range, for events with so many background labels.
func (st *Steering) check(labels int) error {
	switch {
	case StateSize(labels, st.Categories) == 0:
		return errs.Of(errs.ErrOption, "categories = %d: must be from 0 to what an array has room for", st.Categories)
	case !(st.RelativeStrength >= 0) || !events.IsFinite(st.RelativeStrength):
		return errs.Of(errs.ErrOption, "relative_strength = %v: must be finite and at least 0", st.RelativeStrength)
	case !(st.Tolerance >= 0) || !events.IsFinite(st.Tolerance):
		return errs.Of(errs.ErrOption, "tolerance = %v: must be finite and at least 0", st.Tolerance)
	case st.Tolerance > 0 && st.RelativeStrength > 0:
		return errs.Of(errs.ErrOption, "relative_strength = %v and tolerance = %v: a fixed strength ignores the tolerance",
			st.RelativeStrength, st.Tolerance)
	case st.Tolerance > 0 && st.State == nil:
		return errs.Of(errs.ErrOption, "tolerance = %v, but there is no state, which it follows", st.Tolerance)
	case !(st.TrainingEvents >= 0) || !events.IsFinite(st.TrainingEvents):
		return errs.Of(errs.ErrOption, "training_events = %v: must be finite and at least 0", st.TrainingEvents)
	case st.State != nil:
		return CheckState(st.State, labels, st.Categories)
	}
	return nil
}
