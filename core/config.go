package core

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/moments"
)

// MaxOrder is the highest polynomial order of a Config.
const MaxOrder = moments.MaxOrder

// Binning is the source of the edges of the mass bins.
type Binning = bins.Binning

const (
	Quantile   = bins.Quantile   // nearly equal numbers of events in each bin (the paper's dynamic bins)
	Uniform    = bins.Uniform    // equal widths over the mass range
	GivenEdges = bins.GivenEdges // the edges in Config.Edges
)

// NoStrength is the Strength of a Config that has none.
const NoStrength = -1

// Config holds every option of the loss and of the law. DefaultConfig makes it. A zero is a value: the zero Config is an error, and so is a bound or a
// range of 0. The table of options has the limits of each option.
type Config struct {
	Order     int        // degree of the allowed dependence on mass
	Binning   Binning    // the source of the edges
	Variable             // the bins of all variables
	Variables []Variable // the differences between several variables; nil: all have Bins, and no limits

	// Quadrature takes the paper's moments, the sums over bin centers, A_lb = (2l+1)/2 D_b P_l(x_b). Otherwise they are the least-squares
	// fit of the bins' mean polynomials, P_bl = (1/W_b) sum w_i P_l(x_i), A = (P'P)^-1 P'. The residuals of a polynomial response then
	// have mean 0 in any bins.
	Quadrature    bool
	MaxSlope      float64    // bound on |c_1| over c_0, the fraction of background below the score, as in the paper; above 0; +Inf: none
	OfSelected    bool       // MaxSlope is relative to 1 - c_0, the fraction that passes a cut at the score
	Monotonic     bool       // keep the response monotonic in mass
	SlopePenalty  float64    // adds SlopePenalty * c_1^2 to the integrand
	Biased        bool       // do not subtract the bias of a finite sample: the paper's formula
	Sum           bool       // the loss is the sum over the bins, the paper's formula, and not their mean
	Joint         bool       // bin several variables together, not one by one
	IgnoreMissing bool       // events with a NaN mass take no part, as events outside the mass range; otherwise the first one is an error
	ScoreRange    [2]float64 // limits of the integral; {-Inf, Inf}: lowest to highest score

	// The law of package constraint. The loss ignores these fields, but for Strength in Strengthen.

	Strength       float64 // K, finite and at least 0; NoStrength: the default of the law
	Floor          float64 // the least start, at most 1, where 1 is no planing; 0: the default of the law
	TrainingEvents float64 // background events of the whole training, of all labels and processes; 0: unknown
	FromLogits     bool    // the scores are logits, of any size, and the push is with respect to them
	Categories     int     // values of Events.Category, 0 to Categories-1, each with a push and a memory of its own; 0: none

	// BackgroundLabel lists the labels of the events that take part, 0 by default. Each label has bins of its own. Without labels
	// every event takes part.
	BackgroundLabel []int32
}

// Variable has the options of the bins of one protected variable, or of all. DefaultVariable makes it.
type Variable struct {
	Bins      int        // number of bins; 0: that of all variables, or as many as the events are enough for; no effect with GivenEdges
	MassRange [2]float64 // events outside take no part; {-Inf, Inf}: lowest to highest mass
	Edges     []float64  // for GivenEdges: increasing, in units of mass
}

// noRange is a range without limits.
var noRange = [2]float64{math.Inf(-1), math.Inf(1)}

// DefaultConfig returns the default configuration.
func DefaultConfig() Config {
	return Config{
		MaxSlope:        math.Inf(1),
		Variable:        Variable{MassRange: noRange},
		ScoreRange:      [2]float64{0, 1},
		BackgroundLabel: []int32{0},
		Strength:        NoStrength,
	}
}

var defaults = DefaultConfig()

// DefaultVariable returns the default options of one of several variables.
func DefaultVariable() Variable { return Variable{MassRange: noRange} }

// Plan returns what the stages of a call read of a configuration, if it is valid for events with so many variables of mass; 0: for any.
// Its limits are rounded to the type of the events: float32 or float64.
func (c Config) Plan(variables int, single bool) (*loss.Plan, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if len(c.Variables) > 0 && variables > 0 && len(c.Variables) != variables {
		return nil, errs.Of(ErrOption, "bins, mass_range or edges have one entry for each of %d variables, but mass has %d variables",
			len(c.Variables), variables)
	}
	if variables > 1 && len(c.Variables) == 0 {
		if o := c.givenForAll(); o != nil {
			return nil, errs.OfOption(o.name, o.text(o.field(&c)), "is a single value, but mass has %d variables: give one for each", variables)
		}
	}
	p := &loss.Plan{
		Options: moments.Options{
			Order: c.Order, Quadrature: c.Quadrature, MaxSlope: c.MaxSlope, OfSelected: c.OfSelected,
			Monotonic: c.Monotonic, SlopePenalty: c.SlopePenalty, Biased: c.Biased,
		},
		Sum:   c.Sum,
		Law:   loss.Law{Strength: c.Strength, Floor: c.Floor, TrainingEvents: c.TrainingEvents, FromLogits: c.FromLogits, Categories: c.Categories},
		Joint: c.Joint && variables != 1, BackgroundLabel: c.BackgroundLabel, ScoreRange: c.ScoreRange,
	}
	round := func(r [2]float64) [2]float64 { return r }
	if single {
		round = outwards
	}
	for k := range variables {
		v := c.Variable
		if len(c.Variables) > 0 {
			v = c.Variables[k]
		}
		if c.Binning == GivenEdges {
			last := len(v.Edges) - 1
			v.MassRange, v.Edges = round([2]float64{v.Edges[0], v.Edges[last]}), slices.Clone(v.Edges)
			v.Edges[0], v.Edges[last] = v.MassRange[0], v.MassRange[1]
			if err := roundInner(v.Edges, single); err != nil {
				return nil, err
			}
		}
		p.Masses = append(p.Masses, bins.Options{
			Limits: events.Limits{Mass: round(v.MassRange), Score: round(c.ScoreRange), IgnoreMissing: c.IgnoreMissing},
			Kind:   c.Binning, Asked: cmp.Or(v.Bins, c.Bins), Edges: v.Edges, Order: c.Order,
		})
	}
	return p, nil
}

// roundInner rounds the edges between the first and the last as the masses are, if these are float32: a mass on an edge is above it.
func roundInner(edges []float64, single bool) error {
	for k := 1; k < len(edges) && single; k++ {
		given := edges[k]
		if near := float64(float32(given)); k < len(edges)-1 && events.IsFinite(near) {
			edges[k] = near
		}
		if edges[k] <= edges[k-1] {
			return errs.OfOption(fmt.Sprintf("edges[%d]", k), given, "is the same number in float32 as the edge before it: "+
				"give edges farther apart, or masses in float64")
		}
	}
	return nil
}

// outwards rounds a range outwards to float32, if float32 reaches its ends. So a mass or a score that equals
// a limit stays inside after both are rounded.
func outwards(r [2]float64) [2]float64 {
	lo, hi := float32(r[0]), float32(r[1])
	if float64(lo) > r[0] {
		lo = math.Nextafter32(lo, float32(math.Inf(-1)))
	}
	if float64(hi) < r[1] {
		hi = math.Nextafter32(hi, float32(math.Inf(1)))
	}
	if !events.IsFinite(float64(lo)) || !events.IsFinite(float64(hi)) {
		return r
	}
	return [2]float64{float64(lo), float64(hi)}
}
