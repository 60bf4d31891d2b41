package constraint

import (
	"cmp"
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
)

// Steering has the arguments of a push beside events and options.
type Steering struct {
	// State is what is remembered of earlier batches, StateSize numbers, all 0 before the first. Nil: nothing is remembered.
	State []float64
	// Batch is the number of events that are pushed. The events after it are reference events. 0: all are pushed.
	Batch int
}

// The numbers of the law. The strength is 12, times (T/150,000)^(1/4) for T training events, and the floor 0.1 (150,000/T)^(1/2): few
// events teach less flatness, and planing leaves few effective events of them. Order 0, which forbids lines too, needs 24, and there the
// strength rises as 1 - exp(-x), where x is 1 after 512,000 background events or 1,000 batches, whichever is sooner: a network that
// knows nothing yet learns nothing from a push of 24 times its gradient. Nor does it from large batches, where less of u is noise: of n
// events, with reference events, a part in proportion to n^(-1/2). So the strength falls as n^(-1/2) from 512 events on, 1,024 above
// order 0. The exponential that keeps the means counts to the power tilt: with 1 a steep spectrum of order 1 is less flat. A monotonic
// response needs all of it, or some networks for a tail select both sides. studies/zoo has the study behind each number.
const (
	usual        = 150_000
	defaultFloor = 0.1
	warmEvents   = 512_000
	warmBatches  = 1_000 // for categories of few events
	tilt         = 0.6   // the power of the exponential
)

// ofOrder has the strength, and the background events of a batch from which on it falls, of order 0 and of others.
var ofOrder = [2]struct{ strength, batch float64 }{{24, 512}, {12, 1_024}}

// planOf returns the plan of a batch, and replaces what is not given by its default. It returns an error for options, a batch, categories or
// a state that do not match the events.
func planOf[T events.Float](cfg loss.Planner, ev *events.Events[T], st *Steering) (*loss.Plan, error) {
	p, err := loss.PlanOf(cfg, ev)
	if err != nil {
		return nil, err
	}
	n, labels, hasCategories := len(ev.Score), len(p.BackgroundLabel), ev.Category != nil
	switch {
	case st.Batch < 0 || st.Batch > n:
		return nil, errs.Of(errs.ErrLength, "batch = %d: must be 1 to the number of events, %d", st.Batch, n)
	case StateSize(labels, p.Categories) == 0:
		return nil, errs.Of(errs.ErrOption, "categories = %d: must be from 0 to what an array has room for", p.Categories)
	case hasCategories && p.Categories == 0:
		return nil, errs.Of(errs.ErrOption, "category is given, and categories = 0: set categories to the number of categories, "+
			"so that each has a push and a memory of its own")
	case !hasCategories && p.Categories > 0:
		return nil, errs.Of(errs.ErrOption, "categories = %d, and no category is given: each event needs one", p.Categories)
	case p.FromLogits && p.ScoreRange != [2]float64{0, 1}:
		return nil, errs.Of(errs.ErrOption, "score_range = %s: leave it out with from_logits, whose scores are from 0 to 1", errs.Range(p.ScoreRange))
	}
	if st.State != nil {
		if err := CheckState(st.State, labels, p.Categories); err != nil {
			return nil, err
		}
	}
	if st.Batch == 0 {
		st.Batch = n
	}
	if p.Floor == 0 {
		p.Floor = min(1, defaultFloor*math.Sqrt(usual/cmp.Or(p.TrainingEvents, usual)))
	}
	if p.FromLogits {
		p.ScoreRange = [2]float64{math.Inf(-1), math.Inf(1)}
	}
	if width := p.ScoreRange[1] - p.ScoreRange[0]; !math.IsInf(width, 1) && (math.IsInf(float64(T(width/4)), 1) || math.IsInf(float64(T(1/width)), 1)) {
		return nil, errs.Of(errs.ErrOverflow, "score_range = %s is so wide or narrow that derivatives by logits overflow", errs.Range(p.ScoreRange))
	}
	for v := range p.Masses {
		p.Masses[v].Score = p.ScoreRange
	}
	p.ByOrder = true
	return p, nil
}

// strength returns K for n background events.
func strength(p *loss.Plan, n int) float64 {
	if p.Strength >= 0 {
		return p.Strength
	}
	of := ofOrder[min(p.Order, 1)]
	return of.strength * math.Pow(cmp.Or(p.TrainingEvents, usual)/usual, 0.25) * math.Sqrt(min(1, of.batch/float64(n)))
}

// checkCategories returns an error for the first event of a category below 0 or too large.
func checkCategories(subs []events.Subset, categories int) error {
	for _, su := range subs {
		if su.Category < 0 || su.Category >= int64(max(categories, 1)) {
			return errs.At(errs.ErrOption, "category", su.Place(0), " = %d: must be from 0 to %d, less than categories", su.Category, categories-1)
		}
	}
	return nil
}
