package core

import "github.com/libmode/libmode/core/internal/par"

// binnedLoss returns the MoDe loss, or the flatness loss, of the events of one subset,
// by the stages of doc.go in their order.
func binnedLoss[T Float](out derivatives[T], ev Events[T], index []uint32, cfg *Config, sc *scratch) (Result, error) {
	wa, err := newWalk(out, ev, index, cfg, sc)
	if err != nil {
		return Result{}, err
	}
	return wa.integrate(sc)
}

// newWalk goes through all stages but the last.
func newWalk[T Float](out derivatives[T], ev Events[T], index []uint32, cfg *Config, sc *scratch) (*walk[T], error) {
	sel, err := selectEvents(ev, index, cfg, true, sc)
	if err != nil {
		return nil, err
	}
	unit := sel.unit()
	bs, err := newBins(sel, cfg, unit, sc)
	if err != nil {
		return nil, err
	}
	rs := newRecords(sel, bs, sc)
	su := rs.sortAndSum(sel.Weight, unit, bs.count(), sc)
	return walkOf(out, sel, bs, rs, su, cfg, sc)
}

// walkOf returns the walk over records that are sorted, with bins that are final.
func walkOf[T Float](out derivatives[T], sel *selection[T], bs *bins, rs *records[T], su *sums, cfg *Config, sc *scratch) (*walk[T], error) {
	var in *integrand
	var err error
	if cfg.Loss == Flatness {
		in, err = newFlatIntegrand(bs, su.all(), sel.unit(), sc)
	} else {
		in, err = newIntegrand(cfg, bs, rs, su, sel.unit(), sc)
	}
	if err != nil {
		return nil, err
	}
	along := func(grad []T, in *integrand, su *sums) *walk[T] {
		return par.New(&sc.arena, walk[T]{
			records: rs, in: in, sums: su, limits: limitsOf(cfg, &sel.stats), grad: grad,
		})
	}
	if !cfg.measured {
		wa := along(out.grad(), in, su)
		if out.hess() != nil {
			wa.curved, err = newCurvature(along(out.hess(), in, su), in.linear, cfg.smoothing, sc)
		}
		return wa, err
	}
	plain, plainSums := in.plain(su, sc)
	if !cfg.Unbiased {
		wa := along(out.grad(), plain, plainSums)
		wa.unbiased = along(nil, in, su)
		return wa, nil
	}
	wa := along(out.grad(), in, su)
	wa.plain = along(nil, plain, plainSums)
	return wa, nil
}
