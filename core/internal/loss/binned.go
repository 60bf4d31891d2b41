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
	bs, newton, err := settle(sel, o, c, pt.sc)
	if err != nil {
		return walk.Result{}, err
	}
	var ba *moments.Basis
	if !pt.plan.Flat {
		if ba, err = moments.New(bs, newton, c, &pt.sc.Arena); err != nil {
			return walk.Result{}, err
		}
		pt.show(sel, bs.Count(), ba)
	}
	return pt.integrate(sel, bs, ba)
}

// settle returns the bins of a selection, with the means that moments.New needs.
func settle[T events.Float](sel *events.Selection[T], o *bins.Options, c *config.Config, sc *par.Scratch) (*bins.Bins, *moments.Newton, error) {
	bs, err := bins.New(sel, o, sc)
	if err != nil {
		return nil, nil, err
	}
	columns, newton := moments.Columns(sel, bs, c)
	return bs, newton, bins.Settle(bs, sel, o, columns, sel.Unit(), sc)
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
	return walk.Integrate(pt.out, &sel.Stats, in, rs, &p.Config, p.Logits, p.Measured, p.Smoothing, pt.sc)
}
