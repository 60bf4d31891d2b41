// Package config has the options of a call, with their table and the checks of their values.
package config

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
)

// MaxOrder is the highest polynomial order of a Config.
const MaxOrder = 16

// Binning is the source of the edges of the mass bins.
type Binning int

const (
	Quantile   Binning = iota // nearly equal numbers of events in each bin (the paper's dynamic bins)
	Uniform                   // equal widths over the mass range
	GivenEdges                // the edges in Config.Edges
	Values                    // one bin for each mass that occurs
)

// Missing is the treatment of events whose mass is NaN.
type Missing int

const (
	MissingError  Missing = iota // the first such event is an error
	MissingIgnore                // such events take no part, as events outside the mass range
)

// MomentKind is the definition of the moments c_l in terms of the CDFs F_b.
type MomentKind int

const (
	// Projection is the least-squares fit of the bins' mean polynomials, P_bl = (1/W_b) sum w_i P_l(x_i),
	// A = (P'P)^-1 P'. The residuals of a polynomial response then have mean 0 in any bins.
	Projection MomentKind = iota
	// Quadrature is the paper's sum over bin centers, A_lb = (2l+1)/2 D_b P_l(x_b).
	Quadrature
)

// SlopeOf is the reference of MaxSlope.
type SlopeOf int

const (
	Rejected SlopeOf = iota // the background fraction below the score, c_0 (the paper's)
	Selected                // the background fraction that passes a cut at the score, 1 - c_0
)

// Reduction is the combination of the bins.
type Reduction int

const (
	Mean Reduction = iota // the sum over bins, divided by the number of bins used
	Sum                   // the sum over bins: the paper's formula
)

// Config holds every option of the loss. DefaultConfig makes it. A zero is a value: the zero Config is an error, and so is a bound or a
// range of 0. The table of options has the limits of each option.
type Config struct {
	Order        int        // degree of the allowed dependence on mass
	Bins         int        // number of bins; 0: as many as the events are enough for; no effect with GivenEdges
	Binning      Binning    // the source of the edges
	Moments      MomentKind // the definition of c_l
	SlopeOf      SlopeOf    // the reference of MaxSlope
	Reduction    Reduction  // mean or sum over the bins
	Monotonic    bool       // keep the response monotonic in mass
	Biased       bool       // do not subtract the bias of a finite sample: the paper's formula
	Joint        bool       // bin several variables together, not one by one
	Missing      Missing    // the treatment of NaN masses
	MaxSlope     float64    // bound on |c_1| over c_0 or 1-c_0, above 0; +Inf: none
	SlopePenalty float64    // adds SlopePenalty * c_1^2 to the integrand
	MassRange    [2]float64 // events outside take no part; {-Inf, Inf}: lowest to highest mass
	ScoreRange   [2]float64 // limits of the integral; {-Inf, Inf}: lowest to highest score
	Edges        []float64  // for GivenEdges: increasing, in units of mass
	Variables    []Variable // the differences between several variables; nil: all have Bins, and no limits

	// BackgroundLabel lists the labels of the events that take part, 0 by default. Each label has bins of its own. Without labels
	// every event takes part.
	BackgroundLabel []int32
}

// Variable has the options of one of several protected variables. DefaultVariable makes it. The fields of Config with the same
// names say what they mean.
type Variable struct {
	Bins      int        // 0: Config.Bins
	MassRange [2]float64 // {-Inf, Inf}: from the data
	Edges     []float64  // for GivenEdges: increasing, in units of this mass
}

// Unbounded returns the range of all numbers.
func Unbounded() [2]float64 { return [2]float64{math.Inf(-1), math.Inf(1)} }

// Bounded reports whether moments are bounded, so that c~ is not linear in F.
func (c *Config) Bounded() bool { return !math.IsInf(c.MaxSlope, 1) || c.Monotonic }

// Arrays returns the memory of the options that are lists.
func (c *Config) Arrays() []events.Array {
	all := []events.Array{events.ArrayOf("edges", c.Edges), events.ArrayOf("background_label", c.BackgroundLabel),
		events.ArrayOf("variables", c.Variables)}
	for k := range c.Variables {
		all = append(all, events.ArrayOf("edges"+ofVariable(k), c.Variables[k].Edges))
	}
	return all
}

// OfVariable returns the options of variable k: its own, or the common ones.
func (c *Config) OfVariable(k int) Variable {
	v := Variable{c.Bins, c.MassRange, c.Edges}
	if len(c.Variables) > 0 {
		v = c.Variables[k]
		if v.Bins == 0 {
			v.Bins = c.Bins
		}
	}
	if c.Binning == GivenEdges {
		v.MassRange = [2]float64{v.Edges[0], v.Edges[len(v.Edges)-1]}
	}
	return v
}
