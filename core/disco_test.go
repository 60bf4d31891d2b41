package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pairwise computes DisCo from all pairs, triples and quadruples that the means
// of its definition run over, without sums that are shared between them: by
// matrices in the plain form, and literally, in O(n^4), in the unbiased one.
type pairwise struct {
	mass, score, weight []float64
	unbiased            bool
}

func (pw *pairwise) discoAndGrad() (float64, []float64) {
	n := len(pw.mass)
	cov, dcov := pw.covariance(pw.mass, pw.score)
	massVar, _ := pw.covariance(pw.mass, pw.mass)
	variance, dvar := pw.covariance(pw.score, pw.score)
	norm := 1 / math.Sqrt(massVar*variance)
	grad := make([]float64, n)
	for k := range grad {
		// Both places of the scores contribute the same to the derivative of their variance.
		grad[k] = norm * (dcov[k] - cov/variance*dvar[k])
	}
	return cov * norm, grad
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

// plainCoefficients are p_j p_l A_jl, with the doubly centred distances A of x.
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

// discoCase draws events, with ties in score and mass, and masses far from 0.
func discoCase(rng *rand.Rand, unbiased bool) Events[float64] {
	n := 2 + rng.IntN(150)
	if unbiased {
		n = 5 + rng.IntN(35)
	}
	ev := Events[float64]{Score: make([]float64, n), Mass: make([]float64, n)}
	steps := []float64{0, 3, 20}[rng.IntN(3)] // 0: no ties in score
	scale := math.Exp(5 * rng.NormFloat64())
	for i := range n {
		ev.Mass[i] = rng.NormFloat64()
		if rng.IntN(4) == 0 {
			ev.Mass[i] = math.Floor(ev.Mass[i] * 2)
		}
		ev.Score[i] = rng.NormFloat64() + 0.3*ev.Mass[i]*ev.Mass[i]
		if steps > 0 {
			ev.Score[i] = math.Floor(ev.Score[i]*steps) / steps
		}
		ev.Score[i] *= scale
	}
	ev.Score[0], ev.Score[1] = -3*scale, 3*scale // never all equal
	if rng.IntN(2) == 0 {
		ev.Weight = make([]float64, n)
		for i := range n {
			ev.Weight[i] = 1e5 * (0.2 + rng.Float64())
			if i > 3 && rng.IntN(10) == 0 {
				ev.Weight[i] *= -0.3
			}
		}
	}
	return ev
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

func largestOf(values []float64) (largest float64) {
	for _, v := range values {
		largest = math.Max(largest, math.Abs(v))
	}
	return largest
}

// TestDisCoAgainstAllPairs compares value and gradient with the definition.
func TestDisCoAgainstAllPairs(t *testing.T) {
	for _, unbiased := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(3, 4))
		cfg := DefaultConfig(DisCo)
		cfg.Unbiased = unbiased
		for compared := range 150 {
			ev := discoCase(rng, unbiased)
			n := len(ev.Score)
			got := make([]float64, n)
			value, err := LossAndGrad(got, ev, cfg)
			require.NoError(t, err)
			pw := pairwise{ev.Mass, ev.Score, onesIfNil(ev.Weight, n), unbiased}
			want, grad := pw.discoAndGrad()
			what := fmt.Sprintf("unbiased %v, case %d, n = %d", unbiased, compared, n)
			require.InDelta(t, want, value, 1e-11, what)
			require.InDeltaSlice(t, grad, got, 1e-10*largestOf(grad)+1e-300, what)
		}
	}
}

// TestDisCoUnbiasedIsUCentred compares with the U-centred distances of Szekely
// and Rizzo, arXiv:1310.2926, eqs. 2.1 and 2.2.
func TestDisCoUnbiasedIsUCentred(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	cfg := DefaultConfig(DisCo)
	cfg.Unbiased = true
	for range 20 {
		ev := discoCase(rng, false)
		n := len(ev.Score)
		if n < 4 {
			continue
		}
		ev.Weight = nil
		centred := func(z []float64) [][]float64 {
			row, total := make([]float64, n), 0.0
			for i := range z {
				for j := range z {
					row[i] += math.Abs(z[i] - z[j])
				}
				total += row[i]
			}
			u := make([][]float64, n)
			m := float64(n)
			for i := range z {
				u[i] = make([]float64, n)
				for j := range z {
					if i != j {
						u[i][j] = math.Abs(z[i]-z[j]) - row[i]/(m-2) - row[j]/(m-2) + total/((m-1)*(m-2))
					}
				}
			}
			return u
		}
		product := func(a, b [][]float64) (sum float64) {
			for i := range a {
				for j := range a {
					sum += a[i][j] * b[i][j]
				}
			}
			return sum
		}
		a, b := centred(ev.Mass), centred(ev.Score)
		got, err := LossAndGrad(nil, ev, cfg)
		require.NoError(t, err)
		require.InDelta(t, product(a, b)/math.Sqrt(product(a, a)*product(b, b)), got, 1e-11, "n = %d", n)
	}
}

// manyEvents returns n events of which the score hangs on the mass a little.
func manyEvents[T Float](n int, weighted bool) Events[T] {
	rng := rand.New(rand.NewPCG(7, 8))
	ev := Events[T]{Score: make([]T, n), Mass: make([]T, n)}
	for i := range n {
		m := rng.ExpFloat64()
		ev.Mass[i] = T(50 + 80*m)
		ev.Score[i] = T(1 / (1 + math.Exp(-rng.NormFloat64()-0.1*m)))
	}
	if weighted {
		ev.Weight = make([]T, n)
		for i := range n {
			ev.Weight[i] = T(rng.Float64() - 0.1)
		}
	}
	return ev
}

// Neither a shift of the masses, nor the scale of anything, nor the order of
// events changes the result; scores scale the gradient.
func TestDisCoInvariance(t *testing.T) {
	const n = 3000
	ev := manyEvents[float64](n, true)
	for _, unbiased := range []bool{false, true} {
		cfg := DefaultConfig(DisCo)
		cfg.Unbiased = unbiased
		grad := make([]float64, n)
		other := Events[float64]{Score: make([]float64, n), Mass: make([]float64, n), Weight: make([]float64, n)}
		order := rand.New(rand.NewPCG(1, 1)).Perm(n)
		for i, from := range order {
			other.Score[i] = ev.Score[from] * 0x1p-300
			other.Mass[i] = math.Floor(ev.Mass[from]*0x1p20)*0x1p200 + 0x1p230 // exact
			other.Weight[i] = ev.Weight[from] * 0x1p150
		}
		rounded := ev
		rounded.Mass = make([]float64, n)
		for i, m := range ev.Mass {
			rounded.Mass[i] = math.Floor(m*0x1p20) * 0x1p-20
		}
		want, err := LossAndGrad(grad, rounded, cfg)
		require.NoError(t, err)
		moved := make([]float64, n)
		got, err := LossAndGrad(moved, other, cfg)
		require.NoError(t, err)
		assert.InDelta(t, want, got, 1e-12)
		for i, from := range order {
			require.InDelta(t, grad[from], moved[i]*0x1p-300, 1e-12*largestOf(grad))
		}
	}
}

// With many events that are independent, where the gradient is smallest beside
// the sums, it is the same from the other end of the masses and of the scores.
func TestDisCoRounding(t *testing.T) {
	const n = 200_000
	rng := rand.New(rand.NewPCG(11, 12))
	ev := Events[float64]{Score: make([]float64, n), Mass: make([]float64, n), Weight: make([]float64, n)}
	mirror := Events[float64]{Score: make([]float64, n), Mass: make([]float64, n), Weight: ev.Weight}
	for i := range n {
		ev.Score[i], ev.Mass[i], ev.Weight[i] = rng.Float64(), rng.ExpFloat64(), 1+rng.NormFloat64()
		mirror.Score[i], mirror.Mass[i] = -ev.Score[i], -ev.Mass[i]
	}
	for _, unbiased := range []bool{false, true} {
		cfg := DefaultConfig(DisCo)
		cfg.Unbiased = unbiased
		grad, other := make([]float64, n), make([]float64, n)
		loss, err := LossAndGrad(grad, ev, cfg)
		require.NoError(t, err)
		again, err := LossAndGrad(other, mirror, cfg)
		require.NoError(t, err)
		assert.InDelta(t, loss, again, 1e-13)
		largest := largestOf(grad)
		for i, g := range grad {
			require.InDelta(t, g, -other[i], 3e-10*largest)
		}
	}
}

// Results do not depend on the number of threads, to the last bit.
func TestDisCoThreads(t *testing.T) {
	defer SetThreads(0)
	const n = 100_000
	ev := manyEvents[float32](n, true)
	cfg := DefaultConfig(DisCo)
	cfg.Unbiased = true
	SetThreads(1)
	want := make([]float32, n)
	loss, err := LossAndGrad(want, ev, cfg)
	require.NoError(t, err)
	for _, threads := range []int{2, 7} {
		SetThreads(threads)
		grad := make([]float32, n)
		again, err := LossAndGrad(grad, ev, cfg)
		require.NoError(t, err)
		require.Equal(t, loss, again)
		require.Equal(t, want, grad)
	}
}

// Events of other labels take no part; several labels add up.
func TestDisCoLabels(t *testing.T) {
	ev := manyEvents[float64](1000, true)
	cfg := DefaultConfig(DisCo)
	var want float64
	all := make([]float64, 1000)
	for part := range 2 {
		lo, hi := 500*part, 500*part+500
		half := Events[float64]{Score: ev.Score[lo:hi], Mass: ev.Mass[lo:hi], Weight: ev.Weight[lo:hi]}
		loss, err := LossAndGrad(all[500*part:500*part+500], half, cfg)
		require.NoError(t, err)
		want += loss
	}
	labels := make([]int32, 1003)
	for i := 500; i < 1000; i++ {
		labels[i] = 4
	}
	for i := 1000; i < 1003; i++ {
		labels[i] = 2
		ev.Score, ev.Mass, ev.Weight = append(ev.Score, nan), append(ev.Mass, inf), append(ev.Weight, nan)
	}
	ev.Label = LabelsOf(labels)
	cfg.BackgroundLabel = []int32{0, 4}
	grad := make([]float64, 1003)
	loss, err := LossAndGrad(grad, ev, cfg)
	require.NoError(t, err)
	assert.Equal(t, want, loss)
	assert.Equal(t, append(all, 0, 0, 0), grad)
}

// Every error of DisCo is named, with the value and its place.
func TestDisCoErrors(t *testing.T) {
	type config = func(*Config)
	unbiased := func(c *Config) { c.Unbiased = true }
	short := func(n int) func(*Events[float64]) {
		return func(e *Events[float64]) { e.Score, e.Mass, e.Weight = e.Score[:n], e.Mass[:n], e.Weight[:n] }
	}
	fill := func(s []float64, value float64) {
		for i := range s {
			s[i] = value
		}
	}
	for _, test := range []struct {
		want   string
		kind   error
		events func(*Events[float64])
		config config
	}{
		{"score: all 20 selected events have the same score 0.5, so that DisCo is 0/0", ErrUndefined, func(e *Events[float64]) { fill(e.Score, 0.5) }, nil},
		{"mass: all 20 selected events have the same mass 91, so that DisCo is 0/0", ErrUndefined, func(e *Events[float64]) { fill(e.Mass, 91) }, nil},
		{"weight: the 20 selected events have sum of weights -40", ErrUndefined, func(e *Events[float64]) { fill(e.Weight, -2) }, nil},
		{"weight: the 20 selected events have sum of weights 0", ErrUndefined, func(e *Events[float64]) { fill(e.Weight, 0) }, nil},
		{"the means over 4 different events have a sum of weights of 0 times", ErrUndefined, func(e *Events[float64]) { fill(e.Weight[3:], 0) }, unbiased},
		{"mass: the distance variance of the 20 selected events is 0 times", ErrUndefined, func(e *Events[float64]) { fill(e.Weight[1:], 0) }, nil},
		{"score: the distance variance of the 20 selected events is ", ErrUndefined, func(e *Events[float64]) {
			fill(e.Score, 0.5)
			e.Score[7], e.Weight = 0.6, nil
		}, unbiased},
		{"1 selected events, and DisCo with unbiased = false needs at least 2", ErrNoEvents, short(1), nil},
		{"3 selected events, and DisCo with unbiased = true needs at least 4", ErrNoEvents, short(3), unbiased},
		{"mass is empty", ErrNoEvents, short(0), nil},
		{"score[3] = NaN", ErrNotFinite, func(e *Events[float64]) { e.Score[3] = nan }, nil},
		{"score[3] = +Inf", ErrNotFinite, func(e *Events[float64]) { e.Score[3] = inf }, nil},
		{"mass[4] = -Inf", ErrNotFinite, func(e *Events[float64]) { e.Mass[4] = -inf }, nil},
		{"weight[5] = NaN", ErrNotFinite, func(e *Events[float64]) { e.Weight[5] = nan }, nil},
		{"mass has length 19", ErrLength, func(e *Events[float64]) { e.Mass = e.Mass[1:] }, nil},
		{"mass: the selected events span", ErrOverflow, func(e *Events[float64]) { e.Mass[0], e.Mass[1] = -1e308, 1e308 }, nil},
		{"grad[", ErrOverflow, func(e *Events[float64]) {
			for i := range e.Score {
				e.Score[i] *= 1e-310
			}
		}, nil},
		{"score: the distance variance of the 20 selected events is ", ErrUndefined, func(e *Events[float64]) {
			e.Score[0], e.Weight[0] = 1e160, 0
		}, nil},
		{"background_label = [] must name", ErrOption, nil, func(c *Config) { c.BackgroundLabel = nil }},
	} {
		ev, cfg := manyEvents[float64](20, true), DefaultConfig(DisCo)
		if test.events != nil {
			test.events(&ev)
		}
		if test.config != nil {
			test.config(&cfg)
		}
		_, err := LossAndGrad(make([]float64, len(ev.Score)), ev, cfg)
		assert.ErrorIs(t, err, test.kind, test.want)
		assert.ErrorContains(t, err, test.want)
	}
}
