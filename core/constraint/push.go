package constraint

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"sort"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/sorted"
	"gonum.org/v1/gonum/floats"
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

// Direction sets the rows of a batch, and the lesson to what the batch teaches, with the numbers of a state. It changes no state. The
// gradient G_i of another loss by the score of event i is to become
//
//	Multiplier_i G_i + |G| Push_i,
//
// where |G| is the average norm of Multiplier G Slope over the events of one part. Apply does so, and takes the lesson into the state.
// After an error the rows and the lesson mean nothing.
func Direction[T events.Float](rows Rows[T], lesson []float64, ev events.Events[T], cfg loss.Planner, st Steering) error {
	p, err := planOf(cfg, &ev, &st)
	if err != nil {
		return err
	}
	if err := rows.check(st.Batch); err != nil {
		return err
	}
	size := StateSize(len(p.BackgroundLabel), p.Categories)
	if len(lesson) != size {
		return errs.Of(errs.ErrLength, "lesson has length %d, and must have the %d of a state", len(lesson), size)
	}
	clear(lesson)
	taught, known := stateOf(lesson), stateOf(make([]float64, size))
	copy(known.numbers, st.State)
	*taught.totals = totals{Version, 1, float64(len(p.Masses)), float64(p.Categories)}
	if err := known.checkMasses(taught); err != nil {
		return err
	}
	sc := par.Take()
	defer sc.Give()
	sc.Expect(len(ev.Score))
	subs, err := events.Divide(ev, p.BackgroundLabel, sc)
	if err != nil {
		return err
	}
	if err := checkCategories(subs, p.Categories); err != nil {
		return err
	}
	others := ev.ByCategory(ev.Selected(p.BackgroundLabel, true), p.Categories)
	clear(rows.Push)
	clear(rows.Slope)
	clear(rows.Part)
	for i := range rows.Multiplier {
		rows.Multiplier[i] = 1
	}
	groups := make([]group[T], len(subs))
	err = events.Each(subs, sc, func(k int, sc *par.Scratch) error {
		su := &subs[k]
		number := su.Label*max(p.Categories, 1) + int(su.Category)
		groups[k] = group[T]{Subset: su, Events: ev.Of(su, sc), Steering: st, plan: p, number: number, taught: &taught.parts[number], known: &known.parts[number]}
		return groups[k].direct(rows, &ev, others[su.Category], sc)
	})
	if err != nil {
		return err
	}
	moved, pushed := 0, make([]bool, len(p.BackgroundLabel))
	for _, g := range groups {
		moved += g.moved
		pushed[g.Subset.Label] = pushed[g.Subset.Label] || g.few == nil
	}
	for _, g := range groups { // categories may have too few events, unless all have
		if !pushed[g.Subset.Label] {
			return g.Named(g.few)
		}
	}
	if total := p.TrainingEvents; total > 0 && float64(moved) > total {
		return errs.Of(errs.ErrOption, "training_events = %v: this batch has %d background events, and the whole training cannot have fewer", total, moved)
	}
	if i := events.FirstNotFinite(rows.Push); i >= 0 {
		return errs.Of(errs.ErrOverflow, "push[%d] overflows its type: score_range = %s is so narrow that derivatives by scores are too large",
			i, errs.Range(p.ScoreRange))
	}
	return nil
}

// group has the events of one label and category, and its part in the state.
type group[T events.Float] struct {
	*events.Subset
	events.Events[T]
	Steering
	plan   *loss.Plan
	number int   // of the part
	taught *part // by the batch
	known  *part // the state with what the batch teaches
	few    error // says that the events are too few for bins
	moved  int   // the number of events that are pushed
}

// direct sets the rows of the events of a group, and its part of the lesson. The signal has these places in the input.
func (g *group[T]) direct(rows Rows[T], ev *events.Events[T], signal []uint32, sc *par.Scratch) error {
	if err := g.leaveOut(sc); err != nil {
		return err
	}
	push, err := g.push(sc)
	if err != nil {
		return err
	}
	cell := g.setSpectra(ev, signal, sc)
	if !events.IsFinite(g.taught.push) {
		return errs.Of(errs.ErrOverflow, "the push has the norm %v: slope_penalty, or weights relative to their sum in a bin, are too large", g.taught.push)
	}
	scale := 0.0
	if g.known.learn(g.taught); g.taught.push > 0 {
		scale = strength(g.plan, len(g.Score)) / g.known.push
		if g.State != nil && g.plan.Order == 0 { // without a memory each batch would be the first
			scale *= -math.Expm1(-max(g.known.seen/warmEvents, g.known.batches/warmBatches))
		}
	}
	starts := g.cells(g.known).starts(g.plan.Order, g.plan.Floor)
	for k, cell := range cell {
		i := g.Place(k)
		if i >= g.Batch || cell == none {
			continue
		}
		g.moved++
		u, slope := 0.0, 1.0
		if scale > 0 {
			u = scale * push[k]
		}
		if !g.plan.FromLogits {
			u, slope = g.byScore(u, float64(g.Score[k]))
		}
		rows.Push[i], rows.Multiplier[i], rows.Slope[i], rows.Part[i] = T(u), T(max(starts[cell], leastStart)), T(slope), T(g.number)
	}
	return nil
}

// leastPlace is a distance to an end of score_range, per width: a score this near is not pushed, for its logit is far out.
const leastPlace = 1e-6

// byScore returns a push by the logit as one by the score, and the derivative of the score by the logit.
func (g *group[T]) byScore(push, score float64) (u, slope float64) {
	lo, width := g.plan.ScoreRange[0], g.plan.ScoreRange[1]-g.plan.ScoreRange[0]
	if math.IsInf(width, 1) {
		return push, 1
	}
	place := (score - lo) / width
	if slope = place * (1 - place) * width; place < leastPlace || place > 1-leastPlace {
		return 0, slope
	}
	return push / slope, slope
}

// leastStart is the least start that float32 holds with all digits: a tiny floor does not become 0.
const leastStart = 0x1p-126

// leaveOut leaves out events of weight 0, and events outside the limits of every mass; if bins are joint, outside the limits of any mass.
func (g *group[T]) leaveOut(sc *par.Scratch) error {
	masses, limits := g.Variables(), &g.plan.Masses[0].Limits
	if len(masses) == 1 && g.Weight == nil && math.IsInf(limits.Mass[0], -1) && !limits.IgnoreMissing {
		return nil
	}
	takesPart := func(i int) bool {
		if g.Weight != nil && g.Weight[i] == 0 {
			return false
		}
		for v, mass := range masses {
			if limits := &g.plan.Masses[v].Mass; (float64(mass[i]) >= limits[0] && float64(mass[i]) <= limits[1]) != g.plan.Joint {
				return !g.plan.Joint
			}
		}
		return g.plan.Joint
	}
	chosen := make([]uint32, 0, len(g.Score))
	for i := range g.Score {
		if takesPart(i) {
			chosen = append(chosen, uint32(i))
		}
	}
	if len(chosen) == len(g.Score) { // the loss looks for bad numbers
		return nil
	}
	for v, mass := range masses {
		all := events.Events[T]{Score: g.Score, Mass: mass, Weight: g.Weight}
		if sel, err := events.Select(all, g.Index, nil, g.plan.Masses[v].Limits, sc); sel == nil { // a number is bad
			return err
		}
	}
	g.Events = g.Chosen(chosen, sc)
	for k, i := range chosen {
		chosen[k] = uint32(g.Place(int(i)))
	}
	g.Index = chosen
	return nil
}

// leastRank is a number of events: q (1 - q) counts at least as this number over the events of the batch.
const leastRank = 3

// leastPush is the least |u| of events with one as the sum of their squared weights, relative to it. A smaller direction is rounding,
// as with order + 1 bins, where the fit is exact.
const leastPush = 1e-12

// push returns u, and takes its norm over the pushed events into the lesson. u are the derivatives of the loss of the ranks, times
// 1/sqrt(q (1 - q)). The derivatives by the ranks follow from the order of the scores alone. With the factor each working point counts by
// its significance, since the noise of a residual is in proportion to sqrt(q (1 - q)). Too few events for the bins of the loss get fewer
// bins; nil: they are too few for any.
func (g *group[T]) push(sc *par.Scratch) ([]float64, error) {
	grad, p := par.Unset[T](&sc.Arena, len(g.Score)), g.plan
	order, err := g.differentiate(grad, p, sc)
	if errors.Is(err, errs.ErrBin) || errors.Is(err, errs.ErrNoEvents) {
		for few := err; err != nil; order, err = g.differentiate(grad, p, sc) {
			if p = fewerBins(p); p == nil {
				g.few = few
				return nil, nil
			}
		}
	}
	if err != nil {
		return nil, err
	}
	inOrder := order != nil // the derivatives are in order of score
	if !inOrder {
		order = sorted.Values(g.Score, sc)
	}
	n, score, weight, unit := len(order), g.Score, g.Weight, events.UnitOfWeights(g.Weight)
	scores, sizes := par.Unset[float64](&sc.Arena, n), par.Unset[float64](&sc.Arena, n) // in order of score; sizes are |w|
	for k, i := range order {
		if scores[k], sizes[k] = float64(score[i]), 1; weight != nil {
			sizes[k] = math.Abs(float64(weight[i])) * unit
		}
	}
	total, below, least, square := floats.Sum(sizes), 0.0, leastRank/float64(n), 0.0
	u := par.Unset[float64](&sc.Arena, len(score))
	inBatch := sort.Search(len(score), func(i int) bool { return g.Place(i) >= g.Batch }) // the events before it are pushed
	for lo, hi := 0, 0; lo < n; lo = hi {
		tied := sizes[lo]
		for hi = lo + 1; hi < n && scores[hi] == scores[lo]; hi++ {
			tied += sizes[hi]
		}
		q := (below + tied/2) / total
		factor := 1 / math.Sqrt(max(q*(1-q), least))
		for k, i := range order[lo:hi] {
			if k += lo; !inOrder {
				k = int(i)
			}
			x := float64(grad[k]) * factor
			if u[i] = x; int(i) < inBatch {
				square += x * x
			}
		}
		below += tied
	}
	g.taught.seen = float64(inBatch)
	if norm := math.Sqrt(square); norm*total > leastPush*floats.Norm(sizes, 2) {
		g.taught.push, g.taught.batches = norm, 1
	}
	return u, nil
}

// differentiate sets the derivatives of the loss. If there is one variable of mass, they are in order of score, and it returns this order.
func (g *group[T]) differentiate(grad []T, p *loss.Plan, sc *par.Scratch) (order []uint32, err error) {
	prs, err := loss.Prepare(g.Events, g.Index, p, sc)
	if err != nil {
		return nil, err
	}
	if prs[0].Sorted = len(p.Masses) == 1; prs[0].Sorted {
		order = prs[0].Order(sc)
	}
	_, err = loss.Integrate(events.Derivatives[T]{Grad: grad}, prs, false, sc)
	return order, err
}

// fewerBins returns a plan with fewer bins than one that has events for too few; nil: there is none.
func fewerBins(p *loss.Plan) *loss.Plan {
	fewer := *p
	fewer.Masses = slices.Clone(p.Masses)
	for k := range fewer.Masses {
		o := &fewer.Masses[k]
		most := o.Number()
		if o.Merges() && !p.Joint || most == 1 {
			return nil
		}
		if o.Kind, o.Asked, o.Most = bins.Quantile, 0, most; p.Joint {
			o.Asked = cmp.Or(most, loss.MostPerAxis) / 2
		}
	}
	return &fewer
}
