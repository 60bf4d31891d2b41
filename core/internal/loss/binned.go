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
	c := &pt.plan.Config
	sel, bs, newton, err := settle(pt.ev, pt.index, pt.plan.Masses[k], c, pt.sc)
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

// settle selects events and returns their bins, with the means that moments.New needs.
func settle[T events.Float](ev events.Events[T], index []uint32, o bins.Options, c *config.Config, sc *par.Scratch) (*events.Selection[T], *bins.Bins, *moments.Newton, error) {
	for {
		sel, err := events.Select(ev, index, nil, o.Limits, sc)
		if err != nil {
			return nil, nil, nil, err
		}
		bs, err := bins.New(sel, &o, sc)
		if err != nil {
			return nil, nil, nil, err
		}
		columns, newton := moments.Columns(sel, bs, c)
		settled, err := bins.Settle(bs, sel, &o, columns, sel.Unit(), sc)
		if err != nil || settled {
			return sel, bs, newton, err
		}
	}
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
