package moments

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// projected returns the basis of events with these masses, and the mean Legendre polynomials over the bins, by definition.
func projected(t *testing.T, masses []float64, asked int, c *Options, sc *par.Scratch) (*Basis, [][]float64, error) {
	t.Helper()
	all := [2]float64{math.Inf(-1), math.Inf(1)}
	sel, err := events.Select(events.Events[float64]{Mass: masses}, nil, nil, events.Limits{Mass: all, Score: all}, sc)
	require.NoError(t, err)
	o := &bins.Options{Asked: asked, Order: c.Order}
	bs, err := bins.New(sel, o, sc)
	require.NoError(t, err)
	columns := Columns(sel, c)
	_, err = bins.Settle(bs, sel, o, columns, sc)
	require.NoError(t, err)
	ba, err := New(bs.Means, bs.Edges, sel.N, c, &sc.Arena)
	numbers := make([]uint32, len(masses))
	sel.FindBins(numbers, 0)
	p, counts := make([][]float64, bs.Count()), make([]float64, bs.Count())
	for i, b := range numbers {
		x := 2*(masses[i]-sel.MassLo)/(sel.MassHi-sel.MassLo) - 1
		if p[b] == nil {
			p[b] = make([]float64, c.Order+1)
		}
		// The sum over powers of x, where the library has a recursion.
		for l := range p[b] {
			for k := 0; 2*k <= l; k++ {
				p[b][l] += math.Pow(-1, float64(k)) * math.Gamma(float64(2*l-2*k+1)) / (math.Pow(2, float64(l)) * math.Gamma(float64(k+1)) *
					math.Gamma(float64(l-k+1)) * math.Gamma(float64(l-2*k+1))) * math.Pow(x, float64(l-2*k))
			}
		}
		counts[b]++
	}
	for b := range p {
		floats.Scale(1/counts[b], p[b])
	}
	return ba, p, err
}

// A is the least-squares fit of the mean polynomials, A'P = 1, and the residual of any CDFs is orthogonal to P. Bounds, which
// need P itself, get the mean polynomials, at any order.
func TestProjectionByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	masses := make([]float64, 3000)
	for i := range masses {
		masses[i] = 50 + 60*rng.ExpFloat64()
	}
	for order := range 7 {
		for _, c := range []*Options{
			{Order: order, MaxSlope: math.Inf(1)}, {Order: order, MaxSlope: math.Inf(1), SlopePenalty: 0.5},
			{Order: order, MaxSlope: 0.3}, {Order: order, MaxSlope: math.Inf(1), Monotonic: true},
		} {
			if order == 0 && (c.Bounded() || c.SlopePenalty > 0) || order < 2 && c.Monotonic {
				continue
			}
			sc := par.Take()
			ba, p, err := projected(t, masses, 9, c, sc)
			require.NoError(t, err)
			cdf := make([]float64, 9)
			for b := range cdf {
				cdf[b] = rng.Float64()
			}
			moments := make([]float64, order+1)
			ba.Moments(moments, cdf)
			for l := range order + 1 {
				for m := range order + 1 {
					product, want := 0.0, 0.0
					for b := range p {
						product += ba.RowA(b)[l] * p[b][m]
					}
					if l == m {
						want = 1
					}
					require.InDelta(t, want, product, 1e-9, "order %d: %d, %d", order, l, m)
				}
				orthogonal := 0.0
				for b := range p {
					orthogonal += (cdf[b] - floats.Dot(moments, p[b])) * p[b][l]
				}
				require.InDelta(t, 0, orthogonal, 1e-9)
			}
			for b := range p {
				if c.Bounded() {
					require.InDeltaSlice(t, p[b], ba.RowP(b), 1e-10)
				}
				residual := cdf[b] - floats.Dot(moments, p[b])
				other := make([]float64, order+1)
				ba.Orthonormal.Moments(other, cdf)
				require.InDelta(t, residual, cdf[b]-floats.Dot(other, ba.Orthonormal.RowP(b)), 1e-9, "the same functions")
			}
			if order > 0 {
				ba.Orthonormal.Moments(cdf[:order+1:order+1], append([]float64(nil), cdf...))
				require.InDelta(t, moments[1], floats.Dot(ba.Orthonormal.Slope, cdf[:order+1]), 1e-9, "Slope.c is c_1")
			}
			sc.Give()
		}
	}
}

// Something limits each moment that is used alone.
func TestUsedMoments(t *testing.T) {
	none := math.Inf(1)
	for _, of := range []struct {
		c        Options
		from, to int
	}{
		{Options{Order: 3, MaxSlope: none}, 0, 0}, {Options{Order: 3, MaxSlope: none, SlopePenalty: 1}, 1, 2},
		{Options{Order: 3, MaxSlope: 2}, 0, 2}, {Options{Order: 3, MaxSlope: 2, SlopePenalty: 1}, 0, 2},
		{Options{Order: 3, MaxSlope: none, Monotonic: true}, 0, 4},
	} {
		from, to := used(&of.c)
		require.Equal(t, [2]int{of.from, of.to}, [2]int{from, to}, of.c)
	}
}

// Masses far from all others are an error where rounding would change the gradient, and only there.
func TestFarMassesAreFoundOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	masses := make([]float64, 3000)
	for i := range masses {
		masses[i] = 50 + 60*rng.ExpFloat64()
	}
	for far, fails := range map[float64]bool{1e4: false, 1e6: false, 1e15: true} {
		masses[17] = far
		sc := par.Take()
		_, _, err := projected(t, masses, 9, &Options{Order: 2, MaxSlope: math.Inf(1), SlopePenalty: 0.1}, sc)
		if fails {
			require.ErrorContains(t, err, "mass = 1e+15 is so far from most others")
		} else {
			require.NoError(t, err, far)
		}
		sc.Give()
	}
	sc := par.Take()
	defer sc.Give()
	_, _, err := projected(t, masses[100:200], 4, &Options{Order: 5, MaxSlope: math.Inf(1)}, sc)
	require.ErrorContains(t, err, "fits 6 coefficients, but there are only 4 bins")
}

// The products of Legendre polynomials of two variables, in order of their total degree.
func TestJointColumns(t *testing.T) {
	require.Equal(t, [][events.MaxVariables]int{{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}}, Products(2, 2))
	require.Len(t, Products(3, 2), 10)
	require.Len(t, Products(1, 4), 5)
	masses := [][]float64{{0, 1, 4}, {10, 20, 30}}
	columns := JointColumns(masses, [events.MaxVariables][2]float64{{0, 4}, {10, 30}}, 2)
	require.Equal(t, 5, columns.Count)
	values := [][]float64{{0}, {0}, {0}, {0}, {0}}
	columns.Fill(values, 1) // x = -1/2, y = 0
	require.Equal(t, [][]float64{{-0.5}, {0}, {(3*0.25 - 1) / 2}, {0}, {-0.5}}, values)
	columns.Fill(values, 2)
	require.Equal(t, [][]float64{{1}, {1}, {1}, {1}, {1}}, values)
}

// The functions of cells, without functions that depend on earlier ones, and an error if they fit all bins.
func TestSpan(t *testing.T) {
	sc := par.Take()
	defer sc.Give()
	means := []float64{1, 2, 4, 1, 3, 6, 1, 5, 10, 1, 9, 18} // the third is twice the second
	ba, err := NewSpan(means, 4, 4, &sc.Arena)
	require.NoError(t, err)
	require.Equal(t, 2, ba.Size)
	require.True(t, ba.IsOrthonormal)
	c := make([]float64, 2)
	cdf := []float64{0.1, 0.2, 0.4, 0.8} // 0.1 (m - 1) is no constant, but a multiple of the second and the first
	ba.Moments(c, cdf)
	for b := range cdf {
		require.InDelta(t, cdf[b], floats.Dot(c, ba.RowP(b)), 1e-14)
	}
	for l, want := range [][]float64{{1, 0}, {0, 1}} {
		gram := make([]float64, 2)
		for b := range cdf {
			floats.AddScaled(gram, ba.RowP(b)[l], ba.RowP(b))
		}
		require.InDeltaSlice(t, want, gram, 1e-14)
	}
	means = []float64{1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1}
	for most, want := range map[float64]error{4: errs.ErrOption, 9: errs.ErrNoEvents} { // other events may fill more of the bins
		_, err = NewSpan(means, 4, most, &sc.Arena)
		require.ErrorContains(t, err, "4 functions of the mass fit 4 bins exactly")
		require.ErrorIs(t, err, want)
	}
}
