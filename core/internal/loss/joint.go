package loss

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/config"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/walk"
)

// joint returns the loss whose bins are cells of the space of several variables. Its P are products of Legendre polynomials
// of each variable, up to a total degree: polynomials in all variables at once fit F_b. An event outside the range
// of any variable takes no part.
func (pt part[T]) joint() (walk.Result, error) {
	limits := make([]events.Limits, len(pt.plan.Masses))
	for k := range limits {
		limits[k] = pt.plan.Masses[k].Limits
	}
	ranges, inside, err := events.LookInside(pt.ev.Masses, pt.index, limits, pt.sc)
	if err != nil {
		return walk.Result{}, err
	}
	bs, cellOf, err := bins.JointCells(pt.ev.Masses, pt.index, pt.plan.axes(ranges, len(inside)), inside, pt.sc)
	if err != nil {
		return walk.Result{}, err
	}
	sel, err := events.Select(pt.ev, pt.index, cellOf, pt.plan.Masses[0].Limits, pt.sc)
	if err != nil {
		return walk.Result{}, err
	}
	var ba *moments.Basis
	if !pt.plan.Flat {
		columns := moments.JointColumns(pt.ev.Masses, ranges, pt.plan.Order)
		if _, err := bins.Settle(bs, sel, &bins.Options{Kind: config.GivenEdges}, columns, sel.Unit(), pt.sc); err != nil {
			return walk.Result{}, err
		}
		if ba, err = moments.New(bs, nil, &pt.plan.Config, &pt.sc.Arena); err != nil {
			return walk.Result{}, err
		}
		pt.show(sel, bs.Count(), ba)
	}
	return pt.integrate(sel, bs, ba)
}

// mostPerAxis is the default number of bins of each variable, where there are events enough.
const mostPerAxis = 8

// axes returns the bins of each variable, for n events inside these ranges. By default cells have events enough, and there are more
// cells than functions.
func (p *Plan) axes(ranges [events.MaxVariables][2]float64, n int) []bins.Options {
	variables := len(p.Masses)
	cells := func(perAxis int) float64 { return math.Pow(float64(perAxis), float64(variables)) }
	room := 1
	for room < mostPerAxis && cells(room+1) <= float64(n/bins.InEach) {
		room++
	}
	for cells(room) <= float64(len(moments.Products(variables, p.Order))) {
		room++
	}
	found := slices.Clone(p.Masses)
	for k := range found {
		if found[k].Asked == 0 {
			found[k].Asked = room
		}
		if found[k].Kind != config.GivenEdges {
			found[k].Mass = ranges[k]
		}
	}
	return found
}
