package core

import (
	"fmt"
	"math"
	"slices"
)

// MaxOrder is the highest polynomial order that a Config may ask for.
const MaxOrder = 16

// Binning says where the edges of the mass bins come from.
type Binning int

const (
	// Quantile bins hold nearly equal numbers of events (the paper's dynamic bins).
	Quantile Binning = iota
	// Uniform bins have equal widths over the mass range.
	Uniform
	// GivenEdges are those in Config.Edges.
	GivenEdges
)

// MomentKind says how the moments c_l follow from the CDFs F_b.
type MomentKind int

const (
	// Quadrature is the paper's sum over bin centres, A_lb = (2l+1)/2 D_b P_l(x_b).
	Quadrature MomentKind = iota
	// Projection is the least-squares fit of the bins' mean polynomials,
	// P_bl = (1/W_b) sum w_i P_l(x_i), A = (P'P)^-1 P': a polynomial response has
	// residuals of mean 0 whatever the bins.
	Projection
)

// SlopeOf says relative to what MaxSlope bounds the slope.
type SlopeOf int

const (
	// Rejected is the fraction of background below the score, c_0 (the paper's).
	Rejected SlopeOf = iota
	// Selected is the fraction that a cut at the score keeps, 1 - c_0.
	Selected
)

// Reduction says how the bins are combined.
type Reduction int

const (
	// Mean divides the sum over bins by the number of bins used.
	Mean Reduction = iota
	// Sum is the paper's formula.
	Sum
)

// Config holds every option of the loss. Start from DefaultConfig: the zero
// Config is not valid.
type Config struct {
	Order        int        // degree of the allowed dependence on mass, 0..MaxOrder
	Bins         int        // bins asked for, >= 1; 0: as many as the events are enough for; without meaning for GivenEdges
	Binning      Binning    // where the edges come from
	Edges        []float64  // for GivenEdges: increasing, in units of mass
	MassRange    [2]float64 // events outside take no part; (-Inf, Inf): lowest to highest mass
	MaxSlope     float64    // bound on |c_1| over c_0 or 1-c_0, > 0; +Inf: none
	SlopeOf      SlopeOf    // what MaxSlope is relative to
	Monotonic    bool       // keep the response monotonic in mass (Order >= 2)
	Moments      MomentKind // how c_l follows from F_b
	Unbiased     bool       // subtract the bias of a finite sample
	SlopePenalty float64    // adds SlopePenalty * c_1^2 to the integrand, >= 0
	ScoreRange   [2]float64 // limits of the integral; (-Inf, Inf): lowest to highest score
	Reduction    Reduction  // mean or sum over the bins

	// BackgroundLabel lists the labels whose events are seen, each with bins
	// of its own. It has no effect on events that come without labels.
	BackgroundLabel []int32
}

// DefaultConfig returns the defaults, which all bindings read from here.
func DefaultConfig() Config {
	return Config{
		Order:           0,
		Binning:         Quantile,
		MassRange:       unbounded(),
		MaxSlope:        math.Inf(1),
		SlopeOf:         Rejected,
		Moments:         Quadrature,
		ScoreRange:      [2]float64{0, 1},
		Reduction:       Mean,
		BackgroundLabel: []int32{0},
	}
}

func unbounded() [2]float64 { return [2]float64{math.Inf(-1), math.Inf(1)} }

// bounded reports whether moments are bounded, so that c~ is not linear in F.
func (c *Config) bounded() bool { return !math.IsInf(c.MaxSlope, 1) || c.Monotonic }

// Validate returns an error wrapping ErrOption for the first option that is
// out of its range.
func (c *Config) Validate() error {
	switch {
	case c.Order < 0 || c.Order > MaxOrder:
		return optionError("order", c.Order, "must be between 0 and %d", MaxOrder)
	case c.Binning < Quantile || c.Binning > GivenEdges:
		return optionError("binning", int(c.Binning), "is not a known kind of binning")
	case c.Moments < Quadrature || c.Moments > Projection:
		return optionError("moments", int(c.Moments), "is not a known kind of moments")
	case c.SlopeOf < Rejected || c.SlopeOf > Selected:
		return optionError("slope_of", int(c.SlopeOf), "is neither rejected nor selected")
	case c.Reduction < Mean || c.Reduction > Sum:
		return optionError("reduction", int(c.Reduction), "is neither mean nor sum")
	case c.Binning != GivenEdges && (c.Bins < 0 || c.Bins > math.MaxInt32):
		return optionError("bins", c.Bins, "must be at least 1, or 0 for a number that follows from the events")
	case !(c.MaxSlope > 0):
		return optionError("max_slope", c.MaxSlope, "must be greater than 0")
	case !math.IsInf(c.MaxSlope, 1) && c.Order < 1:
		return optionError("max_slope", c.MaxSlope, "bounds the slope, which needs order >= 1, and order is %d", c.Order)
	case c.Monotonic && c.Order < 2:
		return errorOf(ErrOption, "monotonic needs order >= 2, and order is %d (a linear response is monotonic already)", c.Order)
	case !(c.SlopePenalty >= 0) || math.IsInf(c.SlopePenalty, 1):
		return optionError("slope_penalty", c.SlopePenalty, "must be finite and not negative")
	case c.SlopePenalty > 0 && c.Order < 1:
		return optionError("slope_penalty", c.SlopePenalty, "acts on the slope, which needs order >= 1, and order is %d", c.Order)
	case len(c.BackgroundLabel) == 0:
		return optionError("background_label", "[]", "must name at least one label")
	}
	if label, twice := repeated(c.BackgroundLabel); twice {
		return optionError("background_label", c.BackgroundLabel, "names label %d twice", label)
	}
	if err := validateRange("mass_range", c.MassRange); err != nil {
		return err
	}
	if err := validateRange("score_range", c.ScoreRange); err != nil {
		return err
	}
	return c.validateEdges()
}

// repeated returns a label that occurs more than once, if there is one.
func repeated(labels []int32) (label int32, twice bool) {
	if len(labels) == 1 {
		return 0, false
	}
	sorted := slices.Clone(labels)
	slices.Sort(sorted)
	for i, label := range sorted[1:] {
		if label == sorted[i] {
			return label, true
		}
	}
	return 0, false
}

// only returns an error for the first option that is not at its default, unless
// it is one that the loss takes.
func (c *Config) only(loss string, takes ...string) error {
	d := DefaultConfig()
	for _, option := range []struct {
		name         string
		value, unset any
	}{
		{"order", c.Order, d.Order},
		{"edges", fmt.Sprint(c.Edges), fmt.Sprint(d.Edges)},
		{"binning", int(c.Binning), int(d.Binning)},
		{"bins", c.Bins, d.Bins},
		{"mass_range", shownRange(c.MassRange), shownRange(d.MassRange)},
		{"max_slope", c.MaxSlope, d.MaxSlope},
		{"slope_of", int(c.SlopeOf), int(d.SlopeOf)},
		{"monotonic", c.Monotonic, d.Monotonic},
		{"moments", int(c.Moments), int(d.Moments)},
		{"unbiased", c.Unbiased, d.Unbiased},
		{"slope_penalty", c.SlopePenalty, d.SlopePenalty},
		{"score_range", shownRange(c.ScoreRange), shownRange(d.ScoreRange)},
		{"reduction", int(c.Reduction), int(d.Reduction)},
	} {
		if option.value != option.unset && !slices.Contains(takes, option.name) {
			return optionError(option.name, option.value, "has no meaning for %s: leave it at its default", loss)
		}
	}
	return nil
}

func (c *Config) validateEdges() error {
	if c.Binning != GivenEdges {
		if len(c.Edges) > 0 {
			return errorOf(ErrOption, "edges are given, which needs binning = edges")
		}
		return nil
	}
	if len(c.Edges) < 2 {
		return errorOf(ErrOption, "edges has length %d: binning = edges needs at least 2 edges", len(c.Edges))
	}
	for i, edge := range c.Edges {
		if !finite(edge) {
			return optionError(fmt.Sprintf("edges[%d]", i), edge, "must be finite")
		}
		if i > 0 && !(edge > c.Edges[i-1]) {
			return optionError(fmt.Sprintf("edges[%d]", i), edge, "must be greater than edges[%d] = %v", i-1, c.Edges[i-1])
		}
	}
	if c.MassRange != unbounded() {
		return optionError("mass_range", shownRange(c.MassRange), "cannot be given together with edges, whose ends are the range")
	}
	return validateRange("edges", [2]float64{c.Edges[0], c.Edges[len(c.Edges)-1]})
}

func validateRange(name string, r [2]float64) error {
	if r == unbounded() {
		return nil
	}
	shown := shownRange(r)
	if !finite(r[0]) || !finite(r[1]) {
		return optionError(name, shown, "must have two finite ends")
	}
	if !(r[0] < r[1]) {
		return optionError(name, shown, "must have its lower end below its upper end")
	}
	if !finite(r[1] - r[0]) {
		return optionError(name, shown, "is too wide for double precision")
	}
	return nil
}

func shownRange(r [2]float64) string { return fmt.Sprintf("[%v, %v]", r[0], r[1]) }

func finite(x float64) bool { return x-x == 0 }
