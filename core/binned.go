package core

// binnedLoss returns the MoDe loss, or the flatness loss, of the events of one subset,
// by the stages of doc.go in their order.
func binnedLoss[T Float](grad []T, ev Events[T], index []uint32, cfg *Config, sc *scratch) (float64, error) {
	wa, err := newWalk(grad, ev, index, cfg, sc)
	if err != nil {
		return 0, err
	}
	return wa.integrate(sc)
}

// newWalk goes through all stages but the last.
func newWalk[T Float](grad []T, ev Events[T], index []uint32, cfg *Config, sc *scratch) (*walk[T], error) {
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
	su := rs.sort(sel.Weight, unit, bs.count(), sc)
	var in *integrand
	if cfg.Loss == Flatness {
		in, err = newFlatIntegrand(bs, su.all(), unit, sc)
	} else {
		in, err = newIntegrand(cfg, bs, rs, su, unit, sc)
	}
	if err != nil {
		return nil, err
	}
	return &walk[T]{
		records: rs, in: in, sums: su, limits: limitsOf(cfg, &sel.stats), grad: grad, walker: walkerOf[T](in, su, sc),
	}, nil
}
