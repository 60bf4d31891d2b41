package disco

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
)

var inf = math.Inf(1)

// pairwise computes DisCo from all pairs, triples and quadruples that the means
// of its definition run over, without sums that are shared between them: by
// matrices in the plain form, and literally, in O(n^4), in the unbiased one.
type pairwise struct {
	x, y, weight []float64
	unbiased     bool
}

func (pw *pairwise) correlation() (value float64, gradX, gradY []float64) {
	covariance, ofY := pw.covariance(pw.x, pw.y)
	_, ofX := pw.covariance(pw.y, pw.x)
	varX, ofVarX := pw.covariance(pw.x, pw.x)
	varY, ofVarY := pw.covariance(pw.y, pw.y)
	norm := 1 / math.Sqrt(varX*varY)
	// Both places of a variable contribute the same to the derivative of its variance.
	for k := range pw.x {
		ofX[k] = norm * (ofX[k] - covariance/varX*ofVarX[k])
		ofY[k] = norm * (ofY[k] - covariance/varY*ofVarY[k])
	}
	return covariance * norm, ofX, ofY
}

// covariance returns dCov^2(x, y) = sum_jl C_jl |y_j - y_l| and its derivatives by y,
// with x fixed.
func (pw *pairwise) covariance(x, y []float64) (value float64, grad []float64) {
	c := pw.plainCoefficients(x)
	if pw.unbiased {
		c = pw.unbiasedCoefficients(x)
	}
	grad = make([]float64, len(y))
	for j := range y {
		for l := range y {
			value += c[j][l] * math.Abs(y[j]-y[l])
			grad[j] += c[j][l] * sign(y[j]-y[l])
			grad[l] += c[j][l] * sign(y[l]-y[j])
		}
	}
	return value, grad
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// plainCoefficients are p_j p_l A_jl, with the doubly centered distances A of x.
func (pw *pairwise) plainCoefficients(x []float64) [][]float64 {
	n := len(x)
	var total, mean float64
	for _, w := range pw.weight {
		total += w
	}
	row, c := make([]float64, n), make([][]float64, n)
	for i := range x {
		for j := range x {
			row[i] += pw.weight[j] / total * math.Abs(x[i]-x[j])
		}
		mean += pw.weight[i] / total * row[i]
	}
	for j := range x {
		c[j] = make([]float64, n)
		for l := range x {
			c[j][l] = pw.weight[j] * pw.weight[l] / (total * total) * (math.Abs(x[j]-x[l]) - row[j] - row[l] + mean)
		}
	}
	return c
}

// unbiasedCoefficients are those of b_jl in <a_ij b_ij> - 2 <a_ij b_ik> + <a_ij b_kl>.
func (pw *pairwise) unbiasedCoefficients(x []float64) [][]float64 {
	n, w := len(x), pw.weight
	pairs, triples, quadruples := make([][]float64, n), make([][]float64, n), make([][]float64, n)
	for i := range x {
		pairs[i], triples[i], quadruples[i] = make([]float64, n), make([]float64, n), make([]float64, n)
	}
	var s2, s3, s4 float64
	for i := range x {
		for j := range x {
			if i == j {
				continue
			}
			a, ij := math.Abs(x[i]-x[j]), w[i]*w[j]
			s2 += ij
			pairs[i][j] += ij * a
			for k := range x {
				if k == i || k == j {
					continue
				}
				s3 += ij * w[k]
				triples[i][k] += ij * w[k] * a
				for l := range x {
					if l == i || l == j || l == k {
						continue
					}
					s4 += ij * w[k] * w[l]
					quadruples[k][l] += ij * w[k] * w[l] * a
				}
			}
		}
	}
	for i := range x {
		for j := range x {
			pairs[i][j] = pairs[i][j]/s2 - 2*triples[i][j]/s3 + quadruples[i][j]/s4
		}
	}
	return pairs
}

// sample is the input of a call.
type sample struct{ x, y, weight []float64 }

func (s sample) correlation(unbiased bool) (value float64, gradX, gradY []float64, err error) {
	gradX, gradY = make([]float64, len(s.x)), make([]float64, len(s.x))
	value, err = Correlation(gradX, gradY, s.x, s.y, s.weight, unbiased)
	return value, gradX, gradY, err
}

// someEvents draws up to 150 events, with ties in either variable and in both, and x far from 0.
func someEvents(rng *rand.Rand, unbiased bool) sample {
	n := 2 + rng.IntN(150)
	if unbiased {
		n = 5 + rng.IntN(35)
	}
	s := sample{x: make([]float64, n), y: make([]float64, n)}
	steps := []float64{0, 3, 20}[rng.IntN(3)] // 0: no ties in y
	scale := math.Exp(5 * rng.NormFloat64())
	for i := range n {
		s.x[i] = rng.NormFloat64()
		if rng.IntN(4) == 0 {
			s.x[i] = math.Floor(s.x[i] * 2)
		}
		s.y[i] = rng.NormFloat64() + 0.3*s.x[i]*s.x[i]
		if steps > 0 {
			s.y[i] = math.Floor(s.y[i]*steps) / steps
		}
		s.y[i] *= scale
		s.x[i] += 1e3
	}
	s.y[0], s.y[1] = -3*scale, 3*scale // never all equal
	if rng.IntN(2) == 0 {
		s.weight = make([]float64, n)
		for i := range n {
			s.weight[i] = 1e5 * (0.2 + rng.Float64())
			if i > 3 && rng.IntN(10) == 0 {
				s.weight[i] *= -0.3
			}
		}
	}
	return s
}

func onesIfNil(weight []float64, n int) []float64 {
	if weight != nil {
		return weight
	}
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	return ones
}

// requireNear wants gradients to agree to tolerance times their largest element.
func requireNear(t *testing.T, want, got []float64, tolerance float64, what string) {
	t.Helper()
	require.InDeltaSlice(t, want, got, tolerance*floats.Norm(want, inf)+1e-300, what)
}

// The value and both gradients are those of the definition.
func TestAgainstAllPairs(t *testing.T) {
	for _, unbiased := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(3, 4))
		for k := range 150 {
			s := someEvents(rng, unbiased)
			value, gradX, gradY, err := s.correlation(unbiased)
			require.NoError(t, err)
			pw := pairwise{s.x, s.y, onesIfNil(s.weight, len(s.x)), unbiased}
			want, ofX, ofY := pw.correlation()
			what := fmt.Sprintf("unbiased %v, case %d, n = %d", unbiased, k, len(s.x))
			require.InDelta(t, want, value, 1e-11, what)
			requireNear(t, ofX, gradX, 1e-10, what)
			requireNear(t, ofY, gradY, 1e-10, what)
		}
	}
}

// On both sides of the size of a block, where most values are tied.
func TestBothSidesOfABlock(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for n := 1<<blockBits - 1; n <= 1<<blockBits+1; n++ {
		s := sample{make([]float64, n), make([]float64, n), nil}
		for i := range n {
			s.x[i] = float64(rng.IntN(300))
			s.y[i] = math.Floor(rng.Float64()*100 + s.x[i]/10)
		}
		value, gradX, gradY, err := s.correlation(false)
		require.NoError(t, err)
		want, ofX, ofY := (&pairwise{s.x, s.y, onesIfNil(nil, n), false}).correlation()
		require.InDelta(t, want, value, 1e-11, n)
		requireNear(t, ofX, gradX, 1e-10, fmt.Sprint(n))
		requireNear(t, ofY, gradY, 1e-10, fmt.Sprint(n))
	}
}

// manyEvents returns n events whose y hangs on x so much.
func manyEvents(n int, hangs float64) sample {
	rng := rand.New(rand.NewPCG(7, 8))
	s := sample{make([]float64, n), make([]float64, n), make([]float64, n)}
	for i := range n {
		x := rng.ExpFloat64()
		s.x[i] = 50 + math.Floor(80*x*0x1p20)*0x1p-20
		s.y[i] = 1 / (1 + math.Exp(-rng.NormFloat64()-hangs*x))
		s.weight[i] = rng.Float64() - 0.1
	}
	return s
}

// Neither a shift, nor the scale or the sign of anything, nor the order of events changes the result; the scale of a
// variable divides its gradient. That of many independent events is smallest beside the sums.
func TestInvariance(t *testing.T) {
	for _, of := range []struct {
		n                          int
		hangs, ofValue, ofGradient float64
	}{{3_000, 0.1, 1e-12, 1e-12}, {200_000, 0, 1e-13, 3e-10}} {
		s := manyEvents(of.n, of.hangs)
		other := sample{make([]float64, of.n), make([]float64, of.n), make([]float64, of.n)}
		order := rand.New(rand.NewPCG(1, 1)).Perm(of.n)
		for i, from := range order {
			other.y[i] = s.y[from] * -0x1p-300
			other.x[i] = s.x[from]*-0x1p220 + 0x1p230 // exact
			other.weight[i] = s.weight[from] * 0x1p150
		}
		for _, unbiased := range []bool{false, true} {
			want, gradX, gradY, err := s.correlation(unbiased)
			require.NoError(t, err)
			got, movedX, movedY, err := other.correlation(unbiased)
			require.NoError(t, err)
			assert.InDelta(t, want, got, of.ofValue)
			largestX, largestY := floats.Norm(gradX, inf), floats.Norm(gradY, inf)
			for i, from := range order {
				require.InDelta(t, gradX[from], movedX[i]*-0x1p220, of.ofGradient*largestX)
				require.InDelta(t, gradY[from], movedY[i]*-0x1p-300, of.ofGradient*largestY)
			}
		}
	}
}

// Results do not depend on the number of threads, to the last bit.
func TestThreads(t *testing.T) {
	defer par.SetThreads(0)
	s := manyEvents(100_000, 0.1)
	par.SetThreads(1)
	want, wantX, wantY, err := s.correlation(true)
	require.NoError(t, err)
	for _, threads := range []int{2, 7} {
		par.SetThreads(threads)
		value, gradX, gradY, err := s.correlation(true)
		require.NoError(t, err)
		require.Equal(t, want, value)
		require.Equal(t, wantX, gradX)
		require.Equal(t, wantY, gradY)
	}
}

// A derivative that float32 cannot hold is an error that names it.
func TestDerivativeBeyondItsType(t *testing.T) {
	x, y := make([]float32, 100), make([]float32, 100)
	for i := range x {
		x[i], y[i] = float32(i)*3e-45, float32(i*i%7)
	}
	_, err := Correlation(make([]float32, 100), nil, x, y, nil, false)
	require.ErrorIs(t, err, errs.ErrOverflow)
	require.ErrorContains(t, err, "the derivative overflows its type: the values are too close together")
}

// Every error names the argument, the value and the place.
func TestErrors(t *testing.T) {
	for want, change := range map[string]func(*sample){
		"y: all 20 events have the value 0.5":                     func(s *sample) { s.y = slices.Repeat([]float64{0.5}, 20) },
		"weight: the 20 events have sum of weights -40":           func(s *sample) { s.weight = slices.Repeat([]float64{-2}, 20) },
		"over 4 different events have a sum of weights of 0":      func(s *sample) { clear(s.weight[3:]) },
		"y: the distance variance of the 20 events is ":           func(s *sample) { s.y, s.weight = append(make([]float64, 19), 1), nil },
		"3 events, and DisCo with unbiased = true needs":          func(s *sample) { s.x, s.y, s.weight = s.x[:3], s.y[:3], s.weight[:3] },
		"x[4] = -Inf: must be finite":                             func(s *sample) { s.x[4] = -inf },
		"weight has length 0, but x has length 20":                func(s *sample) { s.weight = s.weight[:0] },
		"x: the events span [-1e+308, 1e+308], which is too wide": func(s *sample) { s.x[0], s.x[1] = -1e308, 1e308 },
	} {
		s := manyEvents(20, 0.1)
		change(&s)
		_, _, _, err := s.correlation(true)
		assert.ErrorContains(t, err, want)
	}
	s := manyEvents(20, 0.1)
	_, err := Correlation(make([]float64, 20), make([]float64, 19), s.x, s.y, s.weight, true)
	assert.ErrorContains(t, err, "grad_y has length 19, but x has length 20")
}
