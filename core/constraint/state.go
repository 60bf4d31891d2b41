package constraint

import (
	"math"
	"unsafe"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
)

// Version is the first number of a state. It changes with what the numbers mean, or where they are.
const Version = 2

// rate is the least share of a batch in the averages of a state.
const rate = 1. / 200

// The cells of a mass for planing, by the number of variables. One cell more has the events without a value.
var cellsOfMass = [...]int{1: 40, 2: 7, 3: 4}

const (
	mostCells = 5 * 5 * 5 // of all variables together
	mostEnds  = 39        // of the cells of each variable, one after the other
)

// state is what a constraint remembers from batch to batch: its totals, and after them a part for each category of each label. All
// numbers are 0 before the first batch. A lesson is a state with the numbers of one batch.
type state struct {
	numbers []float64
	*totals
	parts []part
}

type totals struct {
	version    float64 // 0 before the first batch
	steps      float64 // the number of batches
	masses     float64 // the number of variables of mass
	categories float64 // into how many categories events are divided; 0: into none
}

// part is what a constraint remembers of one label and category.
type part struct {
	batches    float64            // with a push
	seen       float64            // background events in them
	push       float64            // the average of |u|
	gradients  float64            // batches whose gradient was finite and not 0
	gradient   float64            // the average of |G|, after start
	signals    float64            // batches with signal
	drawn      float64            // background events that set the ends of the cells
	ends       [mostEnds]float64  // of each variable: the upper end of each cell but the last, in units of mass
	background [mostCells]float64 // averages of the spectra
	signal     [mostCells]float64
}

const (
	lengthOfTotals = int(unsafe.Sizeof(totals{}) / 8)
	lengthOfPart   = int(unsafe.Sizeof(part{}) / 8)
)

// stateOf returns the state that an array is, whose length is that of a state.
func stateOf(numbers []float64) state {
	parts := (*part)(unsafe.Pointer(unsafe.SliceData(numbers[lengthOfTotals:])))
	return state{numbers, (*totals)(unsafe.Pointer(unsafe.SliceData(numbers))), unsafe.Slice(parts, len(numbers)/lengthOfPart)}
}

// StateSize returns the length of a state for so many background labels and categories, where 0 categories are none. It has room for
// any number of masses. It is 0 if there is no label, or if an int cannot hold the length.
func StateSize(labels, categories int) int {
	parts := (math.MaxInt - lengthOfTotals) / lengthOfPart
	if labels < 1 || categories < 0 || labels > parts/max(categories, 1) {
		return 0
	}
	return lengthOfTotals + labels*max(categories, 1)*lengthOfPart
}

// checkMasses returns an error if a state and a lesson have other numbers of variables of mass.
func (s state) checkMasses(lesson state) error {
	if s.version != 0 && s.masses != lesson.masses {
		return errs.Of(errs.ErrLength, "state is of %v variables of mass, and these events have %v: give each its own state", s.masses, lesson.masses)
	}
	return nil
}

// Parts returns the number of labels and categories of a state of this length.
func Parts(length int) int { return max(0, length-lengthOfTotals) / lengthOfPart }

// CheckState returns an error if an array is no state for so many background labels and categories.
func CheckState(numbers []float64, labels, categories int) error {
	if size := StateSize(labels, categories); len(numbers) != size {
		return errs.Of(errs.ErrLength, "state has length %d, and must have %d for %d background labels and %d categories",
			len(numbers), size, labels, categories)
	}
	s := stateOf(numbers)
	switch {
	case s.version == 0:
		for i, x := range numbers {
			if x != 0 {
				return errs.Of(errs.ErrOption, "state[%d] = %v, and state[0] = 0: a state without a version must be all zeros, "+
					"as before the first batch", i, x)
			}
		}
		return nil
	case s.version != Version:
		return errs.Of(errs.ErrOption, "state[0] = %v: the version of the state, and this library reads version %d. Start with zeros, or "+
			"continue with the version of the library that wrote the state", s.version, Version)
	case s.categories != float64(categories):
		return errs.Of(errs.ErrLength, "state is of %v categories, and not of %d: give each its own state", s.categories, categories)
	case !(s.masses >= 1 && s.masses <= events.MaxVariables && s.masses == math.Floor(s.masses)):
		return errs.Of(errs.ErrOption, "state[2] = %v: the number of variables of mass, from 1 to %d", s.masses, events.MaxVariables)
	}
	for i, x := range numbers {
		at := (i - lengthOfTotals) % lengthOfPart
		signed := i >= lengthOfTotals && at >= int(unsafe.Offsetof(part{}.ends)/8)
		if !events.IsFinite(x) || x < 0 && !signed {
			return errs.Of(errs.ErrOption, "state[%d] = %v: must be finite%s", i, x, map[bool]string{false: " and at least 0"}[signed])
		}
	}
	return nil
}

// toward moves an average toward a number of a batch, which is number count of its kind.
func toward(average *float64, batch, count float64) {
	*average += max(rate, 1/count) * (batch - *average)
}

// learn takes the lesson of a batch into the averages of a part.
func (p *part) learn(le *part) {
	if le.batches > 0 {
		p.batches++
		p.seen += le.seen
		toward(&p.push, le.push, p.batches)
	}
	if le.drawn > p.drawn { // the spectra start again in other cells
		p.drawn, p.ends, p.signals = le.drawn, le.ends, 0
	}
	if le.signals > 0 && le.ends == p.ends {
		p.signals++
		for c := range p.signal {
			toward(&p.background[c], le.background[c], p.signals)
			toward(&p.signal[c], le.signal[c], p.signals)
		}
	}
}
