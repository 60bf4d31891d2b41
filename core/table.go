package core

import "math"

// OptionKind says of what kind the values of an option are.
type OptionKind int

const (
	Integer OptionKind = iota // int
	Flag                      // bool
	Choice                    // an int that has a name, see Option.Values
	Number                    // float64
	Range                     // [2]float64: finite and increasing, or (-Inf, Inf) for none
	Numbers                   // []float64: finite and increasing; empty for none
	Labels                    // []int32: all different, at least one
)

// Option is a row of the table of options, which DefaultConfig, Config.Validate
// and the bindings to other languages walk. What concerns several options at once
// is in Config.Validate.
type Option struct {
	Name   string
	Kind   OptionKind
	Values []string   // of a Choice: their names, by number
	Losses []LossKind // which take the option; the others need it at its default

	// None is the value of an Integer or a Number that stands for "not given" or
	// "no limit", and that the limits do not apply to; NaN if there is none.
	None float64

	lowest, highest float64 // of an Integer or a Number
	above           bool    // lowest itself is not allowed

	order int    // the least order at which the option has a meaning
	needs string // why, as a part of a sentence

	unset   any              // the default
	unsetIn map[LossKind]any // that of losses which have another
	field   func(*Config) any
}

// Options returns the table, in the order of the members of mode_options in mode.h.
func Options() []Option { return options }

// Field returns a pointer to the option in a Config: *int, *bool, *float64,
// *[2]float64, *[]float64 or *[]int32, as the kind says.
func (o *Option) Field(c *Config) any { return o.field(c) }

// DiffersByLoss reports whether losses have different defaults.
func (o *Option) DiffersByLoss() bool { return len(o.unsetIn) > 0 }

var (
	modeAlone, withBins, everyLoss = []LossKind{MoDe}, []LossKind{MoDe, Flatness}, []LossKind{MoDe, DisCo, Flatness}
	nan                            = math.NaN()
	inf                            = math.Inf(1)
	lossNames                      = []string{"mode", "disco", "flatness"}
)

// options is the table. A new option is a row here, a field of Config, and a member
// of mode_options in mode.h: CONTRIBUTING.md shows an example.
var options = []Option{
	{Name: "loss", Kind: Choice, Losses: everyLoss, None: nan, Values: lossNames,
		unset: int(MoDe), field: func(c *Config) any { return (*int)(&c.Loss) }},
	{Name: "order", Kind: Integer, Losses: modeAlone, None: nan, highest: MaxOrder,
		unset: 0, field: func(c *Config) any { return &c.Order }},
	{Name: "bins", Kind: Integer, Losses: withBins, None: 0, lowest: 1, highest: math.MaxInt32,
		unset: 0, field: func(c *Config) any { return &c.Bins }},
	{Name: "binning", Kind: Choice, Losses: withBins, None: nan, Values: []string{"quantile", "uniform", "edges"},
		unset: int(Quantile), field: func(c *Config) any { return (*int)(&c.Binning) }},
	{Name: "moments", Kind: Choice, Losses: modeAlone, None: nan, Values: []string{"quadrature", "projection"},
		unset: int(Projection), field: func(c *Config) any { return (*int)(&c.Moments) }},
	{Name: "slope_of", Kind: Choice, Losses: modeAlone, None: nan, Values: []string{"rejected", "selected"},
		unset: int(Rejected), field: func(c *Config) any { return (*int)(&c.SlopeOf) }},
	{Name: "reduction", Kind: Choice, Losses: modeAlone, None: nan, Values: []string{"mean", "sum"},
		unset: int(Mean), field: func(c *Config) any { return (*int)(&c.Reduction) }},
	{Name: "monotonic", Kind: Flag, Losses: modeAlone, None: nan,
		order: 2, needs: "bounds the moments above the slope (a linear response is monotonic already), which",
		unset: false, field: func(c *Config) any { return &c.Monotonic }},
	{Name: "unbiased", Kind: Flag, Losses: []LossKind{MoDe, DisCo}, None: nan,
		unset: true, unsetIn: map[LossKind]any{DisCo: false, Flatness: false}, field: func(c *Config) any { return &c.Unbiased }},
	{Name: "max_slope", Kind: Number, Losses: modeAlone, None: inf, above: true, highest: inf,
		order: 1, needs: "bounds the slope, which",
		unset: inf, field: func(c *Config) any { return &c.MaxSlope }},
	{Name: "slope_penalty", Kind: Number, Losses: modeAlone, None: nan, highest: inf,
		order: 1, needs: "acts on the slope, which",
		unset: 0.0, field: func(c *Config) any { return &c.SlopePenalty }},
	{Name: "mass_range", Kind: Range, Losses: withBins, None: nan,
		unset: unbounded(), field: func(c *Config) any { return &c.MassRange }},
	{Name: "score_range", Kind: Range, Losses: withBins, None: nan,
		unset: [2]float64{0, 1}, field: func(c *Config) any { return &c.ScoreRange }},
	{Name: "edges", Kind: Numbers, Losses: withBins, None: nan,
		unset: []float64(nil), field: func(c *Config) any { return &c.Edges }},
	{Name: "background_label", Kind: Labels, Losses: everyLoss, None: nan,
		unset: []int32{0}, field: func(c *Config) any { return &c.BackgroundLabel }},
}
