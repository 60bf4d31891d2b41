package moments

import (
	"math"
	"testing"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Legendre polynomials in closed form.
func TestLegendre(t *testing.T) {
	p := make([]float64, 5)
	for _, x := range []float64{-1, -0.3, 0, 0.7, 1} {
		legendre(p, x)
		x2 := x * x
		want := []float64{1, x, (3*x2 - 1) / 2, (5*x2 - 3) * x / 2, (35*x2*x2 - 30*x2 + 3) / 8}
		assert.InDeltaSlice(t, want, p, 1e-15)
	}
}

// Projection moments give the coefficients of a polynomial back, on bins so unequal that quadrature does not; A P = 1.
func TestProjection(t *testing.T) {
	edges := []float64{0, 1, 2, 5, 9, 30, 31, 100}
	unlimited := [2]float64{math.Inf(-1), math.Inf(1)}
	for order := 1; order < 7; order++ {
		o := Options{Order: order, MaxSlope: 1}
		b := bins.Options{Kind: bins.Given, Edges: edges, Functions: o.Functions()}
		var ev events.Events[float64]
		for k := range len(edges) - 1 { // of events anywhere in the bin
			ev.Mass = append(ev.Mass, edges[k]+0.3*(edges[k+1]-edges[k]))
		}
		ev.Score = ev.Mass
		sc := par.Take()
		sel, err := events.Select(ev, nil, nil, events.Limits{Mass: [2]float64{0, 100}, Score: unlimited}, sc)
		require.NoError(t, err)
		bs, err := bins.New(sel, &b, sc)
		require.NoError(t, err)
		co, nw, err := Columns(sel, bs, &o)
		require.NoError(t, err)
		means, err := bins.Settle(bs, sel, &b, co, 1, sc)
		require.NoError(t, err)
		ba, err := New(bs, means, nw, 1, &o, &sc.Arena)
		require.NoError(t, err)
		for l := range order + 1 {
			column, p := make([]float64, len(edges)-1), make([]float64, order+1)
			for b := range column {
				column[b] = ba.RowP(b)[l]
				legendre(p, ev.Mass[b]/50-1)
				require.InDelta(t, p[l], column[b], 1e-14)
			}
			c, want := make([]float64, order+1), make([]float64, order+1)
			ba.Moments(c, column)
			want[l] = 1
			assert.InDeltaSlice(t, want, c, 1e-9, "order %d, l = %d", order, l)
		}
		sc.Give()
	}
}

// Quadrature moments of a constant are that constant, whatever the bins, since the widths add up to 2.
func TestQuadratureOfConstant(t *testing.T) {
	ba, err := New(&bins.Bins{Edges: []float64{3, 4, 7, 8}}, nil, nil, 1, &Options{Quadrature: true, MaxSlope: math.Inf(1)}, new(par.Arena))
	require.NoError(t, err)
	c := make([]float64, 1)
	ba.Moments(c, []float64{0.4, 0.4, 0.4})
	assert.InDelta(t, 0.4, c[0], 1e-15)
}

// B-splines add up to 1, and none is negative.
func TestSplines(t *testing.T) {
	sp := newSpline(-1, 3, []float64{0, 0.5, 2}, 3)
	for _, x := range []float64{-1, -0.3, 0, 0.2, 0.5, 1.9, 2, 3} {
		var values [MaxSplineDegree + 1]float64
		first := sp.at(&values, x)
		sum := 0.0
		for _, v := range values[:4] {
			assert.GreaterOrEqual(t, v, -1e-15)
			sum += v
		}
		assert.InDelta(t, 1, sum, 1e-14)
		assert.LessOrEqual(t, first+4, sp.count())
	}
}
