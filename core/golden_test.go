package core

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goldenCase is one of tests/golden/mode_loss.json, whose losses and gradients
// come from a brute-force oracle in extended precision. It names every option.
type goldenCase struct {
	Name                string
	Options             map[string]any
	Score, Mass, Weight []float64
	Loss                float64
	Grad                []float64
}

func (g *goldenCase) config(t *testing.T) Config {
	cfg := DefaultConfig(MoDe)
	rows := make(map[string]*Option)
	for k := range options {
		rows[options[k].Name] = &options[k]
	}
	for name, value := range g.Options {
		require.Contains(t, rows, name)
		set(&cfg, rows[name], value)
	}
	return cfg
}

// set sets an option to what JSON has for it.
func set(cfg *Config, o *Option, value any) {
	switch p := o.field(cfg).(type) {
	case *int:
		switch v := value.(type) {
		case string:
			*p = slices.Index(o.Values, v)
		case float64:
			*p = int(v)
		}
	case *bool:
		*p = value.(bool)
	case *float64:
		*p = o.None
		if value != nil {
			*p = value.(float64)
		}
	case *[2]float64:
		*p = unbounded()
		for k, end := range numbers(value) {
			p[k] = end
		}
	case *[]float64:
		*p = numbers(value)
	}
}

// numbers returns those of a list, none of null.
func numbers(value any) (list []float64) {
	values, _ := value.([]any)
	for _, v := range values {
		list = append(list, v.(float64))
	}
	return list
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
	loss, err := LossAndGrad(grad, ev, g.config(t))
	require.NoError(t, err)
	assert.InDelta(t, g.Loss, loss, tol*math.Abs(g.Loss))
	requireClose(t, g.Grad, convert[float64](grad), tol)
	alone, err := Loss(ev, g.config(t))
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
