package core

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/moments"
)

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
			return errs.OfOption(o.Name, o.shown(c), "has no meaning for loss = %s: leave it at its default", lossNames[c.Loss])
		}
		if o.order > c.Order && !o.isDefault(c) {
			return errs.OfOption(o.Name, o.shown(c), "%s needs order >= %d, and order is %d", o.needs, o.order, c.Order)
		}
	}
	if err := c.checkVariables(); err != nil {
		return err
	}
	if err := c.checkJoint(); err != nil {
		return err
	}
	return c.checkBasis()
}

// checkVariables checks what the bins of each variable are made of. What differs between variables is
// given for each or for none.
func (c *Config) checkVariables() error {
	if len(c.Variables) == 0 {
		return c.checkBins(Variable{c.Bins, c.MassRange, c.Edges, c.Knots}, "")
	}
	for _, name := range []string{"mass_range", "edges", "knots"} {
		if o := optionOf(name); !o.isDefault(c) {
			return errs.OfOption(name, o.shown(c), "cannot be given for all variables together: give one for each")
		}
	}
	for k, v := range c.Variables {
		if err := c.checkBins(v, fmt.Sprintf(" of variable %d", k)); err != nil {
			return err
		}
	}
	return nil
}

// checkBins checks what the bins of a variable are made of.
func (c *Config) checkBins(v Variable, of string) error {
	switch {
	case c.Binning != GivenEdges && len(v.Edges) > 0:
		return errs.Of(ErrOption, "edges%s has length %d, but binning = %s takes none: set binning = edges, or leave them out", of, len(v.Edges), optionOf("binning").shown(c))
	case c.Binning == GivenEdges && len(v.Edges) < 2:
		return errs.Of(ErrOption, "edges%s has length %d: binning = edges needs at least 2 edges", of, len(v.Edges))
	case c.Binning == GivenEdges && v.MassRange != unbounded():
		return errs.OfOption("mass_range"+of, errs.Range(v.MassRange), "cannot be given together with edges, whose ends are the range")
	case c.Binning == Values && v.Bins != 0:
		return errs.OfOption("bins"+of, v.Bins, "has no meaning with binning = values: leave it out")
	case c.Basis != BSpline && len(v.Knots) > 0:
		return errs.Of(ErrOption, "knots%s has length %d, but basis = legendre takes none: set basis = bspline, or leave them out", of, len(v.Knots))
	}
	lo, hi := v.MassRange[0], v.MassRange[1]
	if c.Binning == GivenEdges {
		lo, hi = v.Edges[0], v.Edges[len(v.Edges)-1]
	}
	if k := moments.KnotOutside(v.Knots, lo, hi); k >= 0 {
		return errs.Of(ErrOption, "knots[%d]%s = %v does not lie inside the mass range [%v, %v]", k, of, v.Knots[k], lo, hi)
	}
	return nil
}

// checkJoint checks the options of bins in several variables.
func (c *Config) checkJoint() error {
	if !c.Joint {
		return nil
	}
	why := "cannot be given together with joint = true, whose bins are cells of several variables, in which there is no one slope"
	if err := c.without(why, "max_slope", "monotonic", "slope_penalty"); err != nil {
		return err
	}
	switch {
	case c.Loss == MoDe && c.Moments != Projection:
		return errs.OfOption("moments", "quadrature", "cannot be given together with joint = true, which has projection moments only")
	case c.Basis != Legendre:
		return errs.OfOption("basis", "bspline", "cannot be given together with joint = true, which has polynomials only")
	case c.Binning == Values:
		return errs.OfOption("binning", "values", "cannot be given together with joint = true, which needs quantile, uniform or given bins")
	}
	return nil
}

// checkBasis checks what the bins are fitted with.
func (c *Config) checkBasis() error {
	if c.Binning == Values && c.Loss == MoDe && c.Moments != Projection {
		return errs.OfOption("moments", "quadrature", "cannot be given together with binning = values, which has projection moments only")
	}
	if c.Basis == Legendre {
		if c.Degree != DefaultDegree {
			return errs.OfOption("degree", c.Degree, "needs basis = bspline")
		}
		return nil
	}
	why := "cannot be given together with basis = bspline, whose functions are not polynomials up to an order"
	if err := c.without(why, "order", "max_slope", "monotonic", "slope_penalty", "moments"); err != nil {
		return err
	}
	return nil
}

// without returns an error if one of these options is not at its default.
func (c *Config) without(why string, names ...string) error {
	for _, name := range names {
		if o := optionOf(name); !o.isDefault(c) {
			return errs.OfOption(name, o.shown(c), "%s", why)
		}
	}
	return nil
}

// optionOf returns the row of the table that has a name.
func optionOf(name string) *Option {
	return &options[slices.IndexFunc(options, func(o Option) bool { return o.Name == name })]
}

// isDefault reports whether the option is at the default of the loss.
func (o *Option) isDefault(c *Config) bool {
	byDefault := o.byDefault
	if other, ok := o.byDefaultIn[c.Loss]; ok {
		byDefault = other
	}
	switch p := o.field(c).(type) {
	case *[]float64:
		return slices.Equal(*p, byDefault.([]float64))
	case *[]int32:
		return slices.Equal(*p, byDefault.([]int32))
	case *[]Variable:
		return len(*p) == 0
	default:
		return pointee(p) == byDefault
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
	case *[]Variable:
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
				return errs.OfOption(o.Name, *p, "must be the number of one of %s, counted from 0", strings.Join(o.Values, ", "))
			}
			return nil
		}
		return o.checkNumber(float64(*p))
	case *float64:
		return o.checkNumber(*p)
	case *[2]float64:
		return checkRange(o.Name, *p)
	case *[]float64:
		return checkIncreasing(o.Name, "", *p)
	case *[]int32:
		return checkLabels(o.Name, *p)
	case *[]Variable:
		return checkVariables(*p)
	}
	return nil
}

// checkVariables checks what each variable has of its own.
func checkVariables(variables []Variable) error {
	if len(variables) > MaxVariables {
		return errs.OfOption("variables", len(variables), "are more than the %d that a call can have", MaxVariables)
	}
	for k, v := range variables {
		of := fmt.Sprintf(" of variable %d", k)
		if v.Bins < 0 || v.Bins > math.MaxInt32 {
			return errs.OfOption("bins"+of, v.Bins, "must be at least 1")
		}
		if err := checkRange("mass_range"+of, v.MassRange); err != nil {
			return err
		}
		if err := checkIncreasing("edges", of, v.Edges); err != nil {
			return err
		}
		if err := checkIncreasing("knots", of, v.Knots); err != nil {
			return err
		}
	}
	return nil
}

func (o *Option) checkNumber(x float64) error {
	switch {
	case x == o.None || (x > o.lowest || x == o.lowest && !o.above) && x <= o.highest && finite(x):
		return nil
	case o.Kind == Integer && (x > o.highest || o.highest < math.MaxInt32):
		return errs.OfOption(o.Name, int(x), "must be between %v and %v", int(o.lowest), int(o.highest))
	case o.Kind == Integer:
		return errs.OfOption(o.Name, int(x), "must be at least %v", int(o.lowest))
	case o.above:
		return errs.OfOption(o.Name, x, "must be greater than %v", o.lowest)
	}
	return errs.OfOption(o.Name, x, "must be finite and at least %v", o.lowest)
}

func checkRange(name string, r [2]float64) error {
	switch {
	case r == unbounded():
		return nil
	case !finite(r[0]) || !finite(r[1]):
		return errs.OfOption(name, errs.Range(r), "must have two finite ends")
	case !(r[0] < r[1]):
		return errs.OfOption(name, errs.Range(r), "must have its lower end below its upper end")
	case !finite(r[1] - r[0]):
		return errs.OfOption(name, errs.Range(r), "is too wide for double precision")
	}
	return nil
}

// checkIncreasing checks a list of numbers; `of` says whose it is, "" or " of variable 1".
func checkIncreasing(name, of string, values []float64) error {
	for i, x := range values {
		place := fmt.Sprintf("%s[%d]%s", name, i, of)
		if !finite(x) {
			return errs.OfOption(place, x, "must be finite")
		}
		if i > 0 && !(x > values[i-1]) {
			return errs.OfOption(place, x, "must be greater than %s[%d]%s = %v", name, i-1, of, values[i-1])
		}
	}
	if last := len(values) - 1; last > 0 {
		return checkRange(name+of, [2]float64{values[0], values[last]})
	}
	return nil
}

func checkLabels(name string, labels []int32) error {
	if len(labels) == 0 {
		return errs.OfOption(name, "[]", "must name at least one label")
	}
	if len(labels) == 1 {
		return nil
	}
	sorted := slices.Clone(labels)
	slices.Sort(sorted)
	for i, label := range sorted[1:] {
		if label == sorted[i] {
			return errs.OfOption(name, labels, "names label %d twice", label)
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
		return errs.Range(v)
	default:
		return v
	}
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
	case *[]Variable:
		*p = slices.Clone(value.([]Variable))
	}
}
