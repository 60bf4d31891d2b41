package loss

import (
	"math"

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
	in, err := events.LookInside(pt.ev.Masses, pt.index, limits, pt.sc)
	if err != nil {
		return walk.Result{}, err
	}
	bs, cellOf, err := bins.JointCells(pt.ev.Masses, pt.index, pt.plan.axes(&in), &in, pt.sc)
	if err != nil {
		return walk.Result{}, err
	}
	sel, err := events.Select(pt.ev, pt.index, cellOf, pt.plan.Masses[0].Limits, pt.sc)
	if err != nil {
		return walk.Result{}, err
	}
	var ba *moments.Basis
	if !pt.plan.Flat {
		columns := moments.JointColumns(pt.ev.Masses, in.Ranges, pt.plan.Order)
		means, err := bins.Settle(bs, sel, &bins.Options{Kind: config.GivenEdges}, columns, sel.Unit(), pt.sc)
		if err != nil {
			return walk.Result{}, err
		}
		if ba, err = moments.New(bs, means, nil, &pt.plan.Config, &pt.sc.Arena); err != nil {
			return walk.Result{}, err
		}
		pt.show(sel, bs.Count(), ba)
	}
	return pt.integrate(sel, bs, ba)
}

// mostPerAxis is the default number of bins of each variable, where there are events enough.
const mostPerAxis = 8

// axes returns the bins of each variable of the events inside. By default cells have events enough, and there are more cells than
// functions.
func (p *Plan) axes(in *events.Inside) []bins.Axis {
	variables := len(p.Masses)
	cells := func(perAxis int) float64 { return math.Pow(float64(perAxis), float64(variables)) }
	room := 1
	for room < mostPerAxis && cells(room+1) <= float64(len(in.Kept)/bins.InEach) {
		room++
	}
	for cells(room) <= float64(len(moments.Products(variables, p.Order))) {
		room++
	}
	found := make([]bins.Axis, variables)
	for k := range found {
		ax := p.Masses[k]
		if ax.Options.Asked == 0 {
			ax.Options.Asked = room
		}
		if ax.Options.Kind != config.GivenEdges {
			ax.Limits.Mass = in.Ranges[k]
		}
		found[k] = ax
	}
	return found
}
