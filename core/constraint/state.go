package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/walk"
	"gonum.org/v1/gonum/floats"
)

// state is what a constraint remembers from batch to batch: these numbers, and after them what it remembers of each label. All
// are 0 before the first batch.
type state []float64

const (
	steps      = iota // the number of batches
	meanNorm          // averages over 200 batches: of the norm of the direction,
	meanLoss          // of the unbiased loss,
	meanBias          // of the bias of the plain loss,
	meanEvents        // of the effective number of events,
	meanSquare        // and of the square of the loss
	factor            // what a tolerance multiplies the push with
	masses            // how many variables of mass the batches have
	numbers
)

// The law of the push, see docs/training.md; studies/zoo tells how the numbers were found.
const (
	proportional   = 4        // the push per residual of the batch
	integral       = 0.02     // what a batch of eventsOfABatch events adds to the sum, per residual
	eventsOfABatch = 512      // of background
	rate           = 1. / 200 // the least share of a batch in the averages
	pace           = 0.02     // the largest relative change of the factor in a batch, when it follows a tolerance
	leak           = 0.02     // the part of the sum that a batch takes away at factor 0
	leastFactor    = 0.01
)

// StateSize returns the length of a state for so many background labels. It has room for any number of masses. It is 0 if
// there is no label, or if an int cannot hold the length.
func StateSize(labels int) int {
	if labels < 1 || labels > (math.MaxInt-numbers)/ofLabel {
		return 0
	}
	return numbers + labels*ofLabel
}

// mostFunctions is the largest number of functions of the masses, for any number of masses.
var mostFunctions = max(ofMasses[1].functions, ofMasses[2].functions, ofMasses[3].functions)

// A label has a sum of residuals, and after it what it remembers of the tail of its scores.
var (
	ofSum   = mostFunctions * ofScore.functions
	ofTable = mostFunctions * thresholds
	ofLabel = ofSum + 4*ofTable + 1 + ofSample
)

// sum returns the sum of the residuals of a label, for so many functions of the masses.
func (s state) sum(label, functions int) []float64 {
	return s[numbers+label*ofLabel:][:functions*ofScore.functions]
}

// tail returns what is remembered of the tail of a label.
func (s state) tail(label, functions int, tolerance float64) tail {
	table := func(k int) []float64 {
		return s[numbers+label*ofLabel+ofSum+k*ofTable:][:functions*thresholds]
	}
	known := &s[numbers+label*ofLabel+ofSum+4*ofTable]
	return tail{table(0), table(1), table(2), table(3), known, tolerance}
}

// sample returns what is remembered of the masses of a label.
func (s state) sample(label int) sample {
	return sample(s[numbers+(label+1)*ofLabel-ofSample:][:ofSample])
}

// check returns an error for the first number that is not possible.
func (s state) check() error {
	for k, x := range s {
		if !events.IsFinite(x) {
			return errs.Of(errs.ErrNotFinite, "state[%d] = %v: must be finite", k, x)
		}
		if (k == steps || k == meanNorm) && x < 0 {
			return errs.Of(errs.ErrOption, "state[%d] = %v: must be at least 0", k, x)
		}
	}
	return nil
}

// average takes a batch into the averages.
func (s state) average(norm float64, batch walk.Result, variables int) {
	if s[steps] == 0 {
		s[factor], s[masses] = 1, float64(variables)
	}
	s[steps]++
	share := max(1/s[steps], rate)
	for k, x := range []float64{norm, batch.Loss, batch.Bias, batch.Events, batch.Loss * batch.Loss} {
		if x == x { // the bias of a batch may be unknown
			s[meanNorm+k] += share * (x - s[meanNorm+k])
		}
	}
}

// follow lets the factor follow a tolerance; a tolerance of 0 is none. While the averages say that a test with so many events
// sees no dependence, the factor gets smaller.
func (s state) follow(tolerance float64) {
	if unit := s[meanBias] * s[meanEvents]; tolerance > 0 && unit > 0 {
		rho := s[meanLoss] * tolerance / unit
		s[factor] = min(1, max(leastFactor, s[factor]*math.Exp(pace*max(-1, min(1, rho-1)))))
	}
}

// labelResiduals is what the groups of one label have in common: the sums of their residuals, each times the total of its group.
type labelResiduals struct {
	basis          *basis // of the masses; nil: there is no group
	residual, tail []float64
	total          float64 // of the groups
	events         float64 // their number
	effective      float64 // and their number in effect, (sum |w|)^2 / sum w^2
	moved          float64 // the number of events that are pushed
}

// addTo adds a group with these residuals.
func (g *group[T]) addTo(of *labelResiduals, residual, tail []float64) {
	if of.basis == nil {
		of.basis = g.basis
		of.residual, of.tail = make([]float64, len(residual)), make([]float64, len(tail))
	}
	floats.AddScaled(of.residual, g.total, residual)
	floats.AddScaled(of.tail, g.total, tail)
	of.total += g.total
	of.events += float64(len(g.place))
	of.effective += g.effective
}

// learn takes the residuals of a batch of n events into the averages of a label and, if the strength is not fixed, into its sum and
// into v. While the factor is below 1, the sum gets smaller.
func (s state) learn(label int, of *labelResiduals, n, tolerance float64, fixed bool) {
	if of.basis == nil {
		return
	}
	tail := s.tail(label, of.basis.functions, tolerance)
	tail.average(of, s[steps], s.sample(label).size())
	if fixed {
		return
	}
	// A residual is in units of the noise of a batch: so the sum of an epoch is the same in batches of all sizes.
	sum := s.sum(label, of.basis.functions)
	floats.Scale(1-leak*(1-s[factor]), sum)
	floats.AddScaled(sum, s[factor]*integral*math.Sqrt(of.moved/eventsOfABatch)/n, of.residual)
	tail.learn(of, s[steps])
}
