package disco

import (
	"cmp"
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/sorted"
)

// Correlation returns dCorr^2(x, y), and sets gradX and gradY to its derivatives by x and by y. Either gradient may be
// nil: not wanted. If weight is nil, all weights are 1. The plain form needs 2 events, the unbiased one 4. Results do
// not depend on the number of threads. The gradients share no memory with the arguments. Errors wrap the errors of package core, and after
// an error the gradients mean nothing.
func Correlation[T events.Float](gradX, gradY, x, y, weight []T, unbiased bool) (float64, error) {
	n := len(x)
	if uint64(n) > math.MaxUint32 {
		return 0, errs.Of(errs.ErrLength, "x has length %d, but one call takes at most %d events", n, uint64(math.MaxUint32))
	}
	names := [...]string{"x", "y", "weight", "grad_x", "grad_y"}
	for k, array := range [...][]T{x, y, weight, gradX, gradY} {
		if len(array) != n && (k == 1 || array != nil) {
			return 0, errs.Of(errs.ErrLength, "%s has length %d, but x has length %d", names[k], len(array), n)
		}
		if k > 2 { // gradients are written, not read
			continue
		}
		if i := events.FirstNotFinite(array); i >= 0 {
			return 0, errs.At(errs.ErrNotFinite, names[k], i, " = %v: must be finite", array[i])
		}
	}
	least := 2
	if unbiased {
		least = 4
	}
	if n < least {
		return 0, errs.Of(errs.ErrNoEvents, "too few events: %d events, and DisCo with unbiased = %v needs at least %d: use larger batches", n, unbiased, least)
	}
	sc := par.Take()
	defer sc.Give()
	sc.Expect(n)
	dc := &call{sc: sc, axes: [2]axis{newAxis("x", n, &sc.Arena), newAxis("y", n, &sc.Arena)}}
	unit := events.UnitOfWeights(weight)
	if err := arrange(dc, x, y, weight, unit); err != nil {
		return 0, err
	}
	ax, ay := &dc.axes[0], &dc.axes[1]
	fm, err := newForm(ax.w, unit, weight == nil, unbiased)
	if err != nil {
		return 0, err
	}
	var failed [2]error
	dc.each(func(k int, ax, _ *axis) { failed[k] = ax.setVariance(&fm) })
	if err := cmp.Or(failed[:]...); err != nil {
		return 0, err
	}
	dc.setSlopes(&fm, gradX != nil)
	covariance := total(ay.z, ay.slope)
	norm := 1 / (math.Sqrt(ax.variance) * math.Sqrt(ay.variance))
	dc.each(func(k int, ax, _ *axis) {
		if grad := [...][]T{gradX, gradY}[k]; grad != nil {
			ratio := covariance / ax.variance
			for k, i := range ax.order {
				grad[i] = T((ax.slope[k] - ratio*ax.half[k]) * norm * ax.unit)
			}
		}
	})
	for k, grad := range [...][]T{gradX, gradY} {
		if i := events.FirstNotFinite(grad); i >= 0 {
			return 0, errs.At(errs.ErrOverflow, names[3+k], i, " = %v: the derivative overflows its type: the values are too close together",
				grad[i])
		}
	}
	return covariance * norm, nil
}

// call is one call.
type call struct {
	sc   *par.Scratch
	axes [2]axis // x, y
}

// each calls f for both axes, beside the other one: at once where there are enough events.
func (dc *call) each(f func(k int, ax, other *axis)) {
	dc.sc.Run(2, func(k int) { f(k, &dc.axes[k], &dc.axes[1-k]) })
}

// arrange sorts the events by x and by y, and scales values and weights.
//
// Events of equal x are in order of y, and events of equal y in order of x. So of two events that are equal in one
// variable the same one comes first in both orders.
func arrange[T events.Float](dc *call, x, y, weight []T, unit float64) error {
	for k, values := range [...][]T{x, y} {
		sortAxis(&dc.axes[k], values, dc.sc)
	}
	dc.axes[0].breakTies(&dc.axes[1])
	dc.axes[1].breakTies(&dc.axes[0])
	for k := range dc.axes {
		if err := dc.axes[k].center(); err != nil {
			return err
		}
	}
	dc.each(func(_ int, ax, _ *axis) {
		for k, i := range ax.order {
			ax.w[k] = 1
			if weight != nil {
				ax.w[k] = float64(weight[i]) * unit
			}
		}
		ax.power = ax.w
		rowSums(ax.row, ax.z, ax.w)
	})
	return nil
}

// sortAxis sets order, place and z. Equal values are in order of the input.
func sortAxis[T events.Float](ax *axis, values []T, sc *par.Scratch) {
	copy(ax.order, sorted.Values(values, sc))
	for k, i := range ax.order {
		ax.place[i], ax.z[k] = uint32(k), float64(values[i])
	}
}

// breakTies sorts events of equal values by their places in the order of the other variable.
func (ax *axis) breakTies(other *axis) {
	sorted.ForTies(ax.z, func(lo, hi int) {
		places := ax.rank[lo:hi]
		for k, i := range ax.order[lo:hi] {
			places[k] = other.place[i]
		}
		slices.Sort(places)
		for k, place := range places {
			i := other.order[place]
			ax.order[lo+k], ax.place[i] = i, uint32(lo+k)
		}
	})
}

// center subtracts the median, so that values far from 0 lose no digits, and multiplies with a power of two, so that no
// product overflows.
func (ax *axis) center() error {
	z := ax.z
	lo, hi, median := z[0], z[len(z)-1], z[len(z)/2]
	if lo == hi {
		return errs.At(errs.ErrUndefined, ax.name, -1, ": all %d events have the value %v, so DisCo is 0/0, which is not defined",
			len(z), lo)
	}
	if !events.IsFinite(hi - lo) {
		return errs.At(errs.ErrOverflow, ax.name, -1, ": the events span [%v, %v], which is too wide for double precision", lo, hi)
	}
	ax.unit = events.UnitOf(max(median-lo, hi-median))
	for k := range z {
		z[k] = (z[k] - median) * ax.unit
	}
	return nil
}
