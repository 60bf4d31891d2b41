package constraint

import (
	"math"
	"slices"

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
	if gradient != nil {
		if _, err := rows.arrays(len(gradient)); err != nil {
			return err
		}
	}
	parts := Parts(len(lesson))
	if len(dst) != len(gradient) {
		return errs.Of(errs.ErrLength, "gradient has length %d, and the result %d", len(gradient), len(dst))
	}
	if len(lesson) != StateSize(parts, 0) || lesson[0] != Version && lesson[0] != 0 {
		return errs.Of(errs.ErrLength, "lesson has %d numbers, and is none of Direction", len(lesson))
	}
	if i := slices.IndexFunc(rows.Part, func(part T) bool { return !(part >= 0 && part < T(parts)) }); i >= 0 {
		return errs.Of(errs.ErrOption, "part[%d] = %v: must be from 0 to %d", i, rows.Part[i], parts-1)
	}
	le := stateOf(lesson)
	if state == nil {
		state = make([]float64, len(lesson))
	} else if err := CheckState(state, parts/max(int(le.categories), 1), int(le.categories)); err != nil && le.version > 0 {
		return err
	}
	now := stateOf(state)
	if now.version != 0 && le.version != 0 && now.masses != le.masses {
		return errs.Of(errs.ErrLength, "state is of %v variables of mass, and the lesson of %v", now.masses, le.masses)
	}
	if norms == nil {
		norms = rows.norms(gradient, parts)
	}
	known := le.version != 0 && events.FirstNotFinite(gradient) < 0 && events.IsFinite(floats.Sum(norms))
	if known {
		steps := now.steps
		*now.totals = *le.totals
		now.steps += steps
		for k := range now.parts {
			now.parts[k].learn(&le.parts[k])
			now.parts[k].follow(norms[k])
		}
	}
	for i, g := range gradient {
		dst[i] = rows.Multiplier[i] * g
		if part := int(rows.Part[i]); known && norms[part] > 0 {
			dst[i] = T(float64(dst[i]) + now.parts[part].gradient*float64(rows.Push[i]))
		}
	}
	return nil
}

// norms returns the norm of Multiplier G Slope over the events of each part.
func (rows *Rows[T]) norms(gradient []T, parts int) []float64 {
	units, norms := make([]float64, parts), make([]float64, parts)
	of := func(i int) float64 {
		return float64(rows.Multiplier[i]) * (float64(gradient[i]) * float64(rows.Slope[i]))
	}
	for i := range gradient {
		if part := int(rows.Part[i]); units[part] < math.Abs(of(i)) {
			units[part] = math.Abs(of(i))
		}
	}
	for k, largest := range units {
		units[k] = events.UnitOf(largest)
	}
	for i := range gradient {
		x := of(i) * units[int(rows.Part[i])]
		norms[int(rows.Part[i])] += x * x
	}
	for k, square := range norms {
		norms[k] = math.Sqrt(square) / units[k]
	}
	return norms
}

// follow takes the norm of a gradient into its average. The average moves by the nearest power of two first.
func (p *part) follow(norm float64) {
	if norm == 0 {
		return
	}
	if p.gradient > 0 {
		p.gradient = math.Ldexp(p.gradient, int(math.Round(math.Log2(norm)-math.Log2(p.gradient))))
	}
	p.gradients++
	toward(&p.gradient, norm, p.gradients)
}
