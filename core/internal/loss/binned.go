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
	bs, ba, err := binsOf(sel, p.Kind, &v.Options, &o.Moments, sc)
	if err != nil {
		return walk.Result{}, err
	}
	rs, su := order.Sort(sel, bs, sc)
	return integrate(out, sel, p.Kind, o, bs, ba, rs, su, sc)
}

// limited returns a variable with the cells that its bins need.
func (p *Plan) limited(k int) Variable {
	v := p.Variables[k]
	v.Limits.Bins, v.Limits.Ranked = v.Options.Most(), v.Options.Kind == bins.Quantile
	return v
}

// binsOf returns the bins of a selection, and the basis of their moments, if the loss has any.
func binsOf[T events.Float](sel *events.Selection[T], kind Kind, b *bins.Options, m *moments.Options, sc *par.Scratch) (*bins.Bins, walk.Basis, error) {
	var ba walk.Basis
	bs, err := bins.New(sel, b, sc)
	if err != nil {
		return nil, ba, err
	}
	perBin := float64(sel.N) / float64(bs.Count())
	co := &bins.Columns{One: true, Low: new(bins.Low)}
	if kind == MoDe {
		if co, ba.Newton, err = moments.Columns(sel, bs, m); err != nil {
			return nil, ba, err
		}
	}
	means, err := bins.Settle(bs, sel, b, co, sel.Unit(), sc)
	if err == nil && kind == MoDe {
		ba.Basis, err = moments.New(bs, means, ba.Newton, perBin, m, &sc.Arena)
	}
	return bs, ba, err
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
