package core

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

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
	nothing    = math.NaN()
	everyLoss  = []LossKind{MoDe, DisCo, Flatness}
	binnedLoss = []LossKind{MoDe, Flatness}
	modeAlone  = []LossKind{MoDe}
	lossNames  = []string{"mode", "disco", "flatness"}
)

// options is the table. A new option is a row here, a field of Config, and a member
// of mode_options in mode.h: CONTRIBUTING.md shows an example.
var options = []Option{
	{
		Name: "loss", Kind: Choice, Values: lossNames, Losses: everyLoss, None: nothing,
		unset: int(MoDe), field: func(c *Config) any { return (*int)(&c.Loss) },
	},
	{
		Name: "order", Kind: Integer, Losses: modeAlone, None: nothing, lowest: 0, highest: MaxOrder,
		unset: 0, field: func(c *Config) any { return &c.Order },
	},
	{
		Name: "bins", Kind: Integer, Losses: binnedLoss, None: 0, lowest: 1, highest: math.MaxInt32,
		unset: 0, field: func(c *Config) any { return &c.Bins },
	},
	{
		Name: "binning", Kind: Choice, Values: []string{"quantile", "uniform", "edges"}, Losses: binnedLoss, None: nothing,
		unset: int(Quantile), field: func(c *Config) any { return (*int)(&c.Binning) },
	},
	{
		Name: "moments", Kind: Choice, Values: []string{"quadrature", "projection"}, Losses: modeAlone, None: nothing,
		unset: int(Projection), field: func(c *Config) any { return (*int)(&c.Moments) },
	},
	{
		Name: "slope_of", Kind: Choice, Values: []string{"rejected", "selected"}, Losses: modeAlone, None: nothing,
		unset: int(Rejected), field: func(c *Config) any { return (*int)(&c.SlopeOf) },
	},
	{
		Name: "reduction", Kind: Choice, Values: []string{"mean", "sum"}, Losses: modeAlone, None: nothing,
		unset: int(Mean), field: func(c *Config) any { return (*int)(&c.Reduction) },
	},
	{
		Name: "monotonic", Kind: Flag, Losses: modeAlone, None: nothing, order: 2,
		needs: "bounds the moments above the slope (a linear response is monotonic already), which",
		unset: false, field: func(c *Config) any { return &c.Monotonic },
	},
	{
		Name: "unbiased", Kind: Flag, Losses: []LossKind{MoDe, DisCo}, None: nothing,
		unset: true, unsetIn: map[LossKind]any{DisCo: false, Flatness: false}, field: func(c *Config) any { return &c.Unbiased },
	},
	{
		Name: "max_slope", Kind: Number, Losses: modeAlone, None: math.Inf(1), lowest: 0, above: true, highest: math.Inf(1),
		order: 1, needs: "bounds the slope, which",
		unset: math.Inf(1), field: func(c *Config) any { return &c.MaxSlope },
	},
	{
		Name: "slope_penalty", Kind: Number, Losses: modeAlone, None: nothing, lowest: 0, highest: math.Inf(1),
		order: 1, needs: "acts on the slope, which",
		unset: 0.0, field: func(c *Config) any { return &c.SlopePenalty },
	},
	{
		Name: "mass_range", Kind: Range, Losses: binnedLoss, None: nothing,
		unset: unbounded(), field: func(c *Config) any { return &c.MassRange },
	},
	{
		Name: "score_range", Kind: Range, Losses: binnedLoss, None: nothing,
		unset: [2]float64{0, 1}, field: func(c *Config) any { return &c.ScoreRange },
	},
	{
		Name: "edges", Kind: Numbers, Losses: binnedLoss, None: nothing,
		unset: []float64(nil), field: func(c *Config) any { return &c.Edges },
	},
	{
		Name: "background_label", Kind: Labels, Losses: everyLoss, None: nothing,
		unset: []int32{0}, field: func(c *Config) any { return &c.BackgroundLabel },
	},
}

// assign sets what a field points to.
func assign(field, value any) {
	switch p := field.(type) {
	case *int:
		*p = value.(int)
	case *bool:
		*p = value.(bool)
	case *float64:
		*p = value.(float64)
	case *[2]float64:
		*p = value.([2]float64)
	case *[]float64:
		*p = slices.Clone(value.([]float64))
	case *[]int32:
		*p = slices.Clone(value.([]int32))
	}
}

// Validate returns an error wrapping ErrOption for the first option that is
// out of its range, or has no meaning for the loss or beside the others.
func (c *Config) Validate() error {
	if c.Loss < MoDe || c.Loss > Flatness {
		return options[0].check(c)
	}
	for k := range options {
		o := &options[k]
		if err := o.check(c); err != nil {
			return err
		}
		if c.Loss != MoDe && !slices.Contains(o.Losses, c.Loss) && !o.isDefault(c) {
			return optionError(o.Name, o.shown(c), "has no meaning for loss = %s: leave it at its default", lossNames[c.Loss])
		}
		if o.order > c.Order && !o.isDefault(c) {
			return optionError(o.Name, o.shown(c), "%s needs order >= %d, and order is %d", o.needs, o.order, c.Order)
		}
	}
	switch {
	case c.Binning != GivenEdges && len(c.Edges) > 0:
		return errorOf(ErrOption, "edges are given, which needs binning = edges")
	case c.Binning == GivenEdges && len(c.Edges) < 2:
		return errorOf(ErrOption, "edges has length %d: binning = edges needs at least 2 edges", len(c.Edges))
	case c.Binning == GivenEdges && c.MassRange != unbounded():
		return optionError("mass_range", shownRange(c.MassRange), "cannot be given together with edges, whose ends are the range")
	}
	return nil
}

// isDefault reports whether the option is at the default of the loss.
func (o *Option) isDefault(c *Config) bool {
	unset := o.unset
	if other, ok := o.unsetIn[c.Loss]; ok {
		unset = other
	}
	switch p := o.field(c).(type) {
	case *[]float64:
		return slices.Equal(*p, unset.([]float64))
	case *[]int32:
		return slices.Equal(*p, unset.([]int32))
	default:
		return pointee(p) == unset
	}
}

// pointee returns what a field points to.
func pointee(field any) any {
	switch p := field.(type) {
	case *int:
		return *p
	case *bool:
		return *p
	case *float64:
		return *p
	case *[2]float64:
		return *p
	case *[]float64:
		return *p
	case *[]int32:
		return *p
	}
	panic("core: an option of an unknown kind")
}

// check returns an error if the option is out of its range.
func (o *Option) check(c *Config) error {
	switch p := o.field(c).(type) {
	case *int:
		if o.Kind == Choice {
			if *p < 0 || *p >= len(o.Values) {
				return optionError(o.Name, *p, "must be the number of one of %s, counted from 0", strings.Join(o.Values, ", "))
			}
			return nil
		}
		return o.checkNumber(float64(*p))
	case *float64:
		return o.checkNumber(*p)
	case *[2]float64:
		return checkRange(o.Name, *p)
	case *[]float64:
		return checkIncreasing(o.Name, *p)
	case *[]int32:
		return checkLabels(o.Name, *p)
	}
	return nil
}

func (o *Option) checkNumber(x float64) error {
	switch {
	case x == o.None || (x > o.lowest || x == o.lowest && !o.above) && x <= o.highest && finite(x):
		return nil
	case o.Kind == Integer && (x > o.highest || o.highest < math.MaxInt32):
		return optionError(o.Name, int(x), "must be between %v and %v", int(o.lowest), int(o.highest))
	case o.Kind == Integer:
		return optionError(o.Name, int(x), "must be at least %v", int(o.lowest))
	case o.above:
		return optionError(o.Name, x, "must be greater than %v", o.lowest)
	}
	return optionError(o.Name, x, "must be finite and at least %v", o.lowest)
}

func checkRange(name string, r [2]float64) error {
	switch {
	case r == unbounded():
		return nil
	case !finite(r[0]) || !finite(r[1]):
		return optionError(name, shownRange(r), "must have two finite ends")
	case !(r[0] < r[1]):
		return optionError(name, shownRange(r), "must have its lower end below its upper end")
	case !finite(r[1] - r[0]):
		return optionError(name, shownRange(r), "is too wide for double precision")
	}
	return nil
}

func checkIncreasing(name string, values []float64) error {
	for i, x := range values {
		place := fmt.Sprintf("%s[%d]", name, i)
		if !finite(x) {
			return optionError(place, x, "must be finite")
		}
		if i > 0 && !(x > values[i-1]) {
			return optionError(place, x, "must be greater than %s[%d] = %v", name, i-1, values[i-1])
		}
	}
	if last := len(values) - 1; last > 0 {
		return checkRange(name, [2]float64{values[0], values[last]})
	}
	return nil
}

func checkLabels(name string, labels []int32) error {
	if len(labels) == 0 {
		return optionError(name, "[]", "must name at least one label")
	}
	if len(labels) == 1 {
		return nil
	}
	sorted := slices.Clone(labels)
	slices.Sort(sorted)
	for i, label := range sorted[1:] {
		if label == sorted[i] {
			return optionError(name, labels, "names label %d twice", label)
		}
	}
	return nil
}

// shown returns the value as errors show it.
func (o *Option) shown(c *Config) any {
	switch v := pointee(o.field(c)).(type) {
	case int:
		if o.Kind == Choice && v >= 0 && v < len(o.Values) {
			return o.Values[v]
		}
		return v
	case [2]float64:
		return shownRange(v)
	default:
		return v
	}
}

func shownRange(r [2]float64) string { return fmt.Sprintf("[%v, %v]", r[0], r[1]) }
