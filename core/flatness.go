package core

import "math"

// flatnessOfLabel returns the flatness loss of J. Stevens and M. Williams,
// arXiv:1305.7248, as arXiv:2010.09745 writes it,
//
//	L = sum_b share_b integral |F_b(s) - F(s)|^2 ds,   F(s) = sum_b share_b F_b(s)
//
// over ScoreRange, where share_b is the bin's fraction of the sum of weights, so
// that F is the CDF of all events.
func flatnessOfLabel[T Float](grad []T, sel *selection[T], cfg *Config, sc *scratch) (float64, error) {
	sw, cells, bins, err := newSweep(grad, sel, cfg, sc)
	if err != nil {
		return 0, err
	}
	sw.flat, sw.scale = true, 1
	return sw.run(cells, bins.edges, sc)
}

// setFlat makes the sweep follow sqrt(share_b) F_b in place of F_b. Then P_b =
// A_b = sqrt(share_b) gives the moment c = F and the residual sqrt(share_b)
// (F_b - F), whose squares J adds up.
func (sw *sweep[T]) setFlat(totals []float64) {
	var all float64
	for _, total := range totals {
		all += total
	}
	sw.basis = emptyBasis(sw.nb, 1)
	for b, total := range totals {
		root := math.Sqrt(total / all)
		sw.basis.p[b], sw.basis.a[b] = root, root
		sw.inverse[b] *= root
	}
	sw.basis.setGram()
}
