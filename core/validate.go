package core

import (
	"fmt"
	"slices"
	"strings"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
)

// Validate returns an error that wraps ErrOption for the first option that is out of its range, or has no meaning beside
// the others.
func (c Config) Validate() error {
	if c.MaxSlope == 0 && c.ScoreRange == [2]float64{} && c.BackgroundLabel == nil {
		return errs.Of(ErrOption, "these options do not come from DefaultConfig(): a zero is a value, and max_slope = 0 is no bound")
	}
	if len(c.Variables) > MaxVariables {
		return errs.Of(ErrOption, "options are given for %d variables of mass, and a call can have %d", len(c.Variables), MaxVariables)
	}
	for k := range options {
		o := &options[k]
		if err := o.check(o.field(&c), ""); err != nil {
			return err
		}
		if o.order > c.Order && !o.isDefault(&c) {
			return errs.OfOption(o.name, o.text(o.field(&c)), "needs order >= %d, and order is %d", o.order, c.Order)
		}
		for v := 0; v < len(c.Variables) && o.each; v++ {
			if err := o.check(o.field(&Config{Variable: c.Variables[v]}), fmt.Sprintf(" of variable %d", v)); err != nil {
				return err
			}
		}
	}
	if len(c.Variables) == 0 {
		if err := c.checkBins(""); err != nil {
			return err
		}
	} else if o := c.givenForAll(); o != nil {
		return errs.OfOption(o.name, o.text(o.field(&c)), "cannot be given for all variables together: give one for each")
	}
	for k, v := range c.Variables {
		of := Config{Binning: c.Binning, Variable: v}
		if err := of.checkBins(fmt.Sprintf(" of variable %d", k)); err != nil {
			return err
		}
		if v.Bins > 0 && c.Bins > 0 {
			return errs.OfOption("bins", c.Bins, "is for all variables, and variable %d has bins = %d: give one for all, or one for each", k, v.Bins)
		}
	}
	if c.Joint {
		why := ": cells of several variables have no single slope"
		for _, name := range []string{"max_slope", "monotonic", "slope_penalty", "moments"} {
			if name == "moments" {
				why = ", which needs moments = projection"
			}
			if o := optionOf(name); !o.isDefault(&c) {
				return errs.OfOption(name, o.text(o.field(&c)), "cannot be combined with joint = true%s", why)
			}
		}
	}
	return nil
}

// checkBins checks the bins of a variable, or of all.
func (c *Config) checkBins(of string) error {
	switch {
	case c.Binning != GivenEdges && len(c.Edges) > 0:
		return errs.Of(ErrOption, "edges%s has length %d, but binning = %s takes none: set binning = edges, or leave them out", of, len(c.Edges), optionOf("binning").values[c.Binning])
	case c.Binning == GivenEdges && len(c.Edges) < 2:
		return errs.Of(ErrOption, "edges%s has length %d: binning = edges needs at least 2 edges", of, len(c.Edges))
	case c.Binning == GivenEdges && c.MassRange != noRange:
		return errs.OfOption("mass_range"+of, errs.Range(c.MassRange), "cannot be combined with edges: their ends are the range")
	}
	return nil
}

// givenForAll returns the first option, other than bins, that each variable can have and that is given for all; nil if there
// is none.
func (c *Config) givenForAll() *option {
	for k := range options {
		if o := &options[k]; o.each && o.name != "bins" && !o.isDefault(c) {
			return o
		}
	}
	return nil
}

// check returns an error if a value of the option is out of its range. Errors name the option and
// add `of`: "" or " of variable 1".
func (o *option) check(field any, of string) error {
	name := o.name + of
	switch p := field.(type) {
	case *int:
		if o.values == nil {
			return o.checkNumber(name, float64(*p))
		}
		if *p < 0 || *p >= len(o.values) {
			return errs.OfOption(name, *p, "must be one of %s", strings.Join(o.values, ", "))
		}
	case *float64:
		return o.checkNumber(name, *p)
	case *[2]float64:
		return checkRange(name, *p)
	case *[]float64:
		place := func(i int) string { return fmt.Sprintf("%s[%d]%s", o.name, i, of) }
		for i, x := range *p {
			if !events.IsFinite(x) {
				return errs.OfOption(place(i), x, "must be finite")
			}
			if i > 0 && !(x > (*p)[i-1]) {
				return errs.OfOption(place(i), x, "must be greater than %s = %v", place(i-1), (*p)[i-1])
			}
		}
		if last := len(*p) - 1; last > 0 {
			return checkRange(name, [2]float64{(*p)[0], (*p)[last]})
		}
	case *[]int32:
		if len(*p) == 0 {
			return errs.OfOption(name, "[]", "must name at least one label")
		}
		for i, label := range *p {
			if slices.Contains((*p)[:i], label) {
				return errs.OfOption(name, *p, "names label %d twice", label)
			}
		}
	}
	return nil
}

func (o *option) checkNumber(name string, x float64) error {
	if x == o.none || (x > o.lowest || x == o.lowest && !o.above) && x <= o.highest && events.IsFinite(x) {
		return nil
	}
	return errs.OfOption(name, x, "must be %s", o.limits())
}

// isDefault reports whether the option is at its default.
func (o *option) isDefault(c *Config) bool { return o.text(o.field(c)) == o.text(o.field(&defaults)) }

func checkRange(name string, r [2]float64) error {
	switch {
	case r == noRange:
		return nil
	case !events.IsFinite(r[0]) || !events.IsFinite(r[1]):
		return errs.OfOption(name, errs.Range(r), "must have two finite ends")
	case !(r[0] < r[1]):
		return errs.OfOption(name, errs.Range(r), "must have its lower end below its upper end")
	case !events.IsFinite(r[1] - r[0]):
		return errs.OfOption(name, errs.Range(r), "is too wide for double precision")
	}
	return nil
}
