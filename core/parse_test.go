package core

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireSame asks for the same bits in each field, where -0 is not 0.
func requireSame(t *testing.T, want, got reflect.Value, of string) {
	t.Helper()
	switch want.Kind() {
	case reflect.Struct:
		for k := range want.NumField() {
			requireSame(t, want.Field(k), got.Field(k), of+"."+want.Type().Field(k).Name)
		}
	case reflect.Slice, reflect.Array:
		require.Equal(t, want.Len(), got.Len(), of)
		for k := range want.Len() {
			requireSame(t, want.Index(k), got.Index(k), of)
		}
	case reflect.Float64:
		require.Equal(t, math.Float64bits(want.Float()), math.Float64bits(got.Float()), of)
	default:
		require.Equal(t, want.Interface(), got.Interface(), of)
	}
}

func requireRoundTrip(t *testing.T, cfg Config) {
	t.Helper()
	again, err := Parse(cfg.Text())
	require.NoError(t, err, cfg.Text())
	requireSame(t, reflect.ValueOf(cfg), reflect.ValueOf(again), "Config")
	require.Equal(t, cfg.Text(), again.Text())
}

// drawConfig draws values for some options: of any size, with -0, and for all variables or for each.
func drawConfig(r *rand.Rand) Config {
	number := func() float64 {
		return []float64{math.Ldexp(r.NormFloat64(), r.IntN(1200)-600), math.Copysign(0, -1), math.Round(10 * r.NormFloat64()), 5e-324, 0.1}[r.IntN(5)]
	}
	increasing := func(n int) []float64 {
		all := make([]float64, n)
		for i := range all {
			all[i] = number()
		}
		slices.Sort(all)
		return all
	}
	cfg := DefaultConfig()
	draw := func(o *option, field any) {
		switch p := field.(type) {
		case *int:
			if *p = max(int(o.lowest), r.IntN(20)); o.values != nil {
				*p = r.IntN(len(o.values))
			}
		case *bool:
			*p = r.IntN(2) == 0
		case *float64:
			*p = math.Abs(number())
		case *[2]float64:
			copy(p[:], increasing(2))
		case *[]float64:
			*p = increasing(1 + r.IntN(5))
		case *[]int32:
			*p = []int32{r.Int32(), -r.Int32(), 0}[:1+r.IntN(3)]
		}
	}
	for range r.IntN(6) {
		o := &options[r.IntN(len(options))]
		draw(o, o.field(&cfg))
	}
	if r.IntN(3) == 0 {
		cfg.Variables = slices.Repeat([]Variable{DefaultVariable()}, 1+r.IntN(3))
		for v := range cfg.Variables {
			o := optionOf([]string{"bins", "mass_range", "edges"}[r.IntN(3)])
			of := Config{Variable: cfg.Variables[v]}
			draw(o, o.field(&of))
			cfg.Variables[v] = of.Variable
		}
	}
	return cfg
}

func TestTextsOfRandomOptions(t *testing.T) {
	r, valid, ofVariables := rand.New(rand.NewPCG(1, 1)), 0, 0
	for range 50_000 {
		cfg := drawConfig(r)
		if cfg.Validate() != nil {
			_ = cfg.Text() // has no panic
			continue
		}
		requireRoundTrip(t, cfg)
		if valid++; cfg.Variables != nil {
			ofVariables++
		}
	}
	require.Greater(t, valid, 10_000)
	require.Greater(t, ofVariables, 1000)
}

// FuzzParse reads any text: an error is a sentence, and what is read comes back.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "order=2 monotonic", "mass_range=50,300;none edges=1,2", "bins=4; joint", "background_label=0;2", "a=b", "=;,=,;"} {
		f.Add(seed)
	}
	for line := range strings.SplitSeq(OptionTable(), "\n") {
		f.Add(strings.Join(strings.SplitN(line, "\t", 4)[:1], "") + "=none")
	}
	f.Fuzz(func(t *testing.T, text string) {
		cfg, err := Parse(text)
		if err != nil {
			require.ErrorIs(t, err, ErrOption)
			requireSentence(t, err)
			return
		}
		requireRoundTrip(t, cfg)
	})
}

func TestParse(t *testing.T) {
	want := DefaultConfig()
	want.Order, want.Monotonic, want.Biased, want.Binning, want.Edges = 2, true, true, GivenEdges, []float64{1, 2.5, 1e3}
	want.BackgroundLabel, want.FromLogits = []int32{0, -2}, true
	got, err := Parse(" order=2\tmonotonic unbiased=false\n edges=1,2.5,1e3 background_label=0;-2 from_logits=true ")
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, "order=2 monotonic unbiased=false edges=1,2.5,1000 background_label=0;-2 from_logits", got.Text())

	got, err = Parse("mass_range=50,300;none bins=7 score_range=none max_slope=inf")
	require.NoError(t, err)
	require.Equal(t, []Variable{{MassRange: [2]float64{50, 300}}, DefaultVariable()}, got.Variables)
	require.Equal(t, "bins=7 mass_range=50,300;none score_range=none", got.Text())
	got, err = Parse("bins=7;")
	require.NoError(t, err)
	require.Equal(t, []Variable{{Bins: 7, MassRange: noRange}}, got.Variables)

	got, err = Parse("")
	require.NoError(t, err)
	require.Equal(t, DefaultConfig(), got)
	require.Empty(t, got.Text())
	cfg := DefaultConfig()
	cfg.Variables = []Variable{DefaultVariable(), DefaultVariable()}
	require.Equal(t, "mass_range=none;none", cfg.Text())
	requireRoundTrip(t, cfg)
}

// Each error names the option, its value and what is allowed.
func TestErrorsOfTexts(t *testing.T) {
	for text, want := range map[string]string{
		"ordr=2":                             "ordr=2: there is no option of this name; the nearest is order",
		"Max-Slope=1":                        "the nearest is max_slope",
		"variables=1":                        "variables=1: there is no option of this name",
		"=":                                  "=: there is no option of this name",
		"order":                              "order has no value: write order=, and then an integer, between 0 and 16",
		"order=":                             "order =  must be an integer, between 0 and 16",
		"order=1.5":                          "order = 1.5 must be an integer, between 0 and 16",
		"order=none":                         "order = none must be an integer, between 0 and 16",
		"order=17":                           "order = 17 must be between 0 and 16",
		"order=99999999999999999999":         "order = 99999999999999999999 must be an integer",
		"order=1 bins=3 order=1":             "order = 1 is given twice",
		"bins=0":                             "bins = 0 must be an integer, at least 1, or none",
		"bins=4;0":                           "bins = 0 must be an integer, at least 1, or none",
		"bins=4;-1":                          "bins of variable 1 = -1 must be at least 1",
		"bins=4;4 mass_range=none;1,2;none":  "mass_range = none;1,2;none has values for 3 variables, and an option before it for 2",
		"bins=1;2;3;4":                       "options are given for 4 variables of mass, and a call can have 3",
		"bins=4;4 mass_range=1,2":            "mass_range = 1,2 cannot be given for all variables together",
		"binning=log":                        "binning = log must be one of quantile, uniform, edges",
		"binning=edges":                      "edges has length 0: binning = edges needs at least 2 edges",
		"binning=uniform edges=1,2":          "edges has length 2, but binning = uniform takes none",
		"monotonic=1":                        "monotonic = 1 must be true or false",
		"max_slope=nan order=1":              "max_slope = NaN must be greater than 0",
		"max_slope=1e999":                    "max_slope = 1e999 must be a number, greater than 0, or none",
		"max_slope=0,5":                      "max_slope = 0,5 must be a number, greater than 0, or none",
		"max_slope=1":                        "max_slope = 1 needs order >= 1, and order is 0",
		"slope_penalty=inf order=1":          "slope_penalty = +Inf must be finite and at least 0",
		"mass_range=3":                       "mass_range = 3 must be two increasing numbers with a comma between them, or none",
		"mass_range=3,1":                     "mass_range = [3, 1] must have its lower end below its upper end",
		"score_range=0,1;0,1":                "score_range = 0,1;0,1 must be two increasing numbers",
		"edges=1,,2":                         "edges = 1,,2 must be increasing numbers with commas between them, or none",
		"edges=1,3,2":                        "edges[2] = 2 must be greater than edges[1] = 3",
		"background_label=":                  "background_label = [] must name at least one label",
		"background_label=1;1":               "background_label = [1 1] names label 1 twice",
		"background_label=3000000000":        "must be different integers",
		"strength=-1":                        "strength = -1 must be a number, finite and at least 0, or none",
		"floor=0":                            "floor = 0 must be a number, greater than 0 and at most 1, or none",
		"floor=1.5":                          "floor = 1.5 must be greater than 0 and at most 1",
		"training_events=0":                  "training_events = 0 must be a number, greater than 0, or none",
		"categories=-1":                      "categories = -1 must be at least 0",
		"edges=" + strings.Repeat("1,", 100): "1,1,... must be increasing numbers",
	} {
		_, err := Parse(text)
		require.ErrorIs(t, err, ErrOption, text)
		require.ErrorContains(t, err, want, text)
	}
	cfg := DefaultConfig()
	cfg.Bins, cfg.Variables = 4, []Variable{{Bins: 3, MassRange: noRange}}
	require.ErrorContains(t, cfg.Validate(), "bins = 4 is for all variables, and variable 0 has bins = 3")
}
