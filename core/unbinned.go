package core

import "slices"

// unbinnedLoss returns the loss of the events of one label without mass bins, the integral over the scores of
//
//	J(s)   = sum_{k = order+1 .. degree} a_k(s)^2 - bias(s)
//	a_k(s) = sum_i u_i q_k(x_i) Theta(s - s_i)
//
// with the shares u_i = w_i/W of the weights, and the polynomials q_k of degree k that are orthonormal with respect
// to the events' own masses and weights, sum_i u_i q_j(x_i) q_k(x_i) = 1 for j = k and 0 otherwise. They, and so J, do
// not depend on how masses map linearly onto x. The bias is that of a finite sample, see unbinned_bias.go. The time is
// O(n log n + n (degree + order^2)), and O(n degree^2) for the polynomials.
func unbinnedLoss[T Float](out derivatives[T], ev Events[T], index []uint32, cfg *Config, sc *scratch) (Result, error) {
	found, err := unbinnedOnce(out.grad(), ev, index, cfg, sc)
	if err != nil || !cfg.measured {
		return found, err
	}
	opposite := *cfg
	opposite.Unbiased = !cfg.Unbiased
	other, err := unbinnedOnce(nil, ev, index, &opposite, sc)
	if found.Bias = other.Loss - found.Loss; !cfg.Unbiased {
		found.Bias = -found.Bias
	}
	return found, err
}

func unbinnedOnce[T Float](grad []T, ev Events[T], index []uint32, cfg *Config, sc *scratch) (Result, error) {
	sel, err := selectEvents(ev, index, cfg, true, sc)
	if err != nil {
		return Result{}, err
	}
	if err := enoughMasses(sel, cfg.Degree); err != nil {
		return Result{}, err
	}
	rs := newRecords(sel, &bins{edges: []float64{sel.massLo, sel.massHi}, assigned: true}, sc)
	sum := rs.sortAndSum(sel.Weight, sel.unit(), 1, sc).all()[0]
	ub, err := newUnbinned(newSpectrum(rs, sel, sum, cfg.Degree, sc), cfg, sc)
	if err != nil {
		return Result{}, err
	}
	wa := &walk[T]{
		records: rs, in: &integrand{scale: 1}, limits: limitsOf(cfg, &sel.stats), grad: grad,
		walker: func(wa *walk[T]) walker { return &unbinnedWalker[T]{wa, ub} },
	}
	events := rs.effective() // now, since results take the place of weights
	found, err := wa.integrate(sc)
	found.Events = events
	return found, err
}

// enoughMasses returns an error where a weight is negative, or where there are fewer masses than orthonormal
// polynomials.
func enoughMasses[T Float](sel *selection[T], degree int) error {
	if sel.Weight != nil && sel.weightMin < 0 {
		for i, w := range sel.Weight {
			if w < 0 && sel.takesPart(i) {
				return errorOf(ErrOption, "weight[%d] = %v is negative, and binning = none needs weights >= 0: use bins", sel.inInput(i), w)
			}
		}
	}
	if found := distinctMasses(sel, degree+1); found <= degree {
		return tooFewMasses(degree, found, "")
	}
	return sel.checkMassRange()
}

func tooFewMasses(degree, found int, how string) error {
	return errorOf(ErrNoEvents, "degree = %d needs %d distinct masses, of events with weights above 0, and there are %d%s: "+
		"use a lower degree or larger batches", degree, degree+1, found, how)
}

// distinctMasses returns how many masses differ among the events that have a weight, or most.
func distinctMasses[T Float](sel *selection[T], most int) int {
	distinct := make([]T, 0, most)
	for i, m := range sel.Mass {
		if sel.takesPart(i) && (sel.Weight == nil || sel.Weight[i] > 0) && !slices.Contains(distinct, m) {
			if distinct = append(distinct, m); len(distinct) == most {
				break
			}
		}
	}
	return len(distinct)
}

// unbinned is J: the polynomials, and what it is made of where each chunk begins.
type unbinned struct {
	*spectrum
	order int
	rec   *recurrence
	bias  *unbinnedBias // nil: it stays
	size  int           // of a row
	rows  []float64     // sums over the events before each chunk, and over all events, see add
}

// newUnbinned finds the polynomials and the sums. The polynomials of a sample are corrected until they are
// orthonormal over all events; where they are too far from that, as with few events far from all others, they
// are found from all events.
func newUnbinned(sp *spectrum, cfg *Config, sc *scratch) (*unbinned, error) {
	ub := &unbinned{spectrum: sp, order: cfg.Order, size: triangle(sp.degree+1, 0)}
	if cfg.Unbiased {
		ub.bias = newUnbinnedBias(cfg.Order+1, sp)
		ub.size += ub.bias.sums()
	}
	rec, ok := sp.sampled(sc)
	for tries := 0; ok && tries < 3; tries++ {
		gr := ub.sum(rec, sc)
		if gr.isUnit() {
			return ub, ub.setBias()
		}
		ok = gr.correct(rec)
	}
	rec, found := newRecurrence(sp.degree, sp.all(sc))
	if found <= sp.degree {
		return nil, tooFewMasses(sp.degree, found, " that differ by more than rounding")
	}
	ub.sum(rec, sc)
	return ub, ub.setBias()
}

// sum finds the sums with these polynomials, and returns how these overlap over all events.
func (ub *unbinned) sum(rec *recurrence, sc *scratch) *gram {
	ub.rec = rec
	ub.rows = ub.sums(rec, ub.degree, ub.size, ub.add, sc)
	return newGram(ub.degree, ub.row(len(ub.chunks)-1))
}

// add adds a block of events to a row: to the overlaps of the polynomials, of which those with q_0 = 1
// are a_k, and to the sums that the bias needs.
func (ub *unbinned) add(c *polynomialBlock, row []float64) {
	addOverlaps(c, row)
	if ub.bias != nil {
		ub.bias.add(c, ub.ofBias(row))
	}
}

func (ub *unbinned) row(k int) []float64 { return ub.rows[k*ub.size : (k+1)*ub.size] }

func (ub *unbinned) ofBias(row []float64) []float64 { return row[triangle(ub.degree+1, 0):] }

// setBias completes the bias, if it is wanted.
func (ub *unbinned) setBias() error {
	if ub.bias == nil {
		return nil
	}
	return ub.bias.set(ub.ofBias(ub.row(len(ub.chunks) - 1)))
}

// start moves to where chunk k begins and returns J there.
func (ub *unbinned) start(k int, at *unbinnedPoint) (j float64) {
	row := ub.row(k)
	*at = unbinnedPoint{}
	for k := range ub.degree + 1 {
		at[k] = row[triangle(k, 0)]
	}
	for _, a := range at[ub.order+1 : ub.degree+1] {
		j += a * a
	}
	if ub.bias != nil {
		j -= ub.bias.start(ub.ofBias(row), at)
	}
	return j
}
