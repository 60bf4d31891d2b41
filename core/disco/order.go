package disco

import (
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/sorted"
)

// arrange sorts the events by x and by y, and scales values and weights.
//
// Events of equal x are in order of y, and events of equal y in order of x. So of two events that are equal in one
// variable the same one comes first in both orders.
func arrange[T Float](dc *call, x, y, weight []T, unit float64) error {
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
func sortAxis[T Float](ax *axis, values []T, sc *par.Scratch) {
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
