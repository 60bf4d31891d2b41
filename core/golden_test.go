package core

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
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

func (g *goldenCase) config() Config {
	cfg := DefaultConfig()
	masses, _ := g.masses()
	isList := func(value any) bool { _, list := value.([]any); return list }
	for name, value := range g.Options {
		o := &Options()[slices.IndexFunc(Options(), func(o Option) bool { return o.Name == name })]
		values, _ := value.([]any)
		if o.FieldOfVariable(&Variable{}) == nil || values == nil || name != "bins" && !slices.ContainsFunc(values, isList) {
			set(o, o.Field(&cfg), value)
			continue
		}
		if cfg.Variables == nil {
			cfg.Variables = slices.Repeat([]Variable{{MassRange: unbounded()}}, len(masses))
		}
		for v, value := range values {
			set(o, o.FieldOfVariable(&cfg.Variables[v]), value)
		}
	}
	return cfg
}

// set sets a field of an option to its value in JSON.
func set(o *Option, field, value any) {
	switch p := field.(type) {
	case *int:
		switch v := value.(type) {
		case string:
			*p = slices.Index(o.Values, v)
		case float64:
			*p = int(v)
		}
	case *bool:
		*p = value.(bool) != o.Negated
	case *float64:
		*p = o.None
		if value != nil {
			*p = value.(float64)
		}
	case *[2]float64:
		*p = unbounded()
		copy(p[:], numbers(value))
	case *[]float64:
		*p = numbers(value)
	case *[]int32:
		*p = convert[int32](numbers(value))
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
	loss, err := LossAndGrad(grad, ev, g.config())
	require.NoError(t, err)
	assert.InDelta(t, g.Loss, loss, tol*math.Abs(g.Loss))
	requireClose(t, g.Grad, convert[float64](grad), tol)
	alone, err := Loss(ev, g.config())
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
