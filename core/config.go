package core

import "github.com/libmode/libmode/core/internal/config"

// MaxOrder is the highest polynomial order of a Config.
const MaxOrder = config.MaxOrder

// Config holds every option of the loss. DefaultConfig makes it. A zero is a value: the zero Config is an error, and so is a bound or a
// range of 0. core/internal/config has the fields, each with its meaning.
type Config = config.Config

// Variable has the options of one of several protected variables. DefaultVariable makes it.
type Variable = config.Variable

// Binning is the source of the edges of the mass bins.
type Binning = config.Binning

const (
	Quantile   = config.Quantile   // nearly equal numbers of events in each bin (the paper's dynamic bins)
	Uniform    = config.Uniform    // equal widths over the mass range
	GivenEdges = config.GivenEdges // the edges in Config.Edges
	Values     = config.Values     // one bin for each mass that occurs
)

// Missing is the treatment of events whose mass is NaN.
type Missing = config.Missing

const (
	MissingError  = config.MissingError  // the first such event is an error
	MissingIgnore = config.MissingIgnore // such events take no part, as events outside the mass range
)

// MomentKind is the definition of the moments c_l in terms of the CDFs F_b.
type MomentKind = config.MomentKind

const (
	Projection = config.Projection // the least-squares fit of the bins' mean polynomials
	Quadrature = config.Quadrature // the paper's sum over bin centers
)

// SlopeOf is the reference of MaxSlope.
type SlopeOf = config.SlopeOf

const (
	Rejected = config.Rejected // the background fraction below the score, c_0 (the paper's)
	Selected = config.Selected // the background fraction that passes a cut at the score, 1 - c_0
)

// Reduction is the combination of the bins.
type Reduction = config.Reduction

const (
	Mean = config.Mean // the sum over bins, divided by the number of bins used
	Sum  = config.Sum  // the sum over bins: the paper's formula
)

// Option is a row of the table of options, which the bindings to other languages walk.
type Option = config.Option

// OptionKind is the kind of the values of an option.
type OptionKind = config.OptionKind

const (
	Integer     = config.Integer     // int
	Flag        = config.Flag        // bool
	Choice      = config.Choice      // an int that has a name, see Option.Values
	Number      = config.Number      // float64
	Range       = config.Range       // [2]float64: finite and increasing, or {-Inf, Inf} for none
	Numbers     = config.Numbers     // []float64: finite and increasing; empty for none
	Labels      = config.Labels      // []int32: all different, at least one
	PerVariable = config.PerVariable // []Variable
)

// Options returns the table, in the order of the members of mode_options in mode.h.
func Options() []Option { return config.Options() }

// DefaultConfig returns the default configuration.
func DefaultConfig() Config { return config.Default() }

// DefaultVariable returns the default options of one of several variables.
func DefaultVariable() Variable { return config.DefaultVariable() }
