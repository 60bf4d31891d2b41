package push

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/walk"
	"gonum.org/v1/gonum/floats"
)

// state is what a constraint remembers from batch to batch: these numbers, and after them the sum of the residuals. All are
// 0 before the first batch.
type state []float64

const (
	steps      = iota // the number of batches
	meanNorm          // averages over 200 batches: of the norm of the direction,
	meanLoss          // of the unbiased loss,
	meanBias          // of the bias of the plain loss,
	meanEvents        // of the effective number of events,
	meanSquare        // and of the square of the loss
	factor            // what a tolerance multiplies the push with
	numbers
)

// The law of the push, see docs/training.md; studies/zoo tells how the numbers were found.
const (
	proportional   = 4    // the push per residual of the batch
	integral       = 0.02 // what a batch of eventsOfABatch events adds to the sum, per residual
	eventsOfABatch = 1024
	rate           = 1. / 200 // the least share of a batch in the averages
	pace           = 0.02     // how fast the factor follows a tolerance,
	leak           = 0.02     // and how fast the sum then falls
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

// ofLabel is the room for the residual of one label: the largest number of functions for any number of masses.
var ofLabel = slices.Max([]int{functions(1), functions(2), functions(3)})

// functions returns how many functions of the masses and the score a residual of one label has.
func functions(variables int) int { return ofMasses[variables].functions * ofScore.functions }

func (s state) sum() []float64 { return s[numbers:] }

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
func (s state) average(norm float64, batch walk.Result) {
	if s[steps] == 0 {
		s[factor] = 1
	}
	s[steps]++
	share := max(1/s[steps], rate)
	for k, x := range []float64{norm, batch.Loss, batch.Bias, batch.Events, batch.Loss * batch.Loss} {
		if x == x { // the bias of a batch may be unknown
			s[meanNorm+k] += share * (x - s[meanNorm+k])
		}
	}
}

// learn adds the residual of a batch with n events to the sum. While the averages say that a test with tolerance events sees no
// dependence, the factor and the sum get smaller; a tolerance of 0 is none.
func (s state) learn(residual []float64, n int, tolerance float64) {
	if unit := s[meanBias] * s[meanEvents]; tolerance > 0 && unit > 0 {
		rho := s[meanLoss] * tolerance / unit
		s[factor] = min(1, max(leastFactor, s[factor]*math.Exp(pace*max(-1, min(1, rho-1)))))
	}
	// A residual is in units of the noise of a batch: so the sum of an epoch is the same in batches of all sizes.
	floats.Scale(1-leak*(1-s[factor]), s.sum())
	floats.AddScaled(s.sum(), s[factor]*integral*math.Sqrt(float64(n)/eventsOfABatch), residual)
}
