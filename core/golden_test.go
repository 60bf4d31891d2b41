package core

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goldenCase is one of tests/golden/mode_loss.json, whose losses and gradients
// come from a brute-force oracle in extended precision.
type goldenCase struct {
	Name    string
	Options struct {
		Order        int
		MaxSlope     *float64 `json:"max_slope"`
		SlopeOf      string   `json:"slope_of"`
		Monotonic    bool
		Moments      string
		Unbiased     bool
		SlopePenalty float64     `json:"slope_penalty"`
		ScoreRange   *[2]float64 `json:"score_range"`
		Reduction    string
		Binning      string
		Bins         int
		Edges        []float64
		MassRange    *[2]float64 `json:"mass_range"`
	}
	Score, Mass, Weight []float64
	Loss                float64
	Grad                []float64
}

func (g *goldenCase) config() Config {
	o := g.Options
	cfg := DefaultConfig()
	cfg.Order, cfg.Monotonic, cfg.Unbiased = o.Order, o.Monotonic, o.Unbiased
	cfg.SlopePenalty, cfg.Edges, cfg.Bins = o.SlopePenalty, o.Edges, o.Bins
	cfg.Binning = map[string]Binning{"quantile": Quantile, "uniform": Uniform, "edges": GivenEdges}[o.Binning]
	cfg.Moments = map[string]MomentKind{"quadrature": Quadrature, "projection": Projection}[o.Moments]
	cfg.SlopeOf = map[string]SlopeOf{"rejected": Rejected, "selected": Selected}[o.SlopeOf]
	cfg.Reduction = map[string]Reduction{"mean": Mean, "sum": Sum}[o.Reduction]
	if o.MaxSlope != nil {
		cfg.MaxSlope = *o.MaxSlope
	}
	cfg.ScoreRange, cfg.MassRange = unbounded(), unbounded()
	if o.ScoreRange != nil {
		cfg.ScoreRange = *o.ScoreRange
	}
	if o.MassRange != nil {
		cfg.MassRange = *o.MassRange
	}
	return cfg
}

func goldenCases(t *testing.T) []goldenCase {
	text, err := os.ReadFile("../tests/golden/mode_loss.json")
	require.NoError(t, err)
	var cases []goldenCase
	require.NoError(t, json.Unmarshal(text, &cases))
	require.NotEmpty(t, cases)
	return cases
}

// requireClose asks for |a-b| <= tol * the largest |b|.
func requireClose(t *testing.T, want, got []float64, tol float64) {
	t.Helper()
	require.Len(t, got, len(want))
	var largest, worst float64
	at := 0
	for i := range want {
		largest = math.Max(largest, math.Abs(want[i]))
		if d := math.Abs(want[i] - got[i]); d > worst || math.IsNaN(d) {
			worst, at = d, i
		}
	}
	require.LessOrEqualf(t, worst, tol*largest, "element %d: want %v, got %v", at, want[at], got[at])
}

func TestGolden(t *testing.T) {
	for _, g := range goldenCases(t) {
		t.Run(g.Name, func(t *testing.T) {
			checkGolden[float64](t, &g, 1e-9)
			checkGolden[float32](t, &g, 1e-5) // the precision of the inputs
		})
	}
}

func checkGolden[T Float](t *testing.T, g *goldenCase, tol float64) {
	grad := make([]T, len(g.Score))
	ev := Events[T]{Score: convert[T](g.Score), Mass: convert[T](g.Mass), Weight: convert[T](g.Weight)}
	loss, err := LossAndGrad(grad, ev, g.config())
	require.NoError(t, err)
	assert.InDelta(t, g.Loss, loss, tol*math.Abs(g.Loss))
	requireClose(t, g.Grad, convert[float64](grad), tol)
	alone, err := Loss(ev, g.config())
	require.NoError(t, err)
	assert.Equal(t, loss, alone)
}

// convert returns a copy in another type, or nil for nil.
func convert[To, From Float](values []From) []To {
	if values == nil {
		return nil
	}
	out := make([]To, len(values))
	for i, v := range values {
		out[i] = To(v)
	}
	return out
}
