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

// leastTotal is the least sum of weights of a label and category, per largest weight of all, so that ratios to it are finite.
const leastTotal = 1e-100

// part returns the part of a state that a group has.
func (ca *call[T]) part(s *state, g *group[T]) *part {
	return &s.parts[g.Label*max(ca.Categories, 1)+int(g.Category)]
}

// steer sets push, multiplier and slope of events whose loss is given, and brings the state up to date. Events that take no part have
// the push 0, the multiplier 1 and the slope 0.
func (ca *call[T]) steer(all []*group[T], loss loss.Result) (Pushed, error) {
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
	var n, total float64
	unit := math.Inf(1)
	for _, g := range all {
		n, unit = n+g.count, min(unit, g.unit)
	}
	for _, g := range all {
		g.total = max(g.sizes*(unit/g.unit), leastTotal)
		total += g.total
	}
	lessons, grids, squares := make([]lesson, len(all)), make([][]float64, len(all)), 0.0
	ofLabel, eventsOfLabel := make(map[int]float64), make(map[int]float64) // sums over its categories
	for k, g := range all {
		g.total *= n / total
		ofLabel[g.Label] += g.total
		eventsOfLabel[g.Label] += g.count
		part := ca.part(&s, g)
		lessons[k] = g.lesson(&ca.plan.Options, part.moments[:], recentShare(g.pushed, part.batches+1))
		if ca.RelativeStrength > 0 { // the bound is in the gradient
			lessons[k].beyond = nil
		}
		grid, square := g.direction(lessons[k].beyond)
		grids[k], squares = grid, squares+square
	}
	norm := math.Sqrt(squares)
	if math.IsInf(loss.Loss*loss.Loss, 0) || !events.IsFinite(norm) {
		return Pushed{}, errs.Of(errs.ErrOverflow, "loss = %v with a gradient of norm %v: too large to be squared", loss.Loss, norm)
	}
	s.average(norm, loss, len(ca.limits), ca.Categories)
	var perNorm float64
	if s.norm > leastNorm {
		perNorm = math.Sqrt(n) / max(norm, s.norm) // a batch with an unusually large gradient gets no larger push
	}
	moved := 0.0
	for k, g := range all {
		le := &lessons[k]
		floats.Scale(perNorm/g.total, grids[k])
		le.push = product(g.basis.transposed, product(grids[k], ofScore.values, ofScore.functions, &g.sc.Arena), ofScore.functions, &g.sc.Arena)
		// A function of the ranks of few events is most of all their own noise: it gets no larger push than the noise of a whole batch.
		trusted := min(1, le.events/min(eventsOfABatch, eventsOfLabel[g.Label]))
		ca.set(g, le, &s, trusted)
		moved += g.pushed
	}
	if moved > ca.TrainingEvents && ca.TrainingEvents > 0 {
		return Pushed{}, errs.Of(errs.ErrOption, "training_events = %v: this batch has %.0f background events, and the whole training cannot have fewer",
			ca.TrainingEvents, moved)
	}
	if i := events.FirstNotFinite(ca.push); i >= 0 {
		return Pushed{}, errs.Of(errs.ErrOverflow, "push[%d] overflows its type: score_range = [%v, %v] is so narrow that derivatives by scores are too large",
			i, ca.plan.ScoreRange[0], ca.plan.ScoreRange[1])
	}
	s.follow(ca.Tolerance)
	for k := range lessons {
		s.learn(ca.part(&s, all[k]), &lessons[k], ofLabel[all[k].Label]/n, &ca.Steering, n, &all[k].sc.Arena)
	}
	copy(ca.State, numbers)
	if moved == 0 {
		return Pushed{Result: loss}, nil
	}
	return Pushed{loss, min(1, ca.spread(all, n)) / math.Sqrt(moved)}, nil
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
func (s *state) learn(p *part, le *lesson, share float64, st *Steering, n float64, arena *par.Arena) {
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
	p.learnTail(le, st.Tolerance, arena)
}

// set sets push, multiplier and slope of the events of the batch. The push per residual of few events is less, by trusted.
func (ca *call[T]) set(g *group[T], le *lesson, s *state, trusted float64) {
	p, arena := ca.part(s, g), &g.sc.Arena
	coefficients, levels := make([]float64, len(le.push)), par.Make[float64](arena, g.basis.cells*thresholds)
	if ca.RelativeStrength > 0 {
		floats.AddScaled(coefficients, trusted*ca.RelativeStrength, le.push)
	} else {
		for l := range le.functions {
			copy(coefficients[l*functionsOfScore:], p.sum[l][:])
		}
		floats.AddScaled(coefficients, trusted*proportional*s.factor, le.push)
		levels = p.levels(g.basis, ca.Tolerance, arena)
	}
	perWeight := product(product(g.basis.values, coefficients, ofScore.functions, arena), ofScore.transposed, ofScore.cells, arena)
	starts := ca.starts(g, le, p)
	for c, start := range starts {
		// The push is times the root of a start above 1, or the planed gradient outweighs it.
		floats.Scale(g.total/g.size*math.Sqrt(max(start, 1)), perWeight[c*mostCellsOfRank:][:mostCellsOfRank])
	}
	lowest, width, bounded := ca.plan.ScoreRange[0], ca.plan.ScoreRange[1]-ca.plan.ScoreRange[0], ca.bounded()
	push, multiplier, slope, perWidth := ca.push, ca.multiplier, ca.slope, 1/width
	multiples := par.Unset[float64](arena, len(g.rank))
	g.sc.Team.Blocks(len(multiples), block, func(lo, hi int) {
		place, rank, cells, scores, weight := g.place[lo:hi], g.rank[lo:hi], g.cell[lo:hi], g.score[lo:hi], g.weight[lo:hi]
		multiples := multiples[lo:hi]
		setMultiples(multiples, levels, starts, rank, cells)
		for i, at := range place {
			if int(at) >= len(push) {
				continue
			}
			u, byLogit, p := perWeight[int(cells[i])*mostCellsOfRank+cellOf(rank[i], mostCellsOfRank)]*weight[i], 1.0, 0.0
			if bounded {
				p = (scores[i] - lowest) * perWidth
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
			// A pull the other way ends where the classifier calls the event signal, or nothing would hold its logit: above even odds of
			// background it is that of an event of signal.
			multiple := multiples[i]
			switch {
			case multiple >= 0: // scores without a range have no odds
			case ca.Logits:
				multiple *= min(1, math.Exp(-scores[i]))
			case bounded:
				multiple *= min(1, (1-p)/math.Abs(p)) // of -0 too
			}
			if g.lift != nil {
				multiple *= g.lift[lo+i]
			}
			multiplier[at] = T(multiple)
		}
	})
}
