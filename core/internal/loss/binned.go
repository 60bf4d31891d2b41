package loss

import (
	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/order"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/walk"
)

// binned returns the MoDe loss, or the flatness loss, of events with one mass, which is variable k.
func binned[T events.Float](out events.Derivatives[T], ev events.Events[T], index []uint32, p *Plan, k int, sc *par.Scratch) (walk.Result, error) {
	v := p.limited(k)
	sel, err := events.Select(ev, index, v.Limits, sc)
	if err != nil {
		return walk.Result{}, err
	}
	o := p.walk(k)
	se, err := settle(sel, &v.Options, &o.Moments, sc)
	if err != nil {
		return walk.Result{}, err
	}
	var ba walk.Basis
	if p.Kind == MoDe {
		if ba, err = se.basis(&o.Moments, sc); err != nil {
			return walk.Result{}, err
		}
	}
	rs, su := order.Sort(sel, se.bins, sc)
	return integrate(out, sel, p.Kind, o, se.bins, ba, rs, su, sc)
}

// limited returns a variable with the cells that its bins need.
func (p *Plan) limited(k int) Variable {
	v := p.Variables[k]
	v.Limits.Bins, v.Limits.Ranked = v.Options.Most(), v.Options.Kind == bins.Quantile
	return v
}

// settled is the bins of a selection, with what the basis of their moments is made of.
type settled struct {
	bins   *bins.Bins
	means  []float64
	newton *moments.Newton
	perBin float64 // the mean number of events in a bin
}

// settle returns the bins of a selection.
func settle[T events.Float](sel *events.Selection[T], b *bins.Options, m *moments.Options, sc *par.Scratch) (se settled, err error) {
	if se.bins, err = bins.New(sel, b, sc); err != nil {
		return se, err
	}
	se.perBin = float64(sel.N) / float64(se.bins.Count())
	var columns *bins.Columns
	if columns, se.newton, err = moments.Columns(sel, se.bins, m); err != nil {
		return se, err
	}
	se.means, err = bins.Settle(se.bins, sel, b, columns, sel.Unit(), sc)
	return se, err
}

func (se *settled) basis(m *moments.Options, sc *par.Scratch) (walk.Basis, error) {
	ba, err := moments.New(se.bins, se.means, se.newton, se.perBin, m, &sc.Arena)
	return walk.Basis{Basis: ba, Newton: se.newton}, err
}

// integrate returns the loss of sorted records.
func integrate[T events.Float](out events.Derivatives[T], sel *events.Selection[T], kind Kind, o *walk.Options, bs *bins.Bins, ba walk.Basis, rs *order.Records, su *order.Sums, sc *par.Scratch) (walk.Result, error) {
	var in *walk.Integrand
	var err error
	if kind == Flatness {
		in, err = walk.FlatIntegrand(bs, su, sel.Unit(), sc)
	} else {
		in, err = walk.NewIntegrand(o, ba, bs, rs, su, sel.Unit(), sc)
	}
	if err != nil {
		return walk.Result{}, err
	}
	return walk.Integrate(out, &sel.Stats, in, rs, su, o, sc)
}
