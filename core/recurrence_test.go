package core

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// massDistributions are those of the tests of polynomials.
var massDistributions = map[string]func(*rand.Rand) float64{
	"exponential":  func(rng *rand.Rand) float64 { return 50 + 60*rng.ExpFloat64() },
	"two clusters": func(rng *rand.Rand) float64 { return 100*float64(rng.IntN(2)) + 1e-3*rng.NormFloat64() },
	"heavy tail":   func(rng *rand.Rand) float64 { return math.Exp(2 * rng.NormFloat64()) },
	"Cauchy":       func(rng *rand.Rand) float64 { return rng.NormFloat64() / rng.NormFloat64() },
	"20 values":    func(rng *rand.Rand) float64 { return float64(rng.IntN(20)) },
	"some far":     func(rng *rand.Rand) float64 { return rng.Float64() + 1e4*math.Floor(rng.Float64()*1.001) },
}

// drawSpectrum returns one of n events, in chunks.
func drawSpectrum(draw func(*rand.Rand) float64, n int, weighted bool) *spectrum {
	rng := rand.New(rand.NewPCG(23, uint64(n)))
	sp := &spectrum{chunks: []int{0}, degree: MaxOrder}
	for i := range n {
		sp.x = append(sp.x, draw(rng))
		if weighted {
			sp.u = append(sp.u, rng.ExpFloat64())
		}
		if i%2048 == 2047 || i == n-1 {
			sp.chunks = append(sp.chunks, i+1)
		}
	}
	span := newSpan(floats.Min(sp.x), floats.Max(sp.x))
	for i, m := range sp.x {
		sp.x[i] = span.x(m)
	}
	if weighted {
		floats.Scale(1/floats.Sum(sp.u), sp.u)
	}
	return sp
}

// The polynomials of a spectrum are orthonormal over all of its events.
func TestPolynomialsAreOrthonormal(t *testing.T) {
	cfg := unbinnedConfig(0, MaxOrder)
	for name, draw := range massDistributions {
		for _, n := range []int{1_000, 5_000, 60_000, 1_000_000} {
			for _, weighted := range []bool{false, true} {
				if n == 1_000_000 && (weighted || name != "exponential" && name != "two clusters") {
					continue // which takes long, and tests no more
				}
				sc := takeScratch()
				sp := drawSpectrum(draw, n, weighted)
				ub, err := newUnbinned(sp, &cfg, sc)
				require.NoError(t, err)
				gr := newGram(MaxOrder, sp.all(sc)(ub.rec, MaxOrder, triangle(MaxOrder+1, 0), addOverlaps))
				giveScratch(sc)
				for k := range gr.size {
					gr.g[k][k]--
					require.LessOrEqual(t, largestOf(gr.g[k][:k+1]), 1e-11, "%s, %d events, degree %d", name, n, k)
				}
			}
		}
	}
}

// The polynomials of a spectrum are what the procedure of Stieltjes gives with 600 bits.
func TestPolynomialsAgainstManyBits(t *testing.T) {
	cfg := unbinnedConfig(0, MaxOrder)
	for name, draw := range massDistributions {
		for _, n := range []int{100, 3_000} {
			sc := takeScratch()
			sp := drawSpectrum(draw, n, false)
			ub, err := newUnbinned(sp, &cfg, sc)
			giveScratch(sc)
			require.NoError(t, err)
			var c polynomialBlock
			sp.load(&c, 0, n)
			ub.rec.evaluate(&c, MaxOrder)
			for k, q := range bigPolynomials(sp.x, MaxOrder) {
				floats.Sub(q, c.q[k])
				require.Less(t, floats.Norm(q, 2)/math.Sqrt(float64(n)), 1e-10, "%s, %d events, degree %d", name, n, k)
			}
		}
	}
}

// bigPolynomials returns the polynomials that are orthonormal over these x, by degree.
func bigPolynomials(x []float64, degree int) [][]float64 {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(v) }
	mean := func(f func(i int) *big.Float) *big.Float {
		sum := number(0)
		for i := range x {
			sum.Add(sum, f(i))
		}
		return sum.Quo(sum, number(float64(len(x))))
	}
	before, q, beta := make([]*big.Float, len(x)), make([]*big.Float, len(x)), number(0)
	for i := range x {
		before[i], q[i] = number(0), number(1)
	}
	var found [][]float64
	for {
		rounded := make([]float64, len(x))
		for i, v := range q {
			rounded[i], _ = v.Float64()
		}
		if found = append(found, rounded); len(found) > degree {
			return found
		}
		alpha := mean(func(i int) *big.Float { return number(0).Mul(number(x[i]), number(0).Mul(q[i], q[i])) })
		next := make([]*big.Float, len(x))
		for i := range x {
			next[i] = number(0).Mul(number(0).Sub(number(x[i]), alpha), q[i])
			next[i].Sub(next[i], number(0).Mul(beta, before[i]))
		}
		beta = number(0)
		beta.Sqrt(mean(func(i int) *big.Float { return number(0).Mul(next[i], next[i]) }))
		for _, v := range next {
			v.Quo(v, beta)
		}
		before, q = q, next
	}
}
