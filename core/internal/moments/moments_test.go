package moments

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libmode/libmode/core/internal/par"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// The columns of Q are orthonormal and Q R is what was decomposed; a column that depends on others is 0.
func TestQR(t *testing.T) {
	sc := par.Take()
	defer sc.Give()
	rng := rand.New(rand.NewPCG(1, 2))
	const rows, size = 9, 4
	given := make([]float64, rows*size)
	for i := range given {
		given[i] = rng.NormFloat64()
	}
	for i := range rows { // the third depends on the first two
		given[2*rows+i] = 3*given[i] - given[rows+i]
	}
	qr := NewQR(append([]float64(nil), given...), size, 1e-10, &sc.Arena)
	require.Equal(t, 3, qr.Rank)
	require.Zero(t, floats.Norm(qr.Column(2), 1))
	for l := range size {
		back := make([]float64, rows)
		for m := range l + 1 {
			floats.AddScaled(back, qr.R[m*size+l], qr.Column(m))
			if l != 2 && m != 2 {
				want := 0.
				if l == m {
					want = 1
				}
				require.InDelta(t, want, floats.Dot(qr.Column(l), qr.Column(m)), 1e-14)
			}
		}
		require.InDeltaSlice(t, given[l*rows:(l+1)*rows], back, 1e-13)
	}
}

// Which columns depend on others is the same in any unit.
func TestQRInAnyUnit(t *testing.T) {
	sc := par.Take()
	defer sc.Give()
	for _, unit := range []float64{1e-7, 1, 1e7} {
		columns := []float64{1, 1, 1, 1, -1, 2, 1 + 1e-5, 1 - 1e-5, 1} // the third is the first but for 1e-5
		floats.Scale(unit, columns)
		require.Equal(t, 2, NewQR(slices.Clone(columns), 3, 1e-3, &sc.Arena).Rank)
		require.Equal(t, 3, NewQR(slices.Clone(columns), 3, 1e-7, &sc.Arena).Rank)
	}
}

// Quadrature moments of a response that is constant in mass are this constant alone, for bins of equal widths.
func TestQuadrature(t *testing.T) {
	sc := par.Take()
	defer sc.Give()
	ba, err := New(nil, []float64{50, 100, 150, 200, 250}, 0, &Options{Order: 1, Quadrature: true, MaxSlope: math.Inf(1)}, &sc.Arena)
	require.NoError(t, err)
	c := make([]float64, 2)
	ba.Moments(c, []float64{0.3, 0.3, 0.3, 0.3})
	require.InDeltaSlice(t, []float64{0.3, 0}, c, 1e-15)
	ba.Moments(c, []float64{0, 0.25, 0.5, 0.75}) // x rises by .5 a bin: c_1 = 3/2 sum .5 x F
	require.InDeltaSlice(t, []float64{0.375, 1.5 * 0.5 * (-0.25*0.25 + 0.25*0.5 + 0.75*0.75)}, c, 1e-15)
}

// Bounded moments are those of the formulas, keep their signs, and change little far inside the bounds.
func TestBounds(t *testing.T) {
	ba := &Basis{Size: 4}
	for _, ofSelected := range []bool{false, true} {
		bo := NewBound(&Options{Order: 3, MaxSlope: 0.5, Monotonic: true, OfSelected: ofSelected}, ba)
		c := []float64{0.3, -0.2, 0.1, 0.01}
		t1 := 0.5 * 0.3
		if ofSelected {
			t1 = 0.5 * 0.7
		}
		first := t1 * math.Tanh(-0.2/t1)
		t2, t3 := math.Abs(first)/(2*3), math.Abs(first)/(2*6)
		require.InDeltaSlice(t, []float64{0.3, first, t2 * math.Tanh(0.1/t2), t3 * math.Tanh(0.01/t3)}, bo.Apply(c), 1e-14)
		require.Equal(t, []float64{0.3, -0.2, 0.1, 0.01}, c)
		require.Equal(t, []float64{0.3, 0, 0, 0}, bo.Apply([]float64{0.3, 0, 0.2, -0.1}))
	}
	free := NewBound(&Options{Order: 3, MaxSlope: 1e6}, ba)
	require.InDeltaSlice(t, []float64{0.3, -0.2, 0.1, 0.01}, free.Apply([]float64{0.3, -0.2, 0.1, 0.01}), 1e-9)
}
