package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/moments"
	"gonum.org/v1/gonum/floats"
)

// The answers of a verdict.
const (
	NotFlat  = iota - 1 // a search would find a signal in selected background
	NotKnown            // the batches have too few events
	Flat                // no dependence is seen
)

// Verdict says whether batches show a dependence of a part: of a background label, or of one of its categories.
type Verdict struct {
	Label     int     // the place of the label in Config.BackgroundLabel
	Category  int     // -1 without categories
	Answer    int     // NotFlat, NotKnown or Flat
	Batches   float64 // of all parts
	Events    float64 // of background in all batches
	Tolerance float64 // N, the background events of the search
	Teaches   float64 // T, the background events of the training; 0: unknown
	// Efficiency of the background at each cut, from a half to a thousandth. Errors is the signal that a search with N events
	// would find in the selected background, over its statistical error, and Mass where; Doubt is the standard error of Errors.
	// Height is this bump relative to the background under it. NaN: the batches do not reach the cut.
	Efficiency, Errors, Doubt, Height, Mass [thresholds]float64
	Limit                                   float64 // the largest size of Errors that counts as flat
	Worst                                   int     // the cut that is most above it
	Zero                                    float64 // the mass near which the allowed response reaches 0; NaN: none
	ZeroAt                                  float64 // the efficiency of its cut
	Peak                                    float64 // the mass of a maximum of the selected spectrum that the spectrum before the cut has not; NaN: none
	PeakAt                                  float64 // the efficiency of its cut
	// The slope where it is above MaxSlope by more than the limit, and the largest moment over its bound by Monotonic; NaN: none
	Slope, SlopeAt, Turn, TurnAt float64
}

// A bump counts if it is larger than the limit by its doubt. Training events teach their own fluctuations, which add N/T to the
// variance of a search; an unknown T counts as N. studies/verdict/README.md has the study behind the numbers.
const (
	largestBump = 1.8 // errors, times sqrt(1 + N/T)
	surely      = 3.0 // standard errors above the limit
	elsewhere   = 2.0 // the limit of a window over the limit of the bump of the signal
	agreeing    = 2.0 // standard errors between two averages of one residual
	mostDoubt   = 1.0 // error of the number of errors, above which nothing is known
	enough      = 0.5 // of the batches must have had events enough of a category
	leastSeen   = 1.0 // event of a batch that passes a cut, which its ranks reach
	visible     = 0.1 // of the square of a shape, what its polynomial leaves, at least
	ofWindow    = 4   // cells in 32
)

// shown is what the batches have shown of one variable of mass of a part.
type shown struct {
	basis                    *basis    // of one variable
	recent, mean             []float64 // the residual, a row for each function of the mass
	allowed                  []float64 // the allowed response over the efficiency
	ofRecent, ofMean, ofBoth float64   // 1 over the events behind the averages; of both: their covariance
	background, signal       []float64 // the shares of each cell
	masses, places           []float64 // the mean mass of each cell, see places
	events                   float64   // of a batch
}

// look sets the bump of each cut that is most above its limit in this variable.
func (sh *shown) look(v *Verdict, order int, excess *[thresholds]float64) {
	apart := sh.ofRecent + sh.ofMean - 2*sh.ofBoth
	for _, s := range sh.shapes(order) {
		for k := range thresholds {
			e := v.Efficiency[k]
			if sh.events*e < leastSeen {
				continue
			}
			var recent, mean float64
			for l, x := range s.functions {
				recent += x * sh.recent[l*thresholds+k]
				mean += x * sh.mean[l*thresholds+k]
			}
			// A residual that changes is known from the last batches, and one that lasts better from many.
			residual, variance := mean, sh.ofMean
			if d := recent - mean; d*d > agreeing*agreeing*apart*(1-e)/e {
				residual, variance = recent, sh.ofRecent
			}
			unit := math.Sqrt(v.Tolerance * e)
			errors, doubt := unit*residual, unit*math.Sqrt(variance*(1-e)/e)
			if above := (math.Abs(errors)-s.times*v.Limit)/doubt - surely; above > excess[k] || math.IsNaN(v.Errors[k]) {
				excess[k] = above
				v.Errors[k], v.Doubt[k], v.Height[k], v.Mass[k] = errors, doubt, s.height*residual, s.mass
			}
		}
	}
}

// Judge says what a state shows, of the part that is least flat, for a search with N = tolerance events. 0: as many as
// Steering.TrainingEvents, or 100,000 if those are unknown.
func Judge(cfg loss.Planner, st Steering) (Verdict, error) {
	p, err := cfg.Plan(0, false)
	if err != nil {
		return Verdict{}, err
	}
	if st.State == nil {
		return Verdict{}, errs.Of(errs.ErrLength, "there is no state, which the verdict is of")
	}
	labels := len(p.BackgroundLabel)
	if err := st.check(labels); err != nil {
		return Verdict{}, err
	}
	var worst Verdict
	s := stateOf(st.State)
	if p, err = cfg.Plan(int(s.masses), false); err != nil {
		return Verdict{}, err
	}
	above := math.Inf(-1)
	for part := range s.parts {
		v, excess := s.judge(part, p, st)
		if part == 0 || excess > above {
			worst, above = v, excess
			worst.Label, worst.Category = part/max(st.Categories, 1), -1
			if st.Categories > 0 {
				worst.Category = part % st.Categories
			}
		}
	}
	return worst, nil
}

// N without a tolerance and a known number of events is the usual one, unless the batches show few: a network learns the
// fluctuations of the events that it has seen so many times, and a search with more events than those would see them.
const (
	usual  = 100_000
	visits = 32
)

// judge returns the verdict of a part, and by how many standard errors its worst cut is above the limit.
func (s state) judge(part int, plan *loss.Plan, st Steering) (v Verdict, worst float64) {
	v.Batches, v.Teaches, v.Tolerance = s.steps, st.TrainingEvents, st.Tolerance
	for k := range s.parts {
		v.Events += s.parts[k].seen
	}
	known := mostDoubt
	if v.Tolerance == 0 {
		if v.Tolerance = v.Teaches; v.Tolerance == 0 {
			v.Tolerance = min(usual, max(v.Events, 1)/visits)
			known *= math.Sqrt(v.Tolerance / usual)
		}
	}
	teaches := v.Teaches
	if teaches == 0 {
		teaches = v.Tolerance
	}
	v.Limit = largestBump * math.Sqrt(1+v.Tolerance/teaches)
	v.Zero, v.Peak, v.ZeroAt, v.PeakAt = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	v.Slope, v.SlopeAt, v.Turn, v.TurnAt = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	var excess [thresholds]float64
	for k, q := range rankOf {
		v.Efficiency[k], v.Errors[k], v.Doubt[k], v.Height[k], v.Mass[k] = 1-q, math.NaN(), math.NaN(), math.NaN(), math.NaN()
	}
	if s.parts[part].batches < enough*s.steps || s.steps == 0 {
		return v, math.Inf(-1)
	}
	variables := int(s.masses)
	worst = math.Inf(-1)
	for variable := range variables {
		sh := s.parts[part].shown(variable, variables, plan.Joint)
		sh.look(&v, plan.Order, &excess)
		if plan.Bounded() {
			worst = sh.lookAtBounds(&v, plan, s.parts[part].moments[variable*thresholds*(moments.MaxOrder+1):], plan.Masses[variable].Mass, worst)
		}
		if variables == 1 {
			sh.lookAtSpectrum(&v, teaches)
		}
	}
	for k := range thresholds {
		if math.IsNaN(v.Errors[k]) {
			continue
		}
		if excess[k] > excess[v.Worst] || math.IsNaN(v.Errors[v.Worst]) {
			v.Worst = k
		}
		worst = max(worst, excess[k])
		if v.Doubt[k] <= known {
			v.Answer = Flat
		}
	}
	if worst > 0 {
		v.Answer = NotFlat
	}
	return v, worst
}

// shown returns what a part has shown of one of its variables of mass.
func (p *part) shown(v, variables int, joint bool) *shown {
	one, step := &ofOneMass[variables], 1 // step: the distance of the functions of this mass alone in a table of all masses
	for range variables - 1 - v {
		step *= one.functions
	}
	times := 1.0 // a residual is the mean of several variables
	if !joint {
		times = float64(variables)
	}
	average := func(all *table) []float64 {
		rows := make([]float64, 0, one.functions*thresholds)
		for l := range one.functions {
			rows = append(rows, all[l*step][:]...)
		}
		floats.Scale(times, rows)
		return rows
	}
	sh := &shown{basis: one, events: p.each, ofRecent: p.noise[0], ofMean: p.noise[1], ofBoth: p.noise[2]}
	sh.recent, sh.mean, sh.allowed = average(&p.recent), average(&p.mean), average(&p.allowed)
	cells := ofMasses[variables].cells
	sh.background, sh.signal = sumsOf(p.shares[:cells], v, variables), sumsOf(p.signal[:cells], v, variables)
	sh.masses, sh.places = places(sh.background, p.mass[v*one.cells:][:one.cells])
	if sum := floats.Sum(sh.background); sum > 0 {
		floats.Scale(1/sum, sh.background)
	}
	return sh
}
