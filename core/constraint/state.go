package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/loss"
	"gonum.org/v1/gonum/floats"
)

// state is what a constraint remembers from batch to batch: its numbers, and after them a part for each category of each label. All are
// 0 before the first batch. layout.go has the places.
type state []float64

// The law of the push, see docs/training.md; studies/zoo tells how the numbers were found.
const (
	proportional = 4    // the push per residual of the batch
	integral     = 0.02 // what a batch of eventsOfABatch events adds to the sum, per residual; also the least factor, and the
	// largest relative change of the factor or, at factor 0, of the sum in a batch
	eventsOfABatch = 512      // of background
	rate           = 1. / 200 // the least share of a batch in the averages
)

// average takes a batch into the averages: of so many variables of mass, divided into so many categories.
func (s state) average(norm float64, batch loss.Result, variables, divided int) {
	if s[version] == 0 {
		s[version], s[factor], s[masses], s[categories] = Version, 1, float64(variables), float64(divided)
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
		s[factor] = min(1, max(integral, s[factor]*math.Exp(integral*max(-1, min(1, rho-1)))))
	}
}

// learn takes the residuals of a batch into the averages of a part and, if the strength is not fixed, into its sum and into v. share is
// the part of all weights that the label has, and different the number of events of the training. While the factor is below 1, the sum gets smaller.
func (s state) learn(of *residuals, share, tolerance, different float64, fixed bool) {
	batches := s.field(of.part, ofBatches)
	batches[0]++
	tail := s.tail(of.part, of.basis.functions, tolerance)
	tail.average(of, batches[0], different)
	s.see(of, batches[0])
	if fixed {
		return
	}
	// A residual is in units of the noise of a batch: so the sum of an epoch is the same in batches of all sizes.
	sum := s.sum(of.part, of.basis.functions)
	floats.Scale(1-integral*(1-s[factor]), sum)
	for _, room := range of.limited.rooms { // the part of a bounded moment is the task of v
		forget(sum, room.toward, integral)
	}
	floats.AddScaled(sum, s[factor]*integral*math.Sqrt(of.moved/eventsOfABatch)*share, of.ofPush)
	tail.learn(of, batches[0])
}

// forget takes a part of a function of the masses out of a table with a row for each of their functions.
func forget(table, function []float64, part float64) {
	columns, square := len(table)/len(function), floats.Dot(function, function)
	for k := range columns {
		var along float64
		for l, x := range function {
			along += x * table[l*columns+k]
		}
		for l, x := range function {
			table[l*columns+k] -= part / thresholds * along / square * x
		}
	}
}

// residuals is what a part learns from the group of a batch.
type residuals struct {
	part           int
	basis          *basis // of the masses
	ofPush, ofTail []float64
	allowed        []float64 // response, as ofTail
	limited        limited   // by bounds
	shares, masses []float64 // see inCells
	events         float64   // the number of events,
	effective      float64   // in effect, (sum |w|)^2 / sum w^2,
	moved          float64   // and of events that are pushed
}
