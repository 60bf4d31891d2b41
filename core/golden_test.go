package core

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goldenCase is one of tests/golden, whose losses and gradients come from a brute-force
// oracle in extended precision.
type goldenCase struct {
	Name          string
	Options       map[string]any
	Score, Weight []float64
	Mass          []any // of each event: a number, or one for each variable; nil where there is none
	Label         []int32
	Category      []int64
	Loss          float64
	Grad          []float64
}

// masses returns those of each variable, and whether there are several.
func (g *goldenCase) masses() (masses [][]float64, several bool) {
	for _, of := range g.Mass {
		each, list := of.([]any)
		if !list {
			each = []any{of}
		}
		several = list
		if masses == nil {
			masses = make([][]float64, len(each))
		}
		for v, mass := range each {
			number, there := mass.(float64)
			if !there {
				number = nan
			}
			masses[v] = append(masses[v], number)
		}
	}
	return masses, several
}

// config reads the options as a text.
func (g *goldenCase) config(t *testing.T) Config {
	var words []string
	for name, value := range g.Options {
		words = append(words, name+"="+inText(name, value))
	}
	cfg, err := Parse(strings.Join(words, " "))
	require.NoError(t, err)
	return cfg
}

// inText returns the value in JSON of an option as Parse reads it.
func inText(name string, value any) string {
	list, isList := value.([]any)
	if value == nil {
		return "none"
	}
	if !isList {
		return fmt.Sprint(value)
	}
	between, each := ",", make([]string, len(list))
	for k, element := range list {
		if each[k] = inText(name, element); strings.ContainsAny(each[k], ",n") {
			between = ";"
		}
	}
	if name == "bins" || name == "background_label" {
		between = ";"
	}
	return strings.Join(each, between)
}

func goldenCases(t *testing.T) (cases []goldenCase) {
	for _, name := range []string{"mode_loss.json", "variables.json"} {
		text, err := os.ReadFile("../tests/golden/" + name)
		require.NoError(t, err)
		var of []goldenCase
		require.NoError(t, json.Unmarshal(text, &of))
		require.NotEmpty(t, of)
		cases = append(cases, of...)
	}
	return cases
}

// requireClose asks for |a-b| <= tol * the largest |b|.
func requireClose[T Float](t *testing.T, want, got []T, tol float64, what ...any) {
	t.Helper()
	require.Len(t, got, len(want), what...)
	var largest, worst float64
	at := 0
	for i := range want {
		largest = math.Max(largest, math.Abs(float64(want[i])))
		if d := math.Abs(float64(want[i] - got[i])); d > worst || math.IsNaN(d) {
			worst, at = d, i
		}
	}
	require.LessOrEqual(t, worst, tol*largest, "element %d: want %v, got %v; %s", at, want[at], got[at], fmt.Sprint(what...))
}

func TestGolden(t *testing.T) {
	for _, g := range goldenCases(t) {
		t.Run(g.Name, func(t *testing.T) {
			checkGolden[float64](t, &g, 1e-9)
			checkGolden[float32](t, &g, 1e-5) // the precision of the inputs
		})
	}
}

// eventsOf returns those of a case.
func eventsOf[T Float](g *goldenCase) Events[T] {
	ev := Events[T]{
		Score: convert[T](g.Score), Weight: convert[T](g.Weight), Label: LabelsOf(g.Label), Category: LabelsOf(g.Category),
	}
	masses, several := g.masses()
	if !several {
		ev.Mass = convert[T](masses[0])
		return ev
	}
	for _, mass := range masses {
		ev.Masses = append(ev.Masses, convert[T](mass))
	}
	return ev
}

func checkGolden[T Float](t *testing.T, g *goldenCase, tol float64) {
	grad, ev := make([]T, len(g.Score)), eventsOf[T](g)
	loss, err := LossAndGrad(grad, ev, g.config(t))
	require.NoError(t, err)
	assert.InDelta(t, g.Loss, loss, tol*math.Abs(g.Loss))
	requireClose(t, g.Grad, convert[float64](grad), tol)
	alone, err := Loss(ev, g.config(t))
	require.NoError(t, err)
	assert.Equal(t, loss, alone)
}

// convert returns a copy in another type, or nil for nil.
func convert[To Float | int32, From Float](values []From) []To {
	if values == nil {
		return nil
	}
	out := make([]To, len(values))
	for i, v := range values {
		out[i] = To(v)
	}
	return out
}
