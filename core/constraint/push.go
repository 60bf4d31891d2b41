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

// arrays returns the memory of the rows, or an error for the first that has not n elements.
func (rows *Rows[T]) arrays(n int) ([]events.Array, error) {
	for _, row := range []struct {
		name   string
		length int
	}{{"push", len(rows.Push)}, {"multiplier", len(rows.Multiplier)}, {"slope", len(rows.Slope)}, {"part", len(rows.Part)}} {
		if row.length != n {
			return nil, errs.Of(errs.ErrLength, "%s has length %d, but the batch has %d events", row.name, row.length, n)
		}
	}
	return []events.Array{events.ArrayOf("push", rows.Push), events.ArrayOf("multiplier", rows.Multiplier),
		events.ArrayOf("slope", rows.Slope), events.ArrayOf("part", rows.Part)}, nil
}

// call has the arguments of Direction.
type call[T events.Float] struct {
	Steering
	events.Events[T]
	rows   Rows[T]
	plan   *loss.Plan
	limits [][2]float64 // of each variable of mass
	whole  bool         // the events are all there are, and not a batch
	// known is the state with what the batch teaches, and lesson the part of the batch.
	known, lesson state
}

// Direction sets the rows of a batch, and the lesson to what the batch teaches: as many numbers as a state has. It changes no state. The
// gradient G_i of another loss by the score of event i is to become
//
//	Multiplier_i G_i + |G| Push_i,
//
// where |G| is the average norm of Multiplier G Slope over the events of one part. Apply does so, and takes the lesson into the state.
func Direction[T events.Float](rows Rows[T], lesson []float64, ev events.Events[T], cfg loss.Planner, st Steering) error {
	batch := st.Batch
	if batch == 0 {
		batch = len(ev.Score)
	}
	outputs, err := rows.arrays(batch)
	if err != nil {
		return err
	}
	p, err := loss.PlanOf(cfg, &ev, append(outputs, events.ArrayOf("lesson", lesson), events.ArrayOf("state", st.State))...)
	if err != nil {
		return err
	}
	labels := len(p.BackgroundLabel)
	if err := st.settle(len(ev.Score), labels, ev.Category != nil); err != nil {
		return err
	}
	if size := StateSize(labels, st.Categories); len(lesson) != size {
		return errs.Of(errs.ErrLength, "lesson has length %d, and must have the %d of a state", len(lesson), size)
	}
	if st.Logits {
		if p.ScoreRange != [2]float64{0, 1} {
			return errs.Of(errs.ErrOption, "score_range = %s: leave it out for logits, whose scores are from 0 to 1", errs.Range(p.ScoreRange))
		}
		p.TakeLogits()
	}
	if width := p.ScoreRange[1] - p.ScoreRange[0]; !math.IsInf(width, 1) && (math.IsInf(float64(T(width/4)), 1) || math.IsInf(float64(T(1/width)), 1)) {
		return errs.Of(errs.ErrOverflow, "score_range = %s is so wide or narrow that derivatives by logits overflow", errs.Range(p.ScoreRange))
	}
	sc := par.Take()
	defer sc.Give()
	clear(lesson)
	known := par.Make[float64](&sc.Arena, len(lesson))
	copy(known, st.State)
	ca := &call[T]{Steering: st, Events: ev, rows: rows, plan: p, known: stateOf(known), lesson: stateOf(lesson)}
	for v := range p.Masses {
		ca.limits = append(ca.limits, p.Masses[v].Mass)
	}
	variables := float64(len(ca.limits))
	if m := ca.known.masses; m != 0 && m != variables {
		return errs.Of(errs.ErrLength, "state is of %v variables of mass, and these events have %v: give each its own state", m, variables)
	}
	*ca.lesson.totals = totals{Version, 1, variables, float64(st.Categories)}
	all, err := ca.groups(sc)
	if err != nil {
		return err
	}
	return ca.set(all)
}

// groups returns the events of each label and category, with their pushes and their spectra.
func (ca *call[T]) groups(sc *par.Scratch) (all []*group, err error) {
	sc.Team.Expect(len(ca.Score))
	di, err := events.Divide(ca.Events, ca.plan.BackgroundLabel, sc)
	if err != nil {
		return nil, err
	}
	if err := checkCategories(di, ca.Categories); err != nil {
		return nil, err
	}
	all = make([]*group, len(di.Subsets))
	few := make([]error, len(all)) // why a group has no push
	failures := di.Each(sc, false, func(k int, sc *par.Scratch) (err error) {
		ev, index := di.Subset(k)
		if all[k], err = newGroup(di.Subsets[k], ev, index, ca.plan, sc); err == nil {
			few[k], err = all[k].setPush(ca.plan, sc)
		}
		return err
	})
	for k, err := range failures {
		if err != nil {
			return nil, di.Named(k, ca.plan.BackgroundLabel, err)
		}
	}
	pushed := make([]bool, di.Labels)
	for _, g := range all {
		pushed[g.Label] = pushed[g.Label] || g.push != nil
	}
	for k, g := range all { // categories may have too few events, unless all have
		if !pushed[g.Label] {
			return nil, di.Named(k, ca.plan.BackgroundLabel, few[k])
		}
	}
	ca.setSpectra(all)
	return all, nil
}

// part returns the number of a label and category in a state.
func (ca *call[T]) part(label int, category int64) int {
	return label*max(ca.Categories, 1) + int(category)
}

// leastPlace is a distance to an end of score_range, per width: a score this near is not pushed, for its logit is far out.
const leastPlace = 1e-6

// set sets the rows and the rest of the lesson.
func (ca *call[T]) set(all []*group) error {
	rows, moved := ca.rows, 0
	clear(rows.Push)
	clear(rows.Slope)
	clear(rows.Part)
	for i := range rows.Multiplier {
		rows.Multiplier[i] = 1
	}
	lo, width := ca.plan.ScoreRange[0], ca.plan.ScoreRange[1]-ca.plan.ScoreRange[0]
	bounded := !math.IsInf(width, 1)
	for _, g := range all {
		number := ca.part(g.Label, g.Category)
		lesson, known, scale := &ca.lesson.parts[number], &ca.known.parts[number], 0.0
		lesson.push = g.norm(ca.Batch)
		if lesson.push > 0 {
			lesson.batches = 1
		}
		if known.learn(lesson); lesson.push > 0 {
			scale = ca.Strength / known.push
		}
		starts := known.cells(len(ca.limits)).starts(ca.plan.Order, ca.Floor)
		for k, i := range g.place {
			if int(i) >= ca.Batch {
				continue
			}
			moved++
			u, slope := 0.0, 1.0
			if scale > 0 {
				u = scale * g.push[k]
			}
			if bounded {
				place := (g.score[k] - lo) / width
				slope = place * (1 - place) * width
				if u /= slope; place < leastPlace || place > 1-leastPlace {
					u = 0
				}
			}
			rows.Push[i], rows.Multiplier[i], rows.Slope[i], rows.Part[i] = T(u), T(starts[g.cell[k]]), T(slope), T(number)
		}
	}
	if total := ca.TrainingEvents; total > 0 && float64(moved) > total {
		return errs.Of(errs.ErrOption, "training_events = %v: this batch has %d background events, and the whole training cannot have fewer", total, moved)
	}
	if i := events.FirstNotFinite(rows.Push); i >= 0 {
		return errs.Of(errs.ErrOverflow, "push[%d] overflows its type: score_range = %s is so narrow that derivatives by scores are too large",
			i, errs.Range(ca.plan.ScoreRange))
	}
	return nil
}
