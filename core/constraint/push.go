package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

const (
	leastNorm  = 1e-12 // a smaller direction is rounding, as with order + 1 bins, where the fit is exact
	leastPlace = 1e-6  // a score this near to an end of score_range, per width, is not pushed: its logit is far out
)

// call has the arguments of Direction.
type call[T events.Float] struct {
	Steering
	events.Events[T]
	plan                    *loss.Plan
	limits                  [][2]float64 // of each variable of mass
	push, multiplier, slope []T
}

// bounded reports whether the scores have a range, which a logistic function of logits fills.
func (ca *call[T]) bounded() bool { return !ca.Logits && !math.IsInf(ca.plan.ScoreRange[0], -1) }

// steer sets push, multiplier and slope of events whose loss is given, and brings the state up to date. Events that take no part have
// the push 0, the multiplier 1 and the slope 0.
func (ca *call[T]) steer(all []collected[T], loss loss.Result) (Pushed, error) {
	clear(ca.push)
	clear(ca.slope)
	for i := range ca.multiplier {
		ca.multiplier[i] = 1
	}
	numbers := par.Make[float64](&all[0].sc.Arena, StateSize(len(ca.plan.BackgroundLabel), ca.Categories))
	copy(numbers, ca.State)
	s := stateOf(numbers)
	if known := s.masses; known != 0 && int(known) != len(ca.limits) {
		return Pushed{}, errs.Of(errs.ErrLength, "state is of %v variables of mass, and these events have %d: give each its own state", known, len(ca.limits))
	}
	var largest, n, total float64
	for _, c := range all {
		n += float64(c.count)
		largest = max(largest, c.largest)
	}
	parts := make([]weighed[T], len(all))
	for k, c := range all {
		parts[k] = c.weigh()
		parts[k].total = max(parts[k].sizes*(c.largest/largest), leastTotal)
		total += parts[k].total
	}
	ranked, lessons, grids, squares := make([]ranked[T], len(parts)), make([]lesson, len(parts)), make([][]float64, len(parts)), 0.0
	for k, w := range parts {
		w.total *= n / total
		part := &s.parts[w.part]
		ranked[k] = w.ranks(ca.limits)
		lessons[k] = ranked[k].lesson(&ca.plan.Options, part.moments[:], recentShare(float64(w.pushed), part.batches+1))
		if ca.RelativeStrength > 0 { // the bound is in the gradient
			lessons[k].beyond = nil
		}
		grid, square := ranked[k].direction(lessons[k].beyond)
		grids[k], squares = grid, squares+square
	}
	norm := math.Sqrt(squares)
	if math.IsInf(loss.Loss*loss.Loss, 0) || !events.IsFinite(norm) {
		return Pushed{}, errs.Of(errs.ErrOverflow, "loss = %v with a gradient of norm %v: too large to be squared", loss.Loss, norm)
	}
	s.average(norm, loss, len(ca.limits), ca.Categories)
	var unit float64
	if s.norm > leastNorm {
		unit = math.Sqrt(n) / max(norm, s.norm) // a batch with an unusually large gradient gets no larger push
	}
	ofLabel, eventsOfLabel := make(map[int]float64), make(map[int]float64) // sums over its categories
	for _, w := range ranked {
		ofLabel[w.Label] += w.total
		eventsOfLabel[w.Label] += float64(w.count)
	}
	moved := 0
	for k := range ranked {
		r, le := &ranked[k], &lessons[k]
		floats.Scale(unit/r.total, grids[k])
		le.push = product(r.basis.transposed, product(grids[k], ofScore.values, ofScore.functions, &r.sc.Arena), ofScore.functions, &r.sc.Arena)
		// A function of the ranks of few events is most of all their own noise: it gets no larger push than the noise of a whole batch.
		trusted := min(1, le.events/min(eventsOfABatch, eventsOfLabel[r.Label]))
		ca.set(r, le, &s, trusted)
		moved += r.pushed
	}
	if ca.TrainingEvents > 0 && float64(moved) > ca.TrainingEvents {
		return Pushed{}, errs.Of(errs.ErrOption, "training_events = %v: this batch has %d background events, and the whole training cannot have fewer",
			ca.TrainingEvents, moved)
	}
	if i := events.FirstNotFinite(ca.push); i >= 0 {
		return Pushed{}, errs.Of(errs.ErrOverflow, "push[%d] overflows its type: score_range = [%v, %v] is so narrow that derivatives by scores are too large",
			i, ca.plan.ScoreRange[0], ca.plan.ScoreRange[1])
	}
	s.follow(ca.Tolerance)
	for k := range lessons {
		s.learn(&s.parts[parts[k].part], &lessons[k], ofLabel[parts[k].Label]/n, &ca.Steering, n)
	}
	copy(ca.State, numbers)
	if moved == 0 {
		return Pushed{Result: loss}, nil
	}
	return Pushed{loss, min(1, ca.spread(ranked, n)) / math.Sqrt(float64(moved))}, nil
}

// average takes a batch into the averages: of so many variables of mass, divided into so many categories.
func (s *state) average(norm float64, batch loss.Result, variables, divided int) {
	if s.version == 0 {
		s.version, s.factor, s.masses, s.categories = Version, 1, float64(variables), float64(divided)
	}
	s.steps++
	share := max(1/s.steps, rate)
	for k, average := range []*float64{&s.norm, &s.loss, &s.bias, &s.events, &s.square} {
		x := [...]float64{norm, batch.Loss, batch.Bias, batch.Events, batch.Loss * batch.Loss}[k]
		if x == x { // the bias of a batch may be unknown
			*average += share * (x - *average)
		}
	}
}

// follow lets the factor follow a tolerance; a tolerance of 0 is none. While the averages say that a test with so many events
// sees no dependence, the factor gets smaller.
func (s *state) follow(tolerance float64) {
	if unit := s.bias * s.events; tolerance > 0 && unit > 0 {
		rho := s.loss * tolerance / unit
		s.factor = min(1, max(integral, s.factor*math.Exp(integral*max(-1, min(1, rho-1)))))
	}
}

// learn takes the lesson of one of n events into the averages of a part and, if the strength is not fixed, into its sum and into v. share
// is the part of all weights that the label has. While the factor is below 1, the sum gets smaller.
func (s *state) learn(p *part, le *lesson, share float64, st *Steering, n float64) {
	different := math.Inf(1) // events of the part in the training
	if st.TrainingEvents > 0 {
		different = st.TrainingEvents * (le.events / n)
	}
	p.batches++
	p.average(le, different)
	if st.RelativeStrength > 0 {
		return
	}
	// A residual is in units of the noise of a batch: so the sum of an epoch is the same in batches of all sizes.
	scale := s.factor * integral * math.Sqrt(le.moved/eventsOfABatch) * share
	for l := range le.functions {
		floats.Scale(1-integral*(1-s.factor), p.sum[l][:])
	}
	for _, room := range le.rooms { // the part of a bounded moment is the task of v
		var along [functionsOfScore]float64
		for l, x := range room.toward {
			floats.AddScaled(along[:], x, p.sum[l][:])
		}
		square := floats.Dot(room.toward, room.toward)
		for l, x := range room.toward {
			floats.AddScaled(p.sum[l][:], -integral/thresholds/square*x, along[:])
		}
	}
	for l := range le.functions {
		floats.AddScaled(p.sum[l][:], scale, le.push[l*functionsOfScore:][:functionsOfScore])
	}
	p.learnTail(le, st.Tolerance)
}

// set sets push, multiplier and slope of the events of the batch. The push per residual of few events is less, by trusted.
func (ca *call[T]) set(r *ranked[T], le *lesson, s *state, trusted float64) {
	p, arena, levels := &s.parts[r.part], &r.sc.Arena, []float64(nil)
	coefficients := make([]float64, len(le.push))
	if ca.RelativeStrength > 0 {
		floats.AddScaled(coefficients, trusted*ca.RelativeStrength, le.push)
	} else {
		for l := range le.functions {
			copy(coefficients[l*functionsOfScore:], p.sum[l][:])
		}
		floats.AddScaled(coefficients, trusted*proportional*s.factor, le.push)
		levels = p.levels(r.basis, ca.Tolerance, arena)
	}
	starts := ca.starts(r, le, p)
	perWeight := product(product(r.basis.values, coefficients, ofScore.functions, arena), ofScore.transposed, ofScore.cells, arena)
	floats.Scale(r.total/r.size, perWeight)
	lowest, width, bounded := ca.plan.ScoreRange[0], ca.plan.ScoreRange[1]-ca.plan.ScoreRange[0], ca.bounded()
	place, push, multiplier, slope := r.place, ca.push, ca.multiplier, ca.slope
	r.sc.Team.Blocks(len(r.raw), block, func(lo, hi int) {
		rank, cells, scores := r.rank[lo:hi], r.cell[lo:hi], r.events.Score[lo:hi]
		for i, w := range r.weight[lo:hi] {
			at := place(lo + i)
			if w == 0 || at >= len(push) {
				continue
			}
			cell, score, start, v := int(cells[i]), scores[i], 1.0, 0.0
			u, byLogit := perWeight[cell*mostCellsOfRank+cellOf(rank[i], mostCellsOfRank)]*w, 1.0
			if starts != nil {
				start = starts[cell]
				u *= math.Sqrt(max(start, 1)) // or the planed gradient outweighs it
			}
			p := 0.0
			if bounded {
				p = (float64(score) - lowest) / width
				byLogit = p * (1 - p) * width
				if p < leastPlace || p > 1-leastPlace {
					u = 0
				} else {
					u /= byLogit
				}
			}
			push[at] = T(u)
			if slope != nil {
				slope[at] = T(byLogit)
			}
			if levels != nil {
				v = levelAt(levels[cell*thresholds:][:thresholds], rank[i])
			}
			// Background that must be pulled harder is pulled by start exp(v), and else by the start less |v|, or the other way. A start
			// below 1 leaves it the pull of a start of 1. A pull the other way ends where the classifier calls the event signal, or nothing
			// would hold its logit: above even odds of background it is that of an event of signal.
			multiple := start + v*max(start, 1)
			switch {
			case v > 0:
				multiple = start * math.Exp(v)
			case multiple >= 0: // scores without a range have no odds
			case ca.Logits:
				multiple *= min(1, math.Exp(-float64(score)))
			case bounded:
				multiple *= min(1, (1-p)/math.Abs(p)) // of -0 too
			}
			multiplier[at] = T(r.lift(lo+i) * multiple)
		}
	})
}
