package core

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Every option out of its range is named, with its value.
func TestValidate(t *testing.T) {
	cfg := paperConfig()
	assert.NoError(t, cfg.Validate())
	for want, change := range map[string]func(*Config){
		"order = -1 must be between 0 and 16":                               func(c *Config) { c.Order = -1 },
		"order = 17 must be between 0 and 16":                               func(c *Config) { c.Order = 17 },
		"bins = -1 must be at least 1":                                      func(c *Config) { c.Bins = -1 },
		"binning = 7 must be the number of one of quantile, uniform, edges": func(c *Config) { c.Binning = 7 },
		"moments = -1 must be":                                              func(c *Config) { c.Moments = -1 },
		"slope_of = 2 must be":                                              func(c *Config) { c.SlopeOf = 2 },
		"reduction = 2 must be":                                             func(c *Config) { c.Reduction = 2 },
		"max_slope = 0 must be greater than 0":                              func(c *Config) { c.Order, c.MaxSlope = 1, 0 },
		"max_slope = NaN must be greater than 0":                            func(c *Config) { c.Order, c.MaxSlope = 1, nan },
		"max_slope = 0.5 needs order >= 1":                                  func(c *Config) { c.MaxSlope = 0.5 },
		"monotonic = true needs order >= 2, and order is 1":                 func(c *Config) { c.Order, c.Monotonic = 1, true },
		"slope_penalty = -1 must be":                                        func(c *Config) { c.Order, c.SlopePenalty = 1, -1 },
		"slope_penalty = NaN must be":                                       func(c *Config) { c.Order, c.SlopePenalty = 1, nan },
		"slope_penalty = 1 needs order >= 1":                                func(c *Config) { c.SlopePenalty = 1 },
		"mass_range = [2, 1] must have its lower end":                       func(c *Config) { c.MassRange = [2]float64{2, 1} },
		"mass_range = [1, +Inf] must have two finite ends":                  func(c *Config) { c.MassRange = [2]float64{1, inf} },
		"score_range = [0, 0] must have its lower end":                      func(c *Config) { c.ScoreRange = [2]float64{} },
		"score_range = [NaN, 1] must have two finite ends":                  func(c *Config) { c.ScoreRange = [2]float64{nan, 1} },
		"background_label = [] must name":                                   func(c *Config) { c.BackgroundLabel = nil },
		"background_label = [3 3] names label 3 twice":                      func(c *Config) { c.BackgroundLabel = []int32{3, 3} },
		"edges has length 1: binning":                                       func(c *Config) { c.Binning, c.Edges = GivenEdges, []float64{1} },
		"edges[2] = 2 must be greater than edges[1] = 2":                    func(c *Config) { c.Binning, c.Edges = GivenEdges, []float64{1, 2, 2} },
		"edges[1] = NaN must be finite":                                     func(c *Config) { c.Binning, c.Edges = GivenEdges, []float64{1, nan, 2} },
		"edges has length 2, but binning = quantile takes none":             func(c *Config) { c.Edges = []float64{1, 2} },
		"cannot be combined with edges": func(c *Config) {
			c.Binning, c.Edges, c.MassRange = GivenEdges, []float64{1, 2}, [2]float64{1, 2}
		},
	} {
		cfg := paperConfig()
		change(&cfg)
		err := cfg.Validate()
		assert.ErrorIs(t, err, ErrOption, want)
		assert.ErrorContains(t, err, want)
	}
}

// A loss refuses every option that it does not take and that is not at its default.
func TestOptionsOfOtherLosses(t *testing.T) {
	others := map[OptionKind]any{Integer: 3, Flag: true, Number: 0.125, Range: [2]float64{0.25, 0.75}, Numbers: []float64{1, 2},
		PerVariable: []Variable{{MassRange: unbounded()}}}
	for _, loss := range []LossKind{DisCo, Flatness} {
		cfg := DefaultConfig(loss)
		assert.NoError(t, cfg.Validate())
		for _, o := range Options() {
			if slices.Contains(o.Losses, loss) {
				continue
			}
			cfg := DefaultConfig(loss)
			if o.Kind == Choice {
				*o.Field(&cfg).(*int) = 1 - *o.Field(&cfg).(*int)
			} else {
				o.value(&cfg).Set(reflect.ValueOf(others[o.Kind]))
			}
			want := fmt.Sprintf("has no meaning for loss = %s: leave it at its default", lossNames[loss])
			assert.ErrorContains(t, cfg.Validate(), want, o.Name)
		}
	}
}

// Every field of Config has a row in the table, in the order of the table.
func TestTableHasEveryField(t *testing.T) {
	var cfg Config
	fields := reflect.ValueOf(&cfg).Elem()
	exported := 0
	for _, field := range reflect.VisibleFields(fields.Type()) {
		if field.IsExported() {
			exported++
		}
	}
	assert.Len(t, options, exported)
	for _, o := range options {
		field := fields.FieldByName(strings.ReplaceAll(cases(o.Name), "_", ""))
		assert.Equal(t, field.Addr().UnsafePointer(), reflect.ValueOf(o.Field(&cfg)).UnsafePointer(), o.Name)
	}
}

// cases writes slope_of as Slope_Of.
func cases(name string) string {
	words := strings.Split(name, "_")
	for k, word := range words {
		words[k] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "_")
}

// A limit that float32 events cannot have is the next one that they can: 0.8 is
// less than float32(0.8), and events at the limit are inside all the same.
func TestLimitsAreRoundedOutwards(t *testing.T) {
	const n = 100
	ev := Events[float32]{Score: make([]float32, n), Mass: make([]float32, n)}
	for i := range n {
		ev.Mass[i], ev.Score[i] = min(float32(i)/50, 0.8), min(float32(i*37%n)/n, 0.8)
	}
	for name, change := range map[string]func(*Config){
		"range": func(c *Config) { c.MassRange = [2]float64{0, 0.8} },
		"edges": func(c *Config) { c.Binning, c.Edges = GivenEdges, []float64{0, 0.4, 0.8} },
	} {
		cfg := DefaultConfig(MoDe)
		cfg.Bins, cfg.ScoreRange = 2, [2]float64{0, 0.8}
		change(&cfg)
		edges, err := Edges(ev, cfg)
		assert.NoError(t, err)
		assert.Equal(t, float64(float32(0.8)), edges[len(edges)-1])
		found, err := Evaluate(nil, nil, ev, cfg)
		assert.NoError(t, err)
		assert.Equal(t, float64(n), found.Events, name)
	}
	assert.Equal(t, [2]float64{-1e300, 1}, outwards[float32]([2]float64{-1e300, 1}))
	assert.Equal(t, unbounded(), outwards[float32](unbounded()))
}

// Every error that events can make is named, with the value and its place.
func TestEventErrors(t *testing.T) {
	fill := func(n int, f func(i int) float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = f(i)
		}
		return v
	}
	const n = 64
	good := func() Events[float64] {
		return Events[float64]{
			Score:  fill(n, func(i int) float64 { return float64(i) / n }),
			Mass:   fill(n, func(i int) float64 { return float64((i * 37) % n) }),
			Weight: fill(n, func(int) float64 { return 1 }),
			Label:  LabelsOf(make([]int32, n)),
		}
	}
	cfg := paperConfig()
	cfg.Bins = 8
	_, err := Loss(good(), cfg)
	assert.NoError(t, err)

	uniform := func(c *Config) { c.Binning = Uniform }
	for _, test := range []struct {
		want   string
		kind   error
		events func(*Events[float64])
		config func(*Config)
	}{
		{"mass has length 63, but score has length 64", ErrLength, func(e *Events[float64]) { e.Mass = e.Mass[1:] }, nil},
		{"weight has length 63", ErrLength, func(e *Events[float64]) { e.Weight = e.Weight[1:] }, nil},
		{"label has length 63", ErrLength, func(e *Events[float64]) { e.Label = LabelsOf(make([]int32, n-1)) }, nil},
		{"mass is empty", ErrNoEvents, func(e *Events[float64]) { *e = Events[float64]{} }, nil},
		{"none of the 64 values of label equals background_label = 5", ErrNoEvents, nil, func(c *Config) { c.BackgroundLabel = []int32{5} }},
		{"all 64 masses of the selected events lie outside the mass range [100, 200]", ErrNoEvents, nil, func(c *Config) { c.MassRange = [2]float64{100, 200} }},
		{"score[3] = NaN", ErrNotFinite, func(e *Events[float64]) { e.Score[3] = nan }, nil},
		{"score[3] = +Inf", ErrNotFinite, func(e *Events[float64]) { e.Score[3] = inf }, func(c *Config) { c.ScoreRange = unbounded() }},
		{"mass[4] = -Inf", ErrNotFinite, func(e *Events[float64]) { e.Mass[4] = -inf }, nil},
		{"weight[5] = NaN", ErrNotFinite, func(e *Events[float64]) { e.Weight[5] = nan }, nil},
		{"score[6] = 1.5 lies outside score_range = [0, 1]: apply a sigmoid to raw outputs, or use score_range=None", ErrScoreRange,
			func(e *Events[float64]) { e.Score[6] = 1.5 }, nil},
		{"score[6] = 1.5 lies outside score_range = [0, 0.9]: widen it, or use score_range=None", ErrScoreRange,
			func(e *Events[float64]) { e.Score[6] = 1.5 }, func(c *Config) { c.ScoreRange = [2]float64{0, 0.9} }},
		{"64 selected events cannot fill bins = 65 quantile bins", ErrNoEvents, nil, func(c *Config) { c.Bins = 65 }},
		{"64 selected events cannot fill bins = 65 uniform bins", ErrNoEvents, nil, func(c *Config) { c.Bins, c.Binning = 65, Uniform }},
		{"all 64 selected events have the same mass 7", ErrBin, func(e *Events[float64]) {
			e.Mass = fill(n, func(int) float64 { return 7 })
		}, nil},
		{"bin 1 of 8, mass in [126.875, 252.75), has sum of weights 0: it is empty", ErrBin, func(e *Events[float64]) { e.Mass[0] = 1008 }, uniform},
		{"bin 7 of 8, mass in [55.125, 63], has sum of weights -8", ErrBin, func(e *Events[float64]) {
			for i, m := range e.Mass {
				if m > 55.125 {
					e.Weight[i] = -1
				}
			}
		}, uniform},
		{"= 1 effective events", ErrBin, nil, func(c *Config) { c.Bins, c.Unbiased = 64, true }},
		{"order = 8 with moments = projection fits 9 coefficients, but there are only 8 bins", ErrOption, nil,
			func(c *Config) { c.Order, c.Moments = 8, Projection }},
		{"too wide for double precision", ErrOverflow, func(e *Events[float64]) { e.Mass[0], e.Mass[1] = -1e308, 1e308 }, nil},
		{"the loss overflows", ErrOverflow, func(e *Events[float64]) {
			e.Score = fill(n, func(i int) float64 { return math.Copysign(1.5e308, float64(i)-9.5) })
		}, func(c *Config) { c.ScoreRange = unbounded() }},
	} {
		ev, cfg := good(), cfg
		if test.events != nil {
			test.events(&ev)
		}
		if test.config != nil {
			test.config(&cfg)
		}
		_, err := Loss(ev, cfg)
		assert.ErrorIs(t, err, test.kind, test.want)
		assert.ErrorContains(t, err, test.want)
	}
}

// A loss that a float64 holds may have derivatives that no float32 does: an error, and not infinities.
func TestGradientBeyondFloat32(t *testing.T) {
	for name, change := range walkOptions {
		cfg := paperConfig()
		change(&cfg)
		if cfg.Order == 0 {
			continue
		}
		cfg.SlopePenalty = 1e300
		ev := spreadEvents[float32](500, false, 0.1)
		for _, label := range []LabelSlice{nil, LabelsOf(make([]int32, 500))} {
			ev.Label = label
			_, err := Loss(ev, cfg)
			assert.NoError(t, err, name)
			_, err = LossAndGrad(make([]float32, 500), ev, cfg)
			assert.ErrorIs(t, err, ErrOverflow, name)
			assert.ErrorContains(t, err, "grad[", name)
		}
	}
}
