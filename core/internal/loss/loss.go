// Package loss computes the losses: Prepare takes events through events, bins, moments and order, and Integrate walks along the
// sorted events, and follows how J changes. The integral of J is the loss, and the change at an event is minus its derivative.
package loss

import (
	"cmp"
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/sorted"
)

// Law has the settings of a push, see package constraint.
type Law struct {
	Strength, Floor, TrainingEvents float64
	FromLogits                      bool
	Categories                      int
}

// Plan is what a call is to compute.
type Plan struct {
	moments.Options
	Law
	Sum             bool // the loss is the sum over the bins, not their mean
	Joint           bool // the bins are cells of several variables
	BackgroundLabel []int32
	ScoreRange      [2]float64
	Masses          []bins.Options // one for each variable of mass, with limits that are rounded to the type of the events
	ByOrder         bool           // the derivatives alone are wanted, which depend on the order of the scores: the loss is 0
	Smoothing       float64        // of the bound of the curvature
}

// Planner is a core.Config, for package constraint, which the tests of core import: it cannot import core.
type Planner interface {
	Plan(variables int, single bool) (*Plan, error)
}

// PlanOf returns the plan of a call, if its events and its options are valid.
func PlanOf[T events.Float](cfg Planner, ev *events.Events[T]) (*Plan, error) {
	if err := ev.CheckLengths(); err != nil {
		return nil, err
	}
	return cfg.Plan(len(ev.Variables()), lanes.IsFloat32[T]())
}

// Result is a loss with the numbers that say whether it is significant. A test with N events sees no difference from a flat
// response if the unbiased loss of n events is at most Bias n/N.
type Result struct {
	Loss float64 // as LossAndGrad returns it
	// Bias is the mean difference between the plain loss of these events and the loss of an infinite sample.
	// The loss has this bias only if Config.Biased is set. It is NaN if it cannot be known, because a bin has
	// fewer than 1.05 effective events: without Biased that is an error.
	Bias float64
	// Events is the effective number of events, (sum w)^2 / sum w^2, that take part: the sum over labels and
	// categories, and the mean over several variables one by one.
	Events float64
}

// Add adds a result, times a factor, with a share of its events.
func (r *Result) Add(other Result, factor, share float64) {
	r.Loss += factor * other.Loss
	r.Bias += factor * other.Bias
	r.Events += share * other.Events
}

// Evaluate returns the loss of events, and sets the derivatives that are wanted, with this smoothing of the bound of the curvature. With
// several labels and categories the loss is the sum of the losses of each, times its share of the label's sum of weights. The bias is
// wanted too, whether or not it is subtracted, if it is measured.
func Evaluate[T events.Float](out events.Derivatives[T], ev events.Events[T], cfg Planner, measured bool, smoothing float64) (total Result, err error) {
	p, err := PlanOf(cfg, &ev)
	if err == nil {
		err = out.CheckLengths(len(ev.Score))
	}
	if err != nil {
		return total, err
	}
	p.Smoothing = smoothing
	sc := par.Take()
	defer sc.Give()
	sc.Expect(len(ev.Score)) // few events stay in this goroutine
	subs, err := events.Divide(ev, p.BackgroundLabel, sc)
	if err != nil {
		return total, err
	}
	if len(subs) > 1 {
		if err := events.SetFactors(subs, ev.Weight); err != nil {
			return total, err
		}
	}
	if subs[0].Index != nil {
		out.Clear(sc)
	}
	results := make([]Result, len(subs))
	err = events.Each(subs, sc, func(k int, sc *par.Scratch) error {
		defer sc.Arena.Release(sc.Arena.Mark())
		su, own := &subs[k], out
		if su.Index != nil {
			own = out.ForEvents(len(su.Index), &sc.Arena)
		}
		prs, err := Prepare(ev.Of(su, sc), su.Index, p, sc)
		if err == nil {
			results[k], err = Integrate(own, prs, measured, sc)
		}
		if err == nil && su.Index != nil {
			out.Scatter(own, su, sc)
		}
		return err
	})
	if err != nil {
		return total, err
	}
	for k, result := range results {
		total.Add(result, subs[k].Factor, 1)
	}
	if err := out.Check(sc); err != nil {
		return Result{}, err
	}
	return total, nil
}

// Prepared is the events of one label and category with their bins in one variable of mass, or in all together, in order of score.
type Prepared[T events.Float] struct {
	*bins.Bins
	Basis    *moments.Basis
	plan     *Plan
	Variable int // of mass
	binning  bins.Options
	sel      *events.Selection[T]
	rs       *sorted.Records // nil: there are no scores
	Sorted   bool            // the derivatives are in order of score, not of the input
}

// Prepare prepares the events of one label and category, whose places in the input are in index; nil: they are the input. It returns
// the events once for all variables together, or once for each variable for which an event has a value.
func Prepare[T events.Float](ev events.Events[T], index []uint32, p *Plan, sc *par.Scratch) (prs []*Prepared[T], err error) {
	if p.Joint {
		pr, err := prepareJoint(ev, index, p, sc)
		return []*Prepared[T]{pr}, err
	}
	masses := ev.Variables()
	for k, mass := range masses {
		pr := &Prepared[T]{plan: p, Variable: k, binning: p.Masses[k]}
		err := pr.bin(events.Events[T]{Score: ev.Score, Mass: mass, Weight: ev.Weight}, index, sc)
		switch {
		case err == nil:
			prs = append(prs, pr)
		case len(masses) == 1:
			return nil, err
		case pr.sel == nil || pr.sel.N > 0: // other variables may have events
			return nil, errs.OfVariable(k, err)
		}
	}
	if len(prs) == 0 {
		return nil, errs.Of(errs.ErrNoEvents, "no event selected: none of the %d selected events has any variable of mass inside its range: "+
			"check mass_range (or edges) and the unit of mass", len(ev.Score))
	}
	return prs, nil
}

// bin selects events, and sets their bins, basis and order.
func (pr *Prepared[T]) bin(ev events.Events[T], index []uint32, sc *par.Scratch) (err error) {
	for settled, o := false, pr.binning; !settled; {
		if pr.sel, err = events.Select(ev, index, nil, o.Limits, sc); err != nil {
			return err
		}
		if pr.Bins, err = bins.New(pr.sel, &o, sc); err != nil {
			return err
		}
		if settled, err = bins.Settle(pr.Bins, pr.sel, &o, moments.Columns(pr.sel, &pr.plan.Options), sc); err != nil {
			return err
		}
	}
	if pr.Basis, err = moments.New(pr.Means, pr.Edges, pr.sel.N, &pr.plan.Options, &sc.Arena); err != nil {
		return err
	}
	if ev.Score != nil {
		pr.rs = sorted.Sort(pr.sel, pr.Count(), sc)
	}
	return nil
}

// Integrate returns the mean of the losses of the variables of mass, and sets the derivatives that are wanted. The bias is wanted too,
// whether or not it is subtracted, if it is measured.
func Integrate[T events.Float](out events.Derivatives[T], prs []*Prepared[T], measured bool, sc *par.Scratch) (total Result, err error) {
	if len(prs[0].plan.Masses) == 1 || prs[0].plan.Joint {
		return prs[0].integrate(out, measured, sc)
	}
	share := 1 / float64(len(prs))
	one := out.ForEvents(len(prs[0].sel.Score), &sc.Arena)
	sums := [...][]float64{par.Make[float64](&sc.Arena, len(one.Grad)), par.Make[float64](&sc.Arena, len(one.Hess))}
	for _, pr := range prs {
		loss, err := pr.integrate(one, measured, sc)
		if err != nil {
			return Result{}, errs.OfVariable(pr.Variable, err)
		}
		total.Add(loss, share, share)
		for k, own := range one.Both() {
			for i, derivative := range own {
				sums[k][i] += share * float64(derivative)
			}
		}
	}
	for k, to := range out.Both() {
		for i, sum := range sums[k] {
			to[i] = T(sum)
		}
	}
	return total, nil
}

// prepareJoint prepares events for bins that are cells of the space of several variables. Their P are products of Legendre polynomials
// of each variable, up to a total degree: polynomials in all variables at once fit F_b. An event outside the range
// of any variable takes no part.
func prepareJoint[T events.Float](ev events.Events[T], index []uint32, p *Plan, sc *par.Scratch) (*Prepared[T], error) {
	ranges, inside, err := bins.LookInside(ev.Masses, index, p.Masses, sc)
	if err != nil {
		return nil, err
	}
	pr := &Prepared[T]{plan: p}
	var cellOf []uint32
	axes, most := p.axes(ranges, len(inside))
	if pr.Bins, cellOf, err = bins.JointCells(ev.Masses, index, axes, inside, sc); err != nil {
		return nil, err
	}
	if pr.sel, err = events.Select(ev, index, cellOf, p.Masses[0].Limits, sc); err != nil {
		return nil, err
	}
	columns := moments.JointColumns(ev.Masses, ranges, p.Order)
	if _, err := bins.Settle(pr.Bins, pr.sel, &bins.Options{Kind: bins.GivenEdges}, columns, sc); err != nil {
		return nil, err
	}
	if pr.Basis, err = moments.NewSpan(pr.Means, pr.Count(), most, &sc.Arena); err != nil {
		return nil, err
	}
	pr.rs = sorted.Sort(pr.sel, pr.Count(), sc)
	return pr, nil
}

// MostPerAxis is the default number of bins of each of several variables together, for many events.
const MostPerAxis = 8

// axes returns the bins of each variable, for n events inside these ranges, and the number of cells. By default cells have events
// enough, and there are more cells than functions.
func (p *Plan) axes(ranges [events.MaxVariables][2]float64, n int) (axes []bins.Options, number float64) {
	variables := len(p.Masses)
	cells := func(perAxis int) float64 { return math.Pow(float64(perAxis), float64(variables)) }
	room := 1
	for room < MostPerAxis && cells(room+1) <= float64(n/bins.InEach) {
		room++
	}
	for cells(room) <= float64(len(moments.Products(variables, p.Order))) {
		room++
	}
	axes, number = slices.Clone(p.Masses), 1
	for k := range axes {
		axes[k].Asked = cmp.Or(axes[k].Number(), room)
		if number *= float64(axes[k].Asked); axes[k].Kind != bins.GivenEdges {
			axes[k].Mass = ranges[k]
		}
	}
	return axes, number
}

// Order returns the places of the events in order of score.
func (pr *Prepared[T]) Order(sc *par.Scratch) []uint32 {
	order := par.Unset[uint32](&sc.Arena, len(pr.rs.Words))
	for k, word := range pr.rs.Words {
		order[k] = uint32(pr.rs.Index(word))
	}
	return order
}
