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
	known := le.version != 0 && events.IsFinite(floats.Sum(norms)) && events.FirstNotFinite(gradient) < 0
	if known {
		steps := now.steps
		*now.totals = *le.totals
		now.steps += steps
		for k := range now.parts {
			now.parts[k].learn(&le.parts[k])
			now.parts[k].follow(norms[k])
		}
	}
	scales := make([]float64, parts)
	for k := range scales {
		if known && norms[k] > 0 {
			scales[k] = now.parts[k].gradient
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
	for unit := 1.0; ; {
		norms, largest := make([]float64, parts), 0.0
		for i, g := range gradient {
			x := float64(multiplier[i]) * (float64(g) * unit * float64(slope[i]))
			norms[int(part[i])] += x * x
		}
		for k, square := range norms {
			norms[k] = math.Sqrt(square) / unit
		}
		if unit != 1 || !slices.ContainsFunc(norms, func(norm float64) bool { return math.IsInf(norm, 1) || norm < 1e-140 }) {
			return norms
		}
		for _, g := range gradient { // a square overflows, or is near 0
			largest = max(largest, math.Abs(float64(g)))
		}
		if unit = events.UnitOf(largest); unit == 1 {
			return norms
		}
	}
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
