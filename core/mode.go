package core

// modeOfLabel returns the MoDe loss of the events of one label, by the stages of
// doc.go in their order.
func modeOfLabel[T Float](grad []T, ev Events[T], index []uint32, cfg *Config, sc *scratch) (float64, error) {
	wa, err := newModeWalk(grad, ev, index, cfg, sc)
	if err != nil {
		return 0, err
	}
	return wa.integrate(sc)
}

func newModeWalk[T Float](grad []T, ev Events[T], index []uint32, cfg *Config, sc *scratch) (*walk[T], error) {
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
	in, err := newIntegrand(cfg, bs, rs, su, unit, sc)
	if err != nil {
		return nil, err
	}
	return newWalk(in, rs, su, limitsOf(cfg, &sel.stats), scaleOf(cfg, in.bins), grad), nil
}
