package moments

import (
	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
)

// Columns returns the functions of one variable of mass that cost nothing: their means over the bins are the columns of P.
// Polynomials have the basis that is returned with them; where moments are bounded, which are those of Legendre, P_1, P_2,
// ... follow, unless they can be made of the basis.
func Columns[T events.Float](sel *events.Selection[T], bs *bins.Bins, o *Options) (*bins.Columns, *Newton, error) {
	if k := KnotOutside(o.Knots, sel.MassLo, sel.MassHi); k >= 0 {
		return nil, nil, errs.Of(errs.ErrBin, "knots[%d] = %v does not lie inside the mass range [%v, %v] of the selected events: give a mass_range that has it inside",
			k, o.Knots[k], sel.MassLo, sel.MassHi)
	}
	if o.Splines {
		sp := newSpline(sel.MassLo, sel.MassHi, o.Knots, o.Degree)
		return &bins.Columns{Count: o.Functions(), Fill: func(values [][]float64, lo int) { fillSplines(values, sp, sel.Mass[lo:]) }}, nil, nil
	}
	order := o.Order
	if o.Quadrature {
		order = 0
	}
	nw := newNewton(sel, bs.Count(), order)
	if order <= 2 {
		low := &bins.Low{Factor: nw.factor}
		copy(low.Nodes[:], nw.nodes)
		return &bins.Columns{Count: order, One: true, Low: low}, nw, nil
	}
	co := &bins.Columns{Count: order, One: true}
	if o.Bounded() {
		co.Count *= 2
	}
	co.Fill = func(values [][]float64, lo int) {
		fillNewton(values, sel.Mass[lo:], nw)
		fillLegendre(values[order:], sel.Mass[lo:], sel.MassLo, sel.MassHi)
	}
	return co, nw, nil
}

// fillLegendre sets values[l-1] to P_l of masses, which [lo, hi] maps to [-1, 1].
func fillLegendre[T events.Float](values [][]float64, masses []T, lo, hi float64) {
	if len(values) == 0 {
		return
	}
	x := values[0]
	for i, m := range masses[:len(x)] {
		m := float64(m)
		x[i] = ((m - lo) - (hi - m)) / (hi - lo)
	}
	for l := 1; l < len(values); l++ { // as in legendre
		k := float64(l)
		next, now := values[l][:len(x)], values[l-1][:len(x)]
		if l == 1 {
			for i, x := range x {
				next[i] = (3*x*now[i] - 1) / 2
			}
			continue
		}
		before := values[l-2][:len(x)]
		for i, x := range x {
			next[i] = ((2*k+1)*x*now[i] - k*before[i]) / (k + 1)
		}
	}
}
