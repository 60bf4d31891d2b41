package core

import (
	"cmp"
	"fmt"
	"math"
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
	for k := range options {
		o := &options[k]
		if err := o.check(o.field(&c), ""); err != nil {
			return err
		}
		if o.order > c.Order && !o.isDefault(&c) {
			return errs.OfOption(o.Name, o.shown(&c), "needs order >= %d, and order is %d", o.order, c.Order)
		}
	}
	if len(c.Variables) == 0 {
		if err := c.checkBins(&Variable{c.Bins, c.MassRange, c.Edges}, ""); err != nil {
			return err
		}
	} else if o := c.givenForAll(); o != nil {
		return errs.OfOption(o.Name, o.shown(&c), "cannot be given for all variables together: give one for each")
	}
	for k := range c.Variables {
		if err := c.checkBins(&c.Variables[k], ofVariable(k)); err != nil {
			return err
		}
	}
	return cmp.Or(
		c.beside(c.Joint, "joint = true: cells of several variables have no single slope", "max_slope", "monotonic", "slope_penalty"),
		c.beside(c.Joint, "joint = true, which needs moments = projection", "moments"),
	)
}

// beside returns an error for the first of these options that is not at its default, if another option holds.
func (c *Config) beside(holds bool, other string, names ...string) error {
	for k := range options {
		if o := &options[k]; holds && slices.Contains(names, o.Name) && !o.isDefault(c) {
			return errs.OfOption(o.Name, o.shown(c), "cannot be combined with %s", other)
		}
	}
	return nil
}

// checkBins checks the bins of a variable.
func (c *Config) checkBins(v *Variable, of string) error {
	switch {
	case c.Binning != GivenEdges && len(v.Edges) > 0:
		return errs.Of(ErrOption, "edges%s has length %d, but binning = %s takes none: set binning = edges, or leave them out", of, len(v.Edges), binnings[c.Binning])
	case c.Binning == GivenEdges && len(v.Edges) < 2:
		return errs.Of(ErrOption, "edges%s has length %d: binning = edges needs at least 2 edges", of, len(v.Edges))
	case c.Binning == GivenEdges && v.MassRange != noRange:
		return errs.OfOption("mass_range"+of, errs.Range(v.MassRange), "cannot be combined with edges: their ends are the range")
	}
	return nil
}

// givenForAll returns the first option, other than bins, that each variable can have and that is given for all; nil if there
// is none.
func (c *Config) givenForAll() *Option {
	for k := range options {
		if o := &options[k]; o.ofVariable != nil && o.Kind != Integer && !o.isDefault(c) {
			return o
		}
	}
	return nil
}

// check returns an error if a value of the option is out of its range. Errors name the option and
// add `of`: "" or " of variable 1".
func (o *Option) check(field any, of string) error {
	name := o.Name + of
	switch p := field.(type) {
	case *int:
		if o.Kind == Integer {
			return o.checkNumber(name, float64(*p))
		}
		if *p < 0 || *p >= len(o.Values) {
			return errs.OfOption(name, *p, "must be the number of one of %s, counted from 0", strings.Join(o.Values, ", "))
		}
	case *float64:
		return o.checkNumber(name, *p)
	case *[2]float64:
		return checkRange(name, *p)
	case *[]float64:
		place := func(i int) string { return fmt.Sprintf("%s[%d]%s", o.Name, i, of) }
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
	case *[]Variable:
		if len(*p) > MaxVariables {
			return errs.OfOption(name, len(*p), "are more than the %d that a call can have", MaxVariables)
		}
		for v := range *p {
			for k := range options {
				if each := &options[k]; each.ofVariable != nil {
					if err := each.check(each.ofVariable(&(*p)[v]), ofVariable(v)); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func (o *Option) checkNumber(name string, x float64) error {
	switch {
	case x == o.None || (x > o.lowest || x == o.lowest && !o.above) && x <= o.highest && events.IsFinite(x):
		return nil
	case o.Kind == Integer && (x > o.highest || o.highest < math.MaxInt32):
		return errs.OfOption(name, int(x), "must be between %v and %v", int(o.lowest), int(o.highest))
	case o.Kind == Integer:
		return errs.OfOption(name, int(x), "must be at least %v", int(o.lowest))
	case o.above:
		return errs.OfOption(name, x, "must be greater than %v", o.lowest)
	}
	return errs.OfOption(name, x, "must be finite and at least %v", o.lowest)
}

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
