package core

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/moments"
)

// MaxOrder is the highest polynomial order that a Config may ask for.
const MaxOrder = moments.MaxOrder

// LossKind says which loss is computed.
type LossKind int

const (
	// MoDe is the loss of arXiv:2010.09745, see the package's documentation.
	MoDe LossKind = iota
	// DisCo is the squared distance correlation of arXiv:2001.05310, see disco.go.
	DisCo
	// Flatness is the loss of arXiv:1305.7248, see flatness.go.
	Flatness
)

// Binning says where the edges of the mass bins come from.
type Binning int

const (
	// Quantile bins hold nearly equal numbers of events (the paper's dynamic bins).
	Quantile Binning = iota
	// Uniform bins have equal widths over the mass range.
	Uniform
	// GivenEdges are those in Config.Edges.
	GivenEdges
	// Values are bins of one mass each: every mass that occurs is a bin.
	Values
)

// Missing says what the events are that have no mass, a NaN.
type Missing int

const (
	// MissingError is an error for the first of them.
	MissingError Missing = iota
	// MissingIgnore leaves them out, as events outside the mass range are.
	MissingIgnore
)

// BasisKind says which functions of the mass cost nothing.
type BasisKind int

const (
	// Legendre are the polynomials up to Config.Order.
	Legendre BasisKind = iota
	// BSpline are the B-splines of Config.Degree with Config.Knots.
	BSpline
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

// Config holds every option of the losses. Start from DefaultConfig: the zero
// Config is not valid. The table of options below says which values each may have
// and which losses take it.
type Config struct {
	Loss         LossKind   // which loss
	Order        int        // degree of the allowed dependence on mass
	Bins         int        // bins asked for; 0: as many as the events are enough for; without meaning for GivenEdges
	Binning      Binning    // where the edges come from
	Moments      MomentKind // how c_l follows from F_b
	SlopeOf      SlopeOf    // what MaxSlope is relative to
	Reduction    Reduction  // mean or sum over the bins
	Monotonic    bool       // keep the response monotonic in mass
	Unbiased     bool       // subtract the bias of a finite sample
	Joint        bool       // bin several variables together, not one by one
	Missing      Missing    // what a mass is that is NaN
	Basis        BasisKind  // which functions of the mass cost nothing
	Degree       int        // of BSpline; DefaultDegree: 3
	MaxSlope     float64    // bound on |c_1| over c_0 or 1-c_0; +Inf: none
	SlopePenalty float64    // adds SlopePenalty * c_1^2 to the integrand
	MassRange    [2]float64 // events outside take no part; (-Inf, Inf): lowest to highest mass
	ScoreRange   [2]float64 // limits of the integral; (-Inf, Inf): lowest to highest score
	Edges        []float64  // for GivenEdges: increasing, in units of mass
	Knots        []float64  // for BSpline: increasing, inside the mass range, in units of mass
	Variables    []Variable // what differs between several variables; nil: all have Bins, and no more is given

	// BackgroundLabel lists the labels whose events are seen, each with bins
	// of its own. It has no effect on events that come without labels.
	BackgroundLabel []int32

	warn func(string) // see WithWarnings; nil: nobody listens
}

// WithWarnings returns a configuration with which a call of a loss tells warn, at most once and before the call
// returns, where its result is not what it seems: masses so far from the others that rounding costs more than 1e-9
// of the largest element of the gradient, or that bounds of moments make the loss larger than any residual.
func (c Config) WithWarnings(warn func(string)) Config {
	c.warn = warn
	return c
}

// Variable is what one of several protected variables has of its own, with the meaning of the fields
// of Config that have the same names.
type Variable struct {
	Bins      int        // 0: Config.Bins
	MassRange [2]float64 // (-Inf, Inf): from the data
	Edges     []float64  // for GivenEdges: increasing, in units of this mass
	Knots     []float64  // for BSpline: increasing, inside this mass range
}

// OptionKind says of what kind the values of an option are.
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

// DefaultDegree stands for a Config.Degree that is not given.
const DefaultDegree = -1

// MaxSplineDegree is the highest degree of B-splines.
const MaxSplineDegree = moments.MaxSplineDegree

// Option is a row of the table of options, which DefaultConfig, Config.Validate
// and the bindings to other languages walk. What concerns several options at once
// is in Config.Validate.
type Option struct {
	Name   string     // as in mode_options of mode.h and in Python
	Kind   OptionKind // of its values
	Values []string   // of a Choice: their names, by number
	Losses []LossKind // which take the option; the others need it at its default

	// None is the value of an Integer or a Number that stands for "not given" or
	// "no limit", and that the limits do not apply to; NaN if there is none.
	None float64

	lowest, highest float64 // of an Integer or a Number
	above           bool    // lowest itself is not allowed

	order int    // the least order at which the option has a meaning
	needs string // why, as a part of a sentence

	byDefault   any              // the default
	byDefaultIn map[LossKind]any // that of losses which have another
	field       func(*Config) any
}

// Options returns the table, in the order of the members of mode_options in mode.h.
func Options() []Option { return options }

// Field returns a pointer to the option in a Config: *int, *bool, *float64,
// *[2]float64, *[]float64, *[]int32 or *[]Variable, as the kind says.
func (o *Option) Field(c *Config) any { return o.field(c) }

// DiffersByLoss reports whether losses have different defaults.
func (o *Option) DiffersByLoss() bool { return len(o.byDefaultIn) > 0 }

var (
	modeAlone, withBins, everyLoss = []LossKind{MoDe}, []LossKind{MoDe, Flatness}, []LossKind{MoDe, DisCo, Flatness}
	nan                            = math.NaN()
	inf                            = math.Inf(1)
	lossNames                      = []string{"mode", "disco", "flatness"}
)

// options is the table. A new option is a row here, a field of Config, and a member
// of mode_options in mode.h: CONTRIBUTING.md shows an example.
var options = []Option{
	{Name: "loss", Kind: Choice, Losses: everyLoss, None: nan, Values: lossNames,
		byDefault: int(MoDe), field: func(c *Config) any { return (*int)(&c.Loss) }},
	{Name: "order", Kind: Integer, Losses: modeAlone, None: nan, highest: MaxOrder,
		byDefault: 0, field: func(c *Config) any { return &c.Order }},
	{Name: "bins", Kind: Integer, Losses: withBins, None: 0, lowest: 1, highest: math.MaxInt32,
		byDefault: 0, field: func(c *Config) any { return &c.Bins }},
	{Name: "binning", Kind: Choice, Losses: withBins, None: nan, Values: []string{"quantile", "uniform", "edges", "values"},
		byDefault: int(Quantile), field: func(c *Config) any { return (*int)(&c.Binning) }},
	{Name: "moments", Kind: Choice, Losses: modeAlone, None: nan, Values: []string{"quadrature", "projection"},
		byDefault: int(Projection), field: func(c *Config) any { return (*int)(&c.Moments) }},
	{Name: "slope_of", Kind: Choice, Losses: modeAlone, None: nan, Values: []string{"rejected", "selected"},
		byDefault: int(Rejected), field: func(c *Config) any { return (*int)(&c.SlopeOf) }},
	{Name: "reduction", Kind: Choice, Losses: modeAlone, None: nan, Values: []string{"mean", "sum"},
		byDefault: int(Mean), field: func(c *Config) any { return (*int)(&c.Reduction) }},
	{Name: "monotonic", Kind: Flag, Losses: modeAlone, None: nan,
		order: 2, needs: "bounds the moments above the slope (a linear response is monotonic already), which",
		byDefault: false, field: func(c *Config) any { return &c.Monotonic }},
	{Name: "unbiased", Kind: Flag, Losses: []LossKind{MoDe, DisCo}, None: nan,
		byDefault: true, byDefaultIn: map[LossKind]any{DisCo: false, Flatness: false}, field: func(c *Config) any { return &c.Unbiased }},
	{Name: "joint", Kind: Flag, Losses: withBins, None: nan,
		byDefault: false, field: func(c *Config) any { return &c.Joint }},
	{Name: "missing", Kind: Choice, Losses: withBins, None: nan, Values: []string{"error", "ignore"},
		byDefault: int(MissingError), field: func(c *Config) any { return (*int)(&c.Missing) }},
	{Name: "basis", Kind: Choice, Losses: modeAlone, None: nan, Values: []string{"legendre", "bspline"},
		byDefault: int(Legendre), field: func(c *Config) any { return (*int)(&c.Basis) }},
	{Name: "degree", Kind: Integer, Losses: modeAlone, None: DefaultDegree, highest: MaxSplineDegree,
		byDefault: DefaultDegree, field: func(c *Config) any { return &c.Degree }},
	{Name: "max_slope", Kind: Number, Losses: modeAlone, None: inf, above: true, highest: inf,
		order: 1, needs: "bounds the slope, which",
		byDefault: inf, field: func(c *Config) any { return &c.MaxSlope }},
	{Name: "slope_penalty", Kind: Number, Losses: modeAlone, None: nan, highest: inf,
		order: 1, needs: "acts on the slope, which",
		byDefault: 0.0, field: func(c *Config) any { return &c.SlopePenalty }},
	{Name: "mass_range", Kind: Range, Losses: withBins, None: nan,
		byDefault: unbounded(), field: func(c *Config) any { return &c.MassRange }},
	{Name: "score_range", Kind: Range, Losses: withBins, None: nan,
		byDefault: [2]float64{0, 1}, field: func(c *Config) any { return &c.ScoreRange }},
	{Name: "edges", Kind: Numbers, Losses: withBins, None: nan,
		byDefault: []float64(nil), field: func(c *Config) any { return &c.Edges }},
	{Name: "knots", Kind: Numbers, Losses: modeAlone, None: nan,
		byDefault: []float64(nil), field: func(c *Config) any { return &c.Knots }},
	{Name: "variables", Kind: PerVariable, Losses: withBins, None: nan,
		byDefault: []Variable(nil), field: func(c *Config) any { return &c.Variables }},
	{Name: "background_label", Kind: Labels, Losses: everyLoss, None: nan,
		byDefault: []int32{0}, field: func(c *Config) any { return &c.BackgroundLabel }},
}

// DefaultConfig returns the defaults of a loss, which all bindings read from here.
func DefaultConfig(loss LossKind) Config {
	var cfg Config
	for _, o := range options {
		value := o.byDefault
		if other, ok := o.byDefaultIn[loss]; ok {
			value = other
		}
		assign(o.field(&cfg), value)
	}
	cfg.Loss = loss
	return cfg
}

func unbounded() [2]float64 { return [2]float64{math.Inf(-1), math.Inf(1)} }

// roundedTo returns the configuration with limits that events of type T can have:
// each limit is rounded to T, outwards, so that a number that was rounded to T as
// the limit is does not fall outside.
func roundedTo[T Float](c Config) Config {
	if !lanes.IsFloat32[T]() {
		return c
	}
	c.MassRange, c.ScoreRange, c.Edges = outwards(c.MassRange), outwards(c.ScoreRange), outermost(c.Edges)
	if len(c.Variables) > 0 {
		c.Variables = slices.Clone(c.Variables)
		for k := range c.Variables {
			v := &c.Variables[k]
			v.MassRange, v.Edges = outwards(v.MassRange), outermost(v.Edges)
		}
	}
	return c
}

// outermost returns edges of which the first and the last are rounded to float32, if they can.
func outermost(edges []float64) []float64 {
	last := len(edges) - 1
	if last <= 0 {
		return edges
	}
	ends := outwards([2]float64{edges[0], edges[last]})
	edges = append([]float64{ends[0]}, edges[1:]...)
	edges[last] = ends[1]
	return edges
}

// outwards rounds a range to float32, if it can.
func outwards(r [2]float64) [2]float64 {
	lo, hi := float32(r[0]), float32(r[1])
	if float64(lo) > r[0] {
		lo = math.Nextafter32(lo, float32(math.Inf(-1)))
	}
	if float64(hi) < r[1] {
		hi = math.Nextafter32(hi, float32(math.Inf(1)))
	}
	if !finite(float64(lo)) || !finite(float64(hi)) {
		return r // an end that float32 does not reach, or none
	}
	return [2]float64{float64(lo), float64(hi)}
}

func finite(x float64) bool { return x-x == 0 }
