package config

import (
	"math"
	"reflect"
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
)

// OptionKind is the kind of the values of an option.
type OptionKind int

const (
	Integer     OptionKind = iota // int
	Flag                          // bool
	Choice                        // an int that has a name, see Option.Values
	Number                        // float64
	Range                         // [2]float64: finite and increasing, or (-Inf, Inf) for none
	Numbers                       // []float64: finite and increasing; empty for none
	Labels                        // []int32: all different, at least one
	PerVariable                   // []Variable
)

// Option is a row of the table of options. Default, Config.Validate and the bindings to other languages walk the
// table. Rules about several options at once are in validate.go.
type Option struct {
	Name     string     // as in mode_options of mode.h and in Python
	Kind     OptionKind // of its values
	Values   []string   // of a Choice: their names, by number
	Flatness bool       // whether Flatness takes the option, which otherwise must be at its default
	Negated  bool       // of a Flag: the field of Config is true where the option is false

	// None is the value of an Integer or a Number that stands for "not given" or "no limit": the limits do not apply to
	// it. NaN: there is none.
	None float64

	lowest, highest float64 // of an Integer or a Number
	above           bool    // lowest itself is not allowed

	order int // the least order at which the option has a meaning

	byDefault  any // the default of the field
	field      func(*Config) any
	ofVariable func(*Variable) any // the field that each of several variables has; nil: none
}

// Options returns the table, in the order of the members of mode_options in mode.h.
func Options() []Option { return options }

// Field returns a pointer to the option in a Config: *int, *bool, *float64,
// *[2]float64, *[]float64, *[]int32 or *[]Variable, as the kind says.
func (o *Option) Field(c *Config) any { return o.field(c) }

// FieldOfVariable is Field for the options of a variable, or nil if a variable does not have the option.
func (o *Option) FieldOfVariable(v *Variable) any {
	if o.ofVariable == nil {
		return nil
	}
	return o.ofVariable(v)
}

var nan, inf = math.NaN(), math.Inf(1)

// options is the table. A new option is a row here, a field of Config, and a member
// of mode_options in mode.h: CONTRIBUTING.md shows an example.
var options = []Option{
	{Name: "order", Kind: Integer, None: nan, highest: MaxOrder,
		byDefault: 0, field: func(c *Config) any { return &c.Order }},
	{Name: "bins", Kind: Integer, Flatness: true, None: 0, lowest: 1, highest: math.MaxInt32,
		byDefault: 0, field: func(c *Config) any { return &c.Bins },
		ofVariable: func(v *Variable) any { return &v.Bins }},
	{Name: "binning", Kind: Choice, Flatness: true, None: nan, Values: []string{"quantile", "uniform", "edges", "values"},
		byDefault: int(Quantile), field: func(c *Config) any { return (*int)(&c.Binning) }},
	{Name: "moments", Kind: Choice, None: nan, Values: []string{"projection", "quadrature"},
		byDefault: int(Projection), field: func(c *Config) any { return (*int)(&c.Moments) }},
	{Name: "slope_of", Kind: Choice, None: nan, Values: []string{"rejected", "selected"},
		byDefault: int(Rejected), field: func(c *Config) any { return (*int)(&c.SlopeOf) }},
	{Name: "reduction", Kind: Choice, None: nan, Values: []string{"mean", "sum"},
		byDefault: int(Mean), field: func(c *Config) any { return (*int)(&c.Reduction) }},
	{Name: "monotonic", Kind: Flag, None: nan,
		order:     2,
		byDefault: false, field: func(c *Config) any { return &c.Monotonic }},
	{Name: "unbiased", Kind: Flag, Negated: true, None: nan,
		byDefault: false, field: func(c *Config) any { return &c.Biased }},
	{Name: "joint", Kind: Flag, Flatness: true, None: nan,
		byDefault: false, field: func(c *Config) any { return &c.Joint }},
	{Name: "missing", Kind: Choice, Flatness: true, None: nan, Values: []string{"error", "ignore"},
		byDefault: int(MissingError), field: func(c *Config) any { return (*int)(&c.Missing) }},
	{Name: "max_slope", Kind: Number, None: inf, above: true, highest: inf,
		order:     1,
		byDefault: inf, field: func(c *Config) any { return &c.MaxSlope }},
	{Name: "slope_penalty", Kind: Number, None: nan, highest: inf,
		order:     1,
		byDefault: 0.0, field: func(c *Config) any { return &c.SlopePenalty }},
	{Name: "mass_range", Kind: Range, Flatness: true, None: nan,
		byDefault: Unbounded(), field: func(c *Config) any { return &c.MassRange },
		ofVariable: func(v *Variable) any { return &v.MassRange }},
	{Name: "score_range", Kind: Range, Flatness: true, None: nan,
		byDefault: [2]float64{0, 1}, field: func(c *Config) any { return &c.ScoreRange }},
	{Name: "edges", Kind: Numbers, Flatness: true, None: nan,
		byDefault: []float64(nil), field: func(c *Config) any { return &c.Edges },
		ofVariable: func(v *Variable) any { return &v.Edges }},
	{Name: "variables", Kind: PerVariable, Flatness: true, None: nan,
		byDefault: []Variable(nil), field: func(c *Config) any { return &c.Variables }},
	{Name: "background_label", Kind: Labels, Flatness: true, None: nan,
		byDefault: []int32{0}, field: func(c *Config) any { return &c.BackgroundLabel }},
}

// defaults is the default configuration.
var defaults = func() (c Config) {
	for k := range options {
		field := reflect.ValueOf(options[k].field(&c)).Elem()
		field.Set(reflect.ValueOf(options[k].byDefault).Convert(field.Type()))
	}
	return c
}()

// Default returns the default configuration.
func Default() Config {
	cfg := defaults
	cfg.BackgroundLabel = slices.Clone(cfg.BackgroundLabel)
	return cfg
}

// DefaultVariable returns the default options of one of several variables.
func DefaultVariable() Variable { return Variable{MassRange: Unbounded()} }

// optionOf returns the row of the table that has a name.
func optionOf(name string) *Option {
	return &options[slices.IndexFunc(options, func(o Option) bool { return o.Name == name })]
}

// value returns the option in a configuration.
func (o *Option) value(c *Config) reflect.Value { return reflect.ValueOf(o.field(c)).Elem() }

// isDefault reports whether the option is at its default.
func (o *Option) isDefault(c *Config) bool {
	value, other := o.value(c), o.value(&defaults)
	if value.Kind() != reflect.Slice {
		return value.Equal(other)
	}
	return value.Len() == 0 && other.Len() == 0 || reflect.DeepEqual(value.Interface(), other.Interface())
}

// shown returns the value as errors show it.
func (o *Option) shown(c *Config) any {
	switch v := o.value(c).Interface().(type) {
	case int:
		if o.Kind == Choice {
			return o.Values[v]
		}
		return v
	case bool:
		return v != o.Negated
	case [2]float64:
		return errs.Range(v)
	default:
		return v
	}
}
