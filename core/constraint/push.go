package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
)

// Rows are what the law does to the gradient of each pushed event.
type Rows[T events.Float] struct {
	Push       []T // K u/|u| by the score; 0 for events that take no part
	Multiplier []T // start; 1 for events that take no part
	Slope      []T // the derivative of the score by its logit: 1 for logits; 0 for events that take no part
	Part       []T // the place of the event's label and category in the state
}

// check returns an error if a row has not n elements.
func (rows *Rows[T]) check(n int) error {
	for k, row := range [...][]T{rows.Push, rows.Multiplier, rows.Slope, rows.Part} {
		if len(row) != n {
			return errs.Of(errs.ErrLength, "%s has length %d, but the batch has %d events", [...]string{"push", "multiplier", "slope", "part"}[k], len(row), n)
		}
	}
	return nil
}

// call has the checked arguments of Direction.
type call[T events.Float] struct {
	Steering
	events.Events[T]
	plan   *loss.Plan
	limits [][2]float64 // of each variable of mass
	// known is the state with what the batch teaches, and lesson the part of the batch.
	known, lesson state
}

func newCall[T events.Float](ev events.Events[T], cfg loss.Planner, st Steering) (*call[T], error) {
	p, err := loss.PlanOf(cfg, &ev)
	if err != nil {
		return nil, err
	}
	if err := st.settle(p, len(ev.Score), ev.Category != nil); err != nil {
		return nil, err
	}
	if p.FromLogits {
		if p.ScoreRange != [2]float64{0, 1} {
			return nil, errs.Of(errs.ErrOption, "score_range = %s: leave it out with from_logits, whose scores are from 0 to 1", errs.Range(p.ScoreRange))
		}
		p.ScoreRange = [2]float64{math.Inf(-1), math.Inf(1)}
	}
	if width := p.ScoreRange[1] - p.ScoreRange[0]; !math.IsInf(width, 1) && (math.IsInf(float64(T(width/4)), 1) || math.IsInf(float64(T(1/width)), 1)) {
		return nil, errs.Of(errs.ErrOverflow, "score_range = %s is so wide or narrow that derivatives by logits overflow", errs.Range(p.ScoreRange))
	}
	size := StateSize(len(p.BackgroundLabel), p.Categories)
	ca := &call[T]{Steering: st, Events: ev, plan: p, known: stateOf(make([]float64, size)), lesson: stateOf(make([]float64, size))}
	copy(ca.known.numbers, st.State)
	for v := range p.Masses {
		p.Masses[v].Score = p.ScoreRange
		ca.limits = append(ca.limits, p.Masses[v].Mass)
	}
	p.ByOrder = true
	*ca.lesson.totals = totals{Version, 1, float64(len(p.Masses)), float64(p.Categories)}
	return ca, ca.known.checkMasses(ca.lesson)
}

// Direction sets the rows of a batch, and the lesson to what the batch teaches: as many numbers as a state has. It changes no state. The
// gradient G_i of another loss by the score of event i is to become
//
//	Multiplier_i G_i + |G| Push_i,
//
// where |G| is the average norm of Multiplier G Slope over the events of one part. Apply does so, and takes the lesson into the state.
func Direction[T events.Float](rows Rows[T], lesson []float64, ev events.Events[T], cfg loss.Planner, st Steering) error {
	ca, err := newCall(ev, cfg, st)
	if err != nil {
		return err
	}
	if err := rows.check(ca.Batch); err != nil {
		return err
	}
	if size := len(ca.lesson.numbers); len(lesson) != size {
		return errs.Of(errs.ErrLength, "lesson has length %d, and must have the %d of a state", len(lesson), size)
	}
	sc := par.Take()
	defer sc.Give()
	sc.Expect(len(ca.Score))
	subs, err := events.Divide(ca.Events, ca.plan.BackgroundLabel, sc)
	if err != nil {
		return err
	}
	if err := checkCategories(subs, ca.plan.Categories); err != nil {
		return err
	}
	all := make([]group[T], len(subs))
	for k := range subs {
		all[k].Subset = &subs[k]
		if err := all[k].leaveOut(ca.plan, sc); err != nil {
			return subs[k].Named(err)
		}
	}
	err = events.Each(subs, sc, func(k int, sc *par.Scratch) error { return all[k].setPush(ca.plan, sc) })
	if err != nil {
		return err
	}
	pushed := make([]bool, len(ca.plan.BackgroundLabel))
	for _, g := range all {
		pushed[g.Label] = pushed[g.Label] || g.push != nil
	}
	for _, g := range all { // categories may have too few events, unless all have
		if !pushed[g.Label] {
			return g.Named(g.few)
		}
	}
	ca.setSpectra(all, sc)
	if err := ca.set(rows, all); err != nil {
		return err
	}
	copy(lesson, ca.lesson.numbers)
	return nil
}

// part returns the number of a label and category in a state.
func (ca *call[T]) part(su *events.Subset[T]) int {
	return su.Label*max(ca.plan.Categories, 1) + int(su.Category)
}

// cells returns the cells of a part.
func (ca *call[T]) cells(p *part) *cells {
	return &cells{p, ca.limits, ca.plan.Joint, cellsOfMass[len(ca.limits)]}
}

// leastPlace is a distance to an end of score_range, per width: a score this near is not pushed, for its logit is far out.
const leastPlace = 1e-6

// set sets the rows and the rest of the lesson.
func (ca *call[T]) set(rows Rows[T], all []group[T]) error {
	moved, lo, width := 0, ca.plan.ScoreRange[0], ca.plan.ScoreRange[1]-ca.plan.ScoreRange[0]
	clear(rows.Push)
	clear(rows.Slope)
	clear(rows.Part)
	for i := range rows.Multiplier {
		rows.Multiplier[i] = 1
	}
	for _, g := range all {
		number, scale := ca.part(g.Subset), 0.0
		lesson, known := &ca.lesson.parts[number], &ca.known.parts[number]
		if lesson.push, lesson.seen = g.norm(ca.Batch); lesson.push > 0 {
			lesson.batches = 1
		}
		if !events.IsFinite(lesson.push) {
			return errs.Of(errs.ErrOverflow, "the push has the norm %v: slope_penalty, or weights relative to their sum in a bin, are too large", lesson.push)
		}
		if known.learn(lesson); lesson.push > 0 {
			scale = ca.plan.Strength / known.push
			if ca.State != nil && ca.plan.Order == 0 { // without a memory each batch would be the first
				scale *= -math.Expm1(-max(known.seen/warmEvents, known.batches/warmBatches))
			}
		}
		starts := ca.cells(known).starts(ca.plan.Order, ca.plan.Floor)
		for k, cell := range g.cell {
			i := g.Place(k)
			if i >= ca.Batch || cell == none {
				continue
			}
			moved++
			u, slope := 0.0, 1.0
			if scale > 0 {
				u = scale * g.push[k]
			}
			if !math.IsInf(width, 1) {
				place := (float64(g.Score[k]) - lo) / width
				slope = place * (1 - place) * width
				if u /= slope; place < leastPlace || place > 1-leastPlace {
					u = 0
				}
			}
			rows.Push[i], rows.Multiplier[i], rows.Slope[i], rows.Part[i] = T(u), T(starts[cell]), T(slope), T(number)
		}
	}
	if total := ca.plan.TrainingEvents; total > 0 && float64(moved) > total {
		return errs.Of(errs.ErrOption, "training_events = %v: this batch has %d background events, and the whole training cannot have fewer", total, moved)
	}
	if i := events.FirstNotFinite(rows.Push); i >= 0 {
		return errs.Of(errs.ErrOverflow, "push[%d] overflows its type: score_range = %s is so narrow that derivatives by scores are too large",
			i, errs.Range(ca.plan.ScoreRange))
	}
	return nil
}
