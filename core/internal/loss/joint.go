package loss

import (
	"math"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/walk"
)

// joint returns the loss whose bins are cells of the space of several variables. Its P are products of Legendre polynomials
// of each variable, up to a total degree: polynomials in all variables at once fit F_b.
func (pt part[T]) joint() (walk.Result, error) {
	limits := make([]events.Limits, len(pt.plan.Variables))
	for k := range limits {
		limits[k] = pt.plan.Variables[k].Limits
	}
	in, err := events.LookInside(pt.ev, pt.index, limits, pt.sc)
	if err != nil {
		return walk.Result{}, err
	}
	if in.All {
		return pt.ofCells(&in)
	}
	inside := pt
	inside.ev, inside.index = events.Keep(pt.ev, pt.index, in.Kept)
	inside.out = pt.out.ForEvents(len(in.Kept))
	loss, err := inside.ofCells(&in)
	for d, of := range inside.out {
		for j, element := range of {
			pt.out[d][in.Kept[j]] = element
		}
	}
	return loss, err
}

// ofCells returns the loss of events that all lie in the ranges.
func (pt part[T]) ofCells(in *events.Inside) (walk.Result, error) {
	_, o := pt.plan.variable(0)
	bs, cellOf, err := bins.JointCells(pt.ev, pt.index, pt.plan.axes(in, len(pt.ev.Score)), pt.sc)
	if err != nil {
		return walk.Result{}, err
	}
	sel, err := events.SelectScores(pt.ev, pt.index, cellOf, o.Score, pt.sc)
	if err != nil {
		return walk.Result{}, err
	}
	var ba walk.Basis
	if pt.plan.Kind == MoDe {
		find := func(dst []uint32, lo int) { copy(dst, cellOf[lo:]) }
		sums := bins.SumBins(sel, bs.Count(), moments.JointColumns(pt.ev.Masses, in.Ranges, o.Moments.Order), sel.Unit(), find, pt.sc)
		if err := sums.Check(bs, sel.Unit()); err != nil {
			return walk.Result{}, err
		}
		if ba.Basis, err = moments.New(bs, sums.Means(pt.sc), nil, 0, &o.Moments, &pt.sc.Arena); err != nil {
			return walk.Result{}, err
		}
	}
	return pt.integrate(sel, bs, ba, o)
}

// mostPerAxis is the default number of bins of each variable, where there are events enough.
const mostPerAxis = 8

// axes returns the bins of each variable of n events. By default cells have events enough, and there are more cells than
// functions.
func (p *Plan) axes(in *events.Inside, n int) []bins.Axis {
	variables := len(p.Variables)
	cells := func(perAxis int) float64 { return math.Pow(float64(perAxis), float64(variables)) }
	room := 1
	for room < mostPerAxis && cells(room+1) <= float64(n/bins.InEach) {
		room++
	}
	for cells(room) <= float64(len(moments.Products(variables, p.Walk.Moments.Order))) {
		room++
	}
	found := make([]bins.Axis, variables)
	for k := range found {
		ax := p.Variables[k].Axis
		if ax.Options.Asked == 0 {
			ax.Options.Asked = room
		}
		if ax.Options.Kind != bins.Given {
			ax.Limits.Mass = in.Ranges[k]
		}
		found[k] = ax
	}
	return found
}
