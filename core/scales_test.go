package core

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Only the ratios of the weights in a bin matter. Bins whose weights are hundreds of decades apart have the loss of bins whose weights
// are near, with given bins, and with bins of a default number, which count and merge.
func TestWeightsOfDifferentBinsMayBeFarApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(91, 92))
	const n = 600
	near := Events[float64]{}
	for range n {
		m := math.Floor(4 * rng.Float64())
		near.Score, near.Mass = append(near.Score, rng.Float64()), append(near.Mass, m+rng.Float64()/2)
		near.Weight = append(near.Weight, 0.5+rng.Float64())
	}
	far := near
	far.Weight = make([]float64, n)
	for i, w := range near.Weight {
		far.Weight[i] = math.Ldexp(w, []int{-520, 0, 490, -30}[int(near.Mass[i])])
	}
	for name, change := range map[string]func(*Config){
		"edges":    func(c *Config) { c.Binning, c.Edges = GivenEdges, []float64{0, 1, 2, 3, 4} },
		"measured": func(c *Config) { c.Binning, c.Edges, c.Order = GivenEdges, []float64{0, 1, 2, 3, 4}, 1 },
		"bounds": func(c *Config) {
			c.Binning, c.Edges, c.Order, c.Monotonic = GivenEdges, []float64{0, 1, 2, 3, 4}, 2, true
		},
		"many bins": func(c *Config) { c.Binning, c.Edges = GivenEdges, []float64{0, 0.25, 1, 1.25, 2, 2.25, 3, 3.25, 4} },
	} {
		cfg := DefaultConfig()
		change(&cfg)
		want, got := make([]float64, n), make([]float64, n)
		expected, err := Evaluate(want, near, cfg)
		require.NoError(t, err)
		found, err := Evaluate(got, far, cfg)
		require.NoError(t, err, name)
		require.InEpsilon(t, expected.Loss, found.Loss, 1e-12, name)
		require.InEpsilon(t, expected.Bias, found.Bias, 1e-12, name)
		require.InDeltaSlice(t, want, got, 1e-14, name)
	}
	// Bins of a default number lie inside the four clusters, so that each has weights of one size.
	cfg := DefaultConfig()
	cfg.MassRange = [2]float64{1, 2} // outside which a weight changes nothing
	want, err := Loss(near, cfg)
	require.NoError(t, err)
	got, err := Loss(far, cfg)
	require.NoError(t, err)
	require.InEpsilon(t, want, got, 1e-12)
	cfg.MassRange, cfg.Binning, cfg.Bins = noRange, Uniform, 0
	expected, err := Edges(near, cfg)
	require.NoError(t, err)
	edges, err := Edges(far, cfg)
	require.NoError(t, err)
	require.Equal(t, expected, edges)
	far.Weight[7] *= -1e10
	cfg = DefaultConfig()
	cfg.Binning, cfg.Edges = GivenEdges, []float64{0, 1, 2, 3, 4}
	_, err = Loss(far, cfg)
	require.ErrorIs(t, err, ErrBin)
}

// Rounding of the masses chooses no side of a bound, where all bins have the same fraction of events below a score.
func TestRoundingOfMassesChoosesNoSide(t *testing.T) {
	rng := rand.New(rand.NewPCG(93, 94))
	edges := []float64{0, 0.13, 0.2, 0.55, 0.9, 1}
	var ev Events[float64]
	for range 30 {
		for _, b := range rng.Perm(5) {
			ev.Mass = append(ev.Mass, edges[b]+(edges[b+1]-edges[b])*rng.Float64())
			ev.Score = append(ev.Score, float64(len(ev.Score)+1)/151)
		}
	}
	moved, movedEdges := ev, make([]float64, len(edges))
	moved.Mass = make([]float64, len(ev.Mass))
	for i, m := range ev.Mass {
		moved.Mass[i] = 3.7*m + 1000
	}
	for k, e := range edges {
		movedEdges[k] = 3.7*e + 1000
	}
	for _, quadrature := range []bool{false, true} {
		for _, biased := range []bool{false, true} {
			cfg := DefaultConfig()
			cfg.Order, cfg.Monotonic, cfg.Quadrature, cfg.Biased = 2, true, quadrature, biased
			cfg.Binning, cfg.Edges = GivenEdges, edges
			want, got := make([]float64, 150), make([]float64, 150)
			_, err := LossAndGrad(want, ev, cfg)
			require.NoError(t, err)
			cfg.Edges = movedEdges
			_, err = LossAndGrad(got, moved, cfg)
			require.NoError(t, err)
			requireClose(t, want, got, 1e-9)
		}
	}
}

// Fewer events than uniform bins of a variable leave cells empty, as the same grid of edges does.
func TestJointUniformBinsOfFewEvents(t *testing.T) {
	ev := Events[float64]{
		Score:  []float64{0.1, 0.9, 0.3, 0.6, 0.2, 0.8},
		Masses: [][]float64{{0, 1, 0.05, 0.95, 0.5, 0.52}, {0, 1, 0.02, 0.98, 0.5, 0.51}},
	}
	cfg := DefaultConfig()
	cfg.Joint, cfg.Biased, cfg.Binning, cfg.Bins = true, true, Uniform, 8
	got, err := Loss(ev, cfg)
	require.NoError(t, err)
	grid := []float64{0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1}
	cfg.Binning, cfg.Bins, cfg.Variables = GivenEdges, 0, []Variable{{MassRange: noRange, Edges: grid}, {MassRange: noRange, Edges: grid}}
	want, err := Loss(ev, cfg)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.InDelta(t, 0.7/9, got, 1e-15) // of three cells with two events each
}
