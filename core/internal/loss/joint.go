package loss

import (
	"math"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/order"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/walk"
)

// joint is the loss whose bins are cells of the space of several variables, and whose P are products of Legendre polynomials
// of each, up to a total degree: F_b is fitted by the polynomials in all variables at once.
func joint[T events.Float](out events.Derivatives[T], ev events.Events[T], index []uint32, p *Plan, sc *par.Scratch) (walk.Result, error) {
	limits := make([]events.Limits, len(p.Variables))
	for k := range limits {
		limits[k] = p.Variables[k].Limits
	}
	in, err := events.LookInside(ev, index, limits, sc)
	if err != nil {
		return walk.Result{}, err
	}
	if in.All {
		return ofCells(out, ev, index, &in, p, sc)
	}
	some, places := events.Keep(ev, index, in.Kept)
	own := out.ForEvents(len(in.Kept))
	loss, err := ofCells(own, some, places, &in, p, sc)
	for k, of := range own {
		for j, element := range of {
			out[k][in.Kept[j]] = element
		}
	}
	return loss, err
}

// ofCells is the loss of events that all lie in the ranges.
func ofCells[T events.Float](out events.Derivatives[T], ev events.Events[T], index []uint32, in *events.Inside, p *Plan, sc *par.Scratch) (walk.Result, error) {
	o := p.walk(0)
	bs, cellOf, err := bins.JointCells(ev, index, axes(p, in, len(ev.Score)), sc)
	if err != nil {
		return walk.Result{}, err
	}
	sel, err := events.SelectScores(ev, index, cellOf, o.Score, sc)
	if err != nil {
		return walk.Result{}, err
	}
	var ba walk.Basis
	if p.Kind == MoDe {
		find := func(dst []uint32, lo int) { copy(dst, cellOf[lo:]) }
		sums := bins.SumBins(sel, bs.Count(), moments.JointColumns(ev.Masses, in.Ranges, o.Moments.Order), sel.Unit(), find, sc)
		if err := sums.Check(bs, sel.Unit()); err != nil {
			return walk.Result{}, err
		}
		if ba.Basis, err = moments.New(bs, sums.Means(sc), nil, 0, &o.Moments, &sc.Arena); err != nil {
			return walk.Result{}, err
		}
	}
	rs, su := order.Sort(sel, bs, sc)
	return integrate(out, sel, p.Kind, o, bs, ba, rs, su, sc)
}

// mostPerAxis is the number of bins of each variable where none is asked for and there are events enough.
const mostPerAxis = 8

// axes returns how the variables of n events are divided: into the bins asked for, or else so many that cells have events
// enough and there are more of them than functions.
func axes(p *Plan, in *events.Inside, n int) []bins.Axis {
	variables, room := len(p.Variables), 1
	for room < mostPerAxis && math.Pow(float64(room+1), float64(variables)) <= float64(n/bins.InEach) {
		room++
	}
	for math.Pow(float64(room), float64(variables)) <= float64(len(moments.Products(variables, p.Walk.Moments.Order))) {
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
