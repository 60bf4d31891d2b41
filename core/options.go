package core

import (
	"math"
	"reflect"

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

// Option is a row of the table of options. Config.Validate and the bindings to other languages walk the
// table. Rules about several options at once are in validate.go.
type Option struct {
	Name    string     // as in mode_options of mode.h and in Python
	Kind    OptionKind // of its values
	Values  []string   // of a Choice: their names, by number
	Negated bool       // of a Flag: the field of Config is true where the option is false

	// None is the value of an Integer or a Number that stands for "not given" or "no limit": the limits do not apply to
	// it. NaN: there is none.
	None float64

	lowest, highest float64 // of an Integer or a Number
	above           bool    // lowest itself is not allowed
	order           int     // the least order at which the option has a meaning

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

var none, unlimited = math.NaN(), math.Inf(1)

var binnings = []string{"quantile", "uniform", "edges"}

// options is the table. A new option is a row here, a field of Config, and a member
// of mode_options in mode.h: CONTRIBUTING.md shows an example.
var options = []Option{
	{Name: "order", Kind: Integer, None: none, highest: MaxOrder, field: func(c *Config) any { return &c.Order }},
	{Name: "bins", Kind: Integer, None: 0, lowest: 1, highest: math.MaxInt32, field: func(c *Config) any { return &c.Bins }, ofVariable: func(v *Variable) any { return &v.Bins }},
	{Name: "binning", Kind: Choice, None: none, Values: binnings,
		field: func(c *Config) any { return (*int)(&c.Binning) }},
	{Name: "moments", Kind: Choice, None: none, Values: []string{"projection", "quadrature"},
		field: func(c *Config) any { return (*int)(&c.Moments) }},
	{Name: "slope_of", Kind: Choice, None: none, Values: []string{"rejected", "selected"},
		field: func(c *Config) any { return (*int)(&c.SlopeOf) }},
	{Name: "reduction", Kind: Choice, None: none, Values: []string{"mean", "sum"}, field: func(c *Config) any { return (*int)(&c.Reduction) }},
	{Name: "monotonic", Kind: Flag, None: none, order: 2, field: func(c *Config) any { return &c.Monotonic }},
	{Name: "unbiased", Kind: Flag, Negated: true, None: none, field: func(c *Config) any { return &c.Biased }},
	{Name: "joint", Kind: Flag, None: none, field: func(c *Config) any { return &c.Joint }},
	{Name: "missing", Kind: Choice, None: none, Values: []string{"error", "ignore"},
		field: func(c *Config) any { return (*int)(&c.Missing) }},
	{Name: "max_slope", Kind: Number, None: unlimited, above: true, highest: unlimited, order: 1, field: func(c *Config) any { return &c.MaxSlope }},
	{Name: "slope_penalty", Kind: Number, None: none, highest: unlimited, order: 1, field: func(c *Config) any { return &c.SlopePenalty }},
	{Name: "mass_range", Kind: Range, None: none, field: func(c *Config) any { return &c.MassRange },
		ofVariable: func(v *Variable) any { return &v.MassRange }},
	{Name: "score_range", Kind: Range, None: none, field: func(c *Config) any { return &c.ScoreRange }},
	{Name: "edges", Kind: Numbers, None: none, field: func(c *Config) any { return &c.Edges },
		ofVariable: func(v *Variable) any { return &v.Edges }},
	{Name: "variables", Kind: PerVariable, None: none, field: func(c *Config) any { return &c.Variables }},
	{Name: "background_label", Kind: Labels, None: none, field: func(c *Config) any { return &c.BackgroundLabel }},
}

var defaults = DefaultConfig()

// isDefault reports whether the option is at its default.
func (o *Option) isDefault(c *Config) bool {
	value, other := reflect.ValueOf(o.field(c)).Elem(), reflect.ValueOf(o.field(&defaults)).Elem()
	if value.Kind() != reflect.Slice {
		return value.Equal(other)
	}
	return value.Len() == 0 && other.Len() == 0 || reflect.DeepEqual(value.Interface(), other.Interface())
}

// shown returns the value as errors show it.
func (o *Option) shown(c *Config) any {
	switch p := o.field(c).(type) {
	case *int:
		if o.Kind == Choice {
			return o.Values[*p]
		}
	case *bool:
		return *p != o.Negated
	case *[2]float64:
		return errs.Range(*p)
	}
	return reflect.ValueOf(o.field(c)).Elem()
}
