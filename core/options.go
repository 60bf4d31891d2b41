package core

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// option is a row of the table of options. Parse, Config.Text and Config.Validate walk the table. Rules about several options at once
// are in validate.go. The type of the field is the kind of the option.
type option struct {
	name   string   // in texts of options, and in errors
	values []string // of a choice or a flag: the names by number, where true is 1

	// none is the value of an int or a float64 that stands for "not given" or "no limit": the limits do not apply to it. NaN: there
	// is none.
	none float64

	lowest, highest float64 // of an int or a float64
	above           bool    // lowest itself is not allowed
	order           int     // the least order at which the option has a meaning

	field func(*Config) any
	each  bool // each of several variables has the option
}

var (
	needed, unlimited = math.NaN(), math.Inf(1)
	flag, negated     = []string{"false", "true"}, []string{"true", "false"} // negated: the field is true where the option is false
)

// options is the table. A new option is a row here, and a field of Config: CONTRIBUTING.md shows an example.
var options = []option{
	{name: "order", none: needed, highest: MaxOrder, field: func(c *Config) any { return &c.Order }},
	{name: "bins", none: 0, lowest: 1, highest: math.MaxInt32, each: true, field: func(c *Config) any { return &c.Bins }},
	{name: "binning", values: []string{"quantile", "uniform", "edges"}, field: func(c *Config) any { return (*int)(&c.Binning) }},
	{name: "moments", values: []string{"projection", "quadrature"}, field: func(c *Config) any { return &c.Quadrature }},
	{name: "slope_of", values: []string{"rejected", "selected"}, field: func(c *Config) any { return &c.OfSelected }},
	{name: "reduction", values: []string{"mean", "sum"}, field: func(c *Config) any { return &c.Sum }},
	{name: "monotonic", values: flag, order: 2, field: func(c *Config) any { return &c.Monotonic }},
	{name: "unbiased", values: negated, field: func(c *Config) any { return &c.Biased }},
	{name: "joint", values: flag, field: func(c *Config) any { return &c.Joint }},
	{name: "missing", values: []string{"error", "ignore"}, field: func(c *Config) any { return &c.IgnoreMissing }},
	{name: "max_slope", none: unlimited, above: true, highest: unlimited, order: 1, field: func(c *Config) any { return &c.MaxSlope }},
	{name: "slope_penalty", none: needed, highest: unlimited, order: 1, field: func(c *Config) any { return &c.SlopePenalty }},
	{name: "mass_range", each: true, field: func(c *Config) any { return &c.MassRange }},
	{name: "score_range", field: func(c *Config) any { return &c.ScoreRange }},
	{name: "edges", each: true, field: func(c *Config) any { return &c.Edges }},
	{name: "background_label", field: func(c *Config) any { return &c.BackgroundLabel }},
	{name: "strength", none: NoStrength, highest: unlimited, field: func(c *Config) any { return &c.Strength }},
	{name: "floor", none: 0, above: true, highest: 1, field: func(c *Config) any { return &c.Floor }},
	{name: "training_events", none: 0, above: true, highest: unlimited, field: func(c *Config) any { return &c.TrainingEvents }},
	{name: "from_logits", values: flag, field: func(c *Config) any { return &c.FromLogits }},
	{name: "categories", none: needed, highest: math.MaxInt32, field: func(c *Config) any { return &c.Categories }},
}

// OptionTable returns a line for each option, with tabs between its name, its kind, its default, and what Parse accepts.
func OptionTable() string {
	var table strings.Builder
	for k := range options {
		o := &options[k]
		kind, allowed := o.kind()
		fmt.Fprintf(&table, "%s\t%s\t%s\t%s\n", o.name, kind, o.text(o.field(&defaults)), allowed)
	}
	return table.String()
}

// kind returns the kind of the option, and says which values Parse accepts.
func (o *option) kind() (kind, allowed string) {
	orNone := ""
	if o.none == o.none {
		orNone = ", or none"
	}
	switch {
	case slices.Contains(o.values, "true"):
		return "flag", "true or false"
	case o.values != nil:
		return "choice", "one of " + strings.Join(o.values, ", ")
	}
	switch o.field(&defaults).(type) {
	case *int:
		return "integer", "an integer, " + o.limits() + orNone
	case *float64:
		return "number", "a number, " + o.limits() + orNone
	case *[2]float64:
		return "range", "two increasing numbers with a comma between them, or none"
	case *[]float64:
		return "numbers", "increasing numbers with commas between them, or none"
	}
	return "labels", "different integers with semicolons between them"
}

// limits says in which limits an int or a float64 lies.
func (o *option) limits() string {
	_, isNumber := o.field(&defaults).(*float64)
	switch least := fmt.Sprint(o.lowest); {
	case o.above && o.highest < unlimited:
		return fmt.Sprintf("greater than %s and at most %v", least, o.highest)
	case o.above:
		return "greater than " + least
	case isNumber:
		return "finite and at least " + least
	case o.highest == math.MaxInt32:
		return "at least " + least
	default:
		return fmt.Sprintf("between %s and %v", least, o.highest)
	}
}

// text returns the value of a field of the option as read reads it.
func (o *option) text(field any) string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	switch p := field.(type) {
	case *bool:
		if *p {
			return o.values[1]
		}
		return o.values[0]
	case *int:
		if *p >= 0 && *p < len(o.values) {
			return o.values[*p]
		}
		if o.values != nil || float64(*p) != o.none {
			return strconv.Itoa(*p)
		}
	case *float64:
		if *p != o.none {
			return number(*p)
		}
	case *[2]float64:
		if *p != noRange {
			return number(p[0]) + "," + number(p[1])
		}
	case *[]float64:
		if len(*p) > 0 {
			return join(*p, ",", number)
		}
	case *[]int32:
		return join(*p, ";", func(label int32) string { return strconv.Itoa(int(label)) })
	}
	return "none"
}

func join[E any](list []E, between string, text func(E) string) string {
	words := make([]string, len(list))
	for i, element := range list {
		words[i] = text(element)
	}
	return strings.Join(words, between)
}
