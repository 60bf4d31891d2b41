package core

import (
	"math"

	"github.com/libmode/libmode/core/internal/par"
)

// newFlatIntegrand returns that of the flatness loss of J. Stevens and M. Williams,
// arXiv:1305.7248, as arXiv:2010.09745 writes it,
//
//	L = sum_b share_b integral |F_b(s) - F(s)|^2 ds,   F(s) = sum_b share_b F_b(s)
//
// over ScoreRange, where share_b is the bin's fraction of the sum of weights, so
// that F is the CDF of all events. It follows sqrt(share_b) F_b in
// place of F_b. Then P_b = A_b = sqrt(share_b) gives the moment c = F and the residual
// sqrt(share_b) (F_b - F), whose squares J adds up.
func newFlatIntegrand(bs *bins, totals []float64, weightUnit float64, sc *scratch) (*integrand, error) {
	in := par.New(&sc.arena, integrand{bins: bs.count(), scale: 1, basis: emptyBasis(bs.count(), 1, &sc.arena)})
	var err error
	if in.unit, err = inverseSums(bs, totals, weightUnit, &sc.arena); err != nil {
		return nil, err
	}
	var all float64
	for _, total := range totals {
		all += total
	}
	for b, total := range totals {
		root := math.Sqrt(total / all)
		in.basis.p[b], in.basis.a[b] = root, root
		in.unit[b] *= root
	}
	in.basis.setGram()
	in.linear = newLinear(in.basis, 0, in.unit, &sc.arena)
	return in, nil
}
