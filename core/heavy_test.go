package core

import (
	"cmp"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// exactOrder0 returns the unbiased loss of order 0 and its gradient, for given bins and scores in 0..1 that differ, in numbers of
// 200 bits and from scratch at every score:
//
//	J = sum_b F_b^2 - (sum_b F_b)^2/B - (1 - 1/B) sum_b V_b
func exactOrder0(score, weight []float64, bin []int, bins int) (float64, []float64) {
	order := make([]int, len(score))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(score[i], score[j]) })
	var total, totals, thirds []*big.Float
	power := func(w float64, k int) *big.Float {
		of := long(1)
		for range k {
			of.Mul(of, long(w))
		}
		return of
	}
	sums := func(k int) []*big.Float {
		found := make([]*big.Float, bins)
		for b := range found {
			found[b] = long(0)
		}
		for i, w := range weight {
			found[bin[i]].Add(found[bin[i]], power(w, k))
		}
		return found
	}
	total, totals, thirds = sums(1), sums(2), sums(3)
	integrand := func(below int) *big.Float { // where the first events in order are below
		f, s := make([]*big.Float, bins), make([]*big.Float, bins)
		for b := range f {
			f[b], s[b] = long(0), long(0)
		}
		for _, i := range order[:below] {
			f[bin[i]].Add(f[bin[i]], long(weight[i]))
			s[bin[i]].Add(s[bin[i]], power(weight[i], 2))
		}
		mean, squares, variances := long(0), long(0), long(0)
		for b := range f {
			w, w2 := total[b], long(0).Mul(total[b], total[b])
			f[b].Quo(f[b], w)
			mean.Add(mean, f[b])
			squares.Add(squares, long(0).Mul(f[b], f[b]))
			v := long(0).Mul(s[b], long(0).Sub(long(1), long(0).Mul(long(2), f[b])))
			v.Add(v, long(0).Mul(long(0).Mul(f[b], f[b]), totals[b]))
			v.Quo(v, w2)
			share := long(0).Quo(long(0).Mul(long(-2), thirds[b]), long(0).Mul(totals[b], w))
			share.Add(share, long(1)).Add(share, long(0).Quo(totals[b], w2))
			variances.Add(variances, v.Quo(v, share))
		}
		n := long(float64(bins))
		j := long(0).Sub(squares, long(0).Quo(long(0).Mul(mean, mean), n))
		part := long(0).Sub(long(1), long(0).Quo(long(1), n))
		return j.Sub(j, part.Mul(part, variances))
	}
	loss, grad := long(0), make([]float64, len(score))
	for below := range order {
		from := long(0)
		if below > 0 {
			from = long(score[order[below-1]])
		}
		j := integrand(below)
		loss.Add(loss, long(0).Mul(j, long(0).Sub(long(score[order[below]]), from)))
		grad[order[below]], _ = long(0).Sub(j, integrand(below+1)).Float64()
	}
	loss.Add(loss, long(0).Mul(integrand(len(order)), long(0).Sub(long(1), long(score[order[len(order)-1]]))))
	value, _ := loss.Float64()
	return value, grad
}

// One event has nearly all of the weight of its bin, and others of that bin are below and above it: V_b, a small difference of
// large sums, keeps its digits.
func TestDominatedBins(t *testing.T) {
	for _, largest := range []float64{300, 1e4, 1e5, -1e4} {
		for _, n := range []int{40, 400} {
			rng := rand.New(rand.NewPCG(31, uint64(n)))
			const bins = 4
			ev := Events[float64]{Score: make([]float64, n), Mass: make([]float64, n), Weight: make([]float64, n)}
			bin := make([]int, n)
			for i := range n {
				bin[i] = i % bins
				ev.Score[i], ev.Mass[i], ev.Weight[i] = rng.Float64(), float64(bin[i])+rng.Float64(), 0.5+rng.Float64()
			}
			ev.Score[6], ev.Weight[6] = 0.5, largest
			if largest < 0 { // with a sum of weights that is positive still
				ev.Weight[10] = -1.001 * largest
			}
			cfg := DefaultConfig(MoDe)
			cfg.Order, cfg.Binning, cfg.Edges, cfg.Reduction = 0, GivenEdges, []float64{0, 1, 2, 3, 4}, Sum
			got := make([]float64, n)
			value, err := LossAndGrad(got, ev, cfg)
			require.NoError(t, err)
			loss, grad := exactOrder0(ev.Score, ev.Weight, bin, bins)
			require.InEpsilon(t, loss, value, 1e-9, largest)
			requireClose(t, grad, got, 1e-9)
		}
	}
}
