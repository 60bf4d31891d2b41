package loss

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/par"
)

// prepareJoint prepares events for bins that are cells of the space of several variables. Their P are products of Legendre polynomials
// of each variable, up to a total degree: polynomials in all variables at once fit F_b. An event outside the range
// of any variable takes no part.
func prepareJoint[T events.Float](ev events.Events[T], index []uint32, p *Plan, sc *par.Scratch) (*Prepared[T], error) {
	limits := make([]events.Limits, len(p.Masses))
	for k := range limits {
		limits[k] = p.Masses[k].Limits
	}
	ranges, inside, err := events.LookInside(ev.Masses, index, limits, sc)
	if err != nil {
		return nil, err
	}
	pr := &Prepared[T]{plan: p}
	var cellOf []uint32
	if pr.Bins, cellOf, err = bins.JointCells(ev.Masses, index, p.axes(ranges, len(inside)), inside, sc); err != nil {
		return nil, err
	}
	if pr.sel, err = events.Select(ev, index, cellOf, limits[0], sc); err != nil {
		return nil, err
	}
	if !p.Flat {
		columns := moments.JointColumns(ev.Masses, ranges, p.Order)
		if _, err := bins.Settle(pr.Bins, pr.sel, &bins.Options{Kind: bins.GivenEdges}, columns, pr.sel.Unit(), sc); err != nil {
			return nil, err
		}
		if pr.Basis, err = moments.NewSpan(pr.Means, pr.Count(), &sc.Arena); err != nil {
			return nil, err
		}
	}
	pr.sort(nil, sc)
	return pr, nil
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
		if found[k].Kind != bins.GivenEdges {
			found[k].Mass = ranges[k]
		}
	}
	return found
}
