package constraint

import (
	"math"
	"unsafe"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"gonum.org/v1/gonum/floats"
)

// Apply sets dst to the gradient with the push, Multiplier G + |G| Push, for the rows of Direction, and takes the lesson and the norm of
// the gradient into the state. dst may be the gradient itself. A nil gradient takes the lesson alone.
//
// |G| is the average over 200 batches, for each part of the state. If the loss is scaled by another power of two, as GradScaler does,
// the average follows at once. A state of nil remembers nothing: |G| is then the norm of this gradient. norms are the norms for each
// part, if this gradient has only some of its events; nil: it has all. A gradient or norm that is not finite gets no push, and leaves
// the state as it is. So does a lesson of zeros, of a batch that is skipped.
func Apply[T events.Float](dst, gradient []T, rows Rows[T], lesson, state, norms []float64) error {
	parts := Parts(len(lesson))
	if len(dst) != len(gradient) {
		return errs.Of(errs.ErrLength, "gradient has length %d, and the result %d", len(gradient), len(dst))
	}
	if err := rows.check(len(rows.Part)); err != nil {
		return err
	}
	if gradient != nil && len(gradient) != len(rows.Part) {
		return errs.Of(errs.ErrLength, "gradient has length %d, but the batch has %d events", len(gradient), len(rows.Part))
	}
	if parts == 0 || len(lesson) != StateSize(parts, 0) || lesson[0] != Version && lesson[0] != 0 {
		return errs.Of(errs.ErrLength, "lesson has %d numbers, and is none of Direction", len(lesson))
	}
	for i, part := range rows.Part {
		if !(part >= 0 && part < T(parts)) {
			return errs.Of(errs.ErrOption, "part[%d] = %v: must be from 0 to %d", i, part, parts-1)
		}
	}
	le := stateOf(lesson)
	if state == nil {
		state = make([]float64, len(lesson))
	} else if err := CheckState(state, parts/max(int(le.categories), 1), int(le.categories)); err != nil && le.version > 0 {
		return err
	}
	now := stateOf(state)
	if err := now.checkMasses(le); err != nil && le.version > 0 {
		return err
	}
	if norms == nil {
		norms = rows.norms(gradient, parts)
	}
	scales := make([]float64, parts)
	if le.version != 0 && events.IsFinite(floats.Sum(norms)) && events.FirstNotFinite(gradient) < 0 {
		steps := now.steps
		*now.totals = *le.totals
		now.steps += steps
		for k := range now.parts {
			now.parts[k].learn(&le.parts[k])
			if p, norm := &now.parts[k], norms[k]; norm > 0 {
				if p.gradient > 0 { // the average moves by the nearest power of two first
					p.gradient = math.Ldexp(p.gradient, int(math.Round(math.Log2(norm)-math.Log2(p.gradient))))
				}
				p.gradients++
				p.gradient = events.Average(p.gradient, norm, p.gradients)
				scales[k] = p.gradient
			}
		}
	}
	part, multiplier, push, dst := rows.Part[:len(gradient)], rows.Multiplier[:len(gradient)], rows.Push[:len(gradient)], dst[:len(gradient)]
	for i, g := range gradient {
		dst[i] = multiplier[i] * g
		if scale := scales[int(part[i])]; scale > 0 {
			dst[i] = T(float64(dst[i]) + scale*float64(push[i]))
		}
	}
	return nil
}

// norms returns the norm of Multiplier G Slope over the events of each part.
func (rows *Rows[T]) norms(gradient []T, parts int) []float64 {
	part, multiplier, slope := rows.Part[:len(gradient)], rows.Multiplier[:len(gradient)], rows.Slope[:len(gradient)]
	norms, unit := make([]float64, parts), events.UnitOfWeights(gradient)
	for i, g := range gradient {
		x := float64(multiplier[i]) * (float64(g) * unit * float64(slope[i]))
		norms[int(part[i])] += x * x
	}
	for k, square := range norms {
		norms[k] = math.Sqrt(square) / unit
	}
	return norms
}

// Version is the first number of a state. It changes with what the numbers mean, or where they are.
const Version = 3

// The cells of a mass for planing, by the number of variables. One cell more has the events without a value.
var cellsOfMass = [...]int{1: 64, 2: 7, 3: 4}

const (
	mostCells = 5 * 5 * 5 // of all variables together
	mostEnds  = 63        // of the cells of each variable, one after the other
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

// stateOf returns the state whose memory is this array. The array has the length of a state.
func stateOf(numbers []float64) state {
	parts := (*part)(unsafe.Pointer(unsafe.SliceData(numbers[lengthOfTotals:])))
	return state{numbers, (*totals)(unsafe.Pointer(unsafe.SliceData(numbers))), unsafe.Slice(parts, len(numbers)/lengthOfPart)}
}

// StateSize returns the length of a state for a number of background labels and of categories; 0: events have no category. It has room for
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

// CheckState returns an error if an array is no state for these numbers of background labels and categories.
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

// learn takes the lesson of a batch into the averages of a part.
func (p *part) learn(le *part) {
	if le.batches > 0 {
		p.batches++
		p.seen += le.seen
		p.push = events.Average(p.push, le.push, p.batches)
	}
	if le.drawn > p.drawn { // the spectra start again in other cells
		p.drawn, p.ends, p.signals = le.drawn, le.ends, 0
	}
	if le.signals > 0 && le.ends == p.ends {
		p.signals++
		for c := range p.signal {
			p.background[c] = events.Average(p.background[c], le.background[c], p.signals)
			p.signal[c] = events.Average(p.signal[c], le.signal[c], p.signals)
		}
	}
}
