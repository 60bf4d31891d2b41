package loss

import (
	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/config"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/order"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/walk"
)

// binned returns the MoDe loss, or the flatness loss, of events with one mass, which is variable k.
func (pt part[T]) binned(k int) (walk.Result, error) {
	defer pt.sc.Arena.Release(pt.sc.Arena.Mark())
	o, c := &pt.plan.Masses[k], &pt.plan.Config
	sel, err := events.Select(pt.ev, pt.index, nil, o.Limits, pt.sc)
	if err != nil {
		return walk.Result{}, err
	}
	se, err := settle(sel, o, c, pt.sc)
	if err != nil {
		return walk.Result{}, err
	}
	var ba *moments.Basis
	if !pt.plan.Flat {
		if ba, err = se.basis(c, pt.sc); err != nil {
			return walk.Result{}, err
		}
		pt.show(sel, se.bins.Count(), ba)
	}
	return pt.integrate(sel, se.bins, ba)
}

// settled has the bins of a selection, and the sums that the basis of their moments needs.
type settled struct {
	bins   *bins.Bins
	means  []float64
	newton *moments.Newton
}

// settle finds the bins of a selection.
func settle[T events.Float](sel *events.Selection[T], o *bins.Options, c *config.Config, sc *par.Scratch) (se settled, err error) {
	if se.bins, err = bins.New(sel, o, sc); err != nil {
		return se, err
	}
	columns, newton := moments.Columns(sel, se.bins, c)
	se.newton = newton
	se.means, err = bins.Settle(se.bins, sel, o, columns, sel.Unit(), sc)
	return se, err
}

func (se *settled) basis(c *config.Config, sc *par.Scratch) (*moments.Basis, error) {
	return moments.New(se.bins, se.means, se.newton, c, &sc.Arena)
}

// integrate sorts the events and returns the integral of J. Flatness has no basis.
func (pt part[T]) integrate(sel *events.Selection[T], bs *bins.Bins, ba *moments.Basis) (walk.Result, error) {
	p := pt.plan
	rs := order.Sort(sel, bs, pt.sc)
	var in *walk.Integrand
	var err error
	if p.Flat {
		in, err = walk.FlatIntegrand(bs, rs, sel.Unit(), pt.sc)
	} else {
		in, err = walk.NewIntegrand(&p.Config, p.Measured, ba, bs, rs, sel.Unit(), pt.sc)
	}
	if err != nil {
		return walk.Result{}, err
	}
	return walk.Integrate(pt.out, &sel.Stats, in, rs, &p.Config, p.Measured, p.Smoothing, pt.sc)
}
