package disco

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
)

// arrange sorts the events by x and by y, and scales values and weights.
//
// Events of equal x are in order of y, and events of equal y in order of x. So of two events that are equal in one
// variable the same one comes first in both orders.
func (dc *call) arrange(ofX, ofY, weight []float64, unit float64, words Words) error {
	x, y := &dc.x, &dc.y
	x.name, y.name = words.X, words.Y
	dc.ofAxes(func(k int, ax *axis) { ax.sort([][]float64{ofX, ofY}[k]) })
	x.breakTies(y)
	y.breakTies(x)
	for _, ax := range []*axis{x, y} {
		if err := ax.centre(words); err != nil {
			return err
		}
	}
	dc.ofAxes(func(_ int, ax *axis) {
		for k, i := range ax.order {
			ax.w[k] = 1
			if weight != nil {
				ax.w[k] = weight[i] * unit
			}
		}
		rowSums(ax.row, ax.z, ax.w)
	})
	return nil
}

// sort sets order, place and z. Equal values are in order of the input.
func (ax *axis) sort(values []float64) {
	n := len(values)
	ax.order, ax.place, ax.rank, ax.records = par.Grown(ax.order, n), par.Grown(ax.place, n), par.Grown(ax.rank, n), par.Grown(ax.records, n)
	for _, array := range []*[]float64{
		&ax.z, &ax.w, &ax.row, &ax.across, &ax.beside, &ax.pairs, &ax.half, &ax.slope, &ax.factor,
	} {
		*array = par.Grown(*array, n)
	}
	lo, hi, set := values[0], values[0], uint64(0)
	for _, v := range values {
		lo, hi, set = min(lo, v), max(hi, v), set|math.Float64bits(v)
	}
	la := radix.NewLayout[float64](lo, hi, set, n, 1)
	for i, v := range values {
		ax.records[i] = radix.Pack(&la, v, i)
	}
	radix.Sort(ax.records, []uint32{0, uint32(n)}, &la, values)
	for k, record := range ax.records {
		i := la.Index(record)
		ax.order[k], ax.place[i], ax.z[k] = uint32(i), uint32(k), values[i]
	}
}

// breakTies sorts events of equal values by their places in the order of the other variable.
func (ax *axis) breakTies(other *axis) {
	ax.ofTies(func(lo, hi int) {
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

// ofTies calls f for each run lo..hi-1 of two or more equal values.
func (ax *axis) ofTies(f func(lo, hi int)) {
	z := ax.z
	for lo := 0; lo < len(z); {
		hi := lo + 1
		for hi < len(z) && z[hi] == z[lo] {
			hi++
		}
		if hi > lo+1 {
			f(lo, hi)
		}
		lo = hi
	}
}

// centre subtracts the median, so that values far from 0 lose no digits, and multiplies with a power of two, so that no
// product overflows.
func (ax *axis) centre(words Words) error {
	z := ax.z
	lo, hi, median := z[0], z[len(z)-1], z[len(z)/2]
	if lo == hi {
		return errs.Of(ErrUndefined, "%s: all %d %s have the same %s %v, so that DisCo is 0/0, which is not defined",
			ax.name, len(z), words.Events, ax.name, lo)
	}
	if !events.IsFinite(hi - lo) {
		return errs.Of(ErrOverflow, "%s: the %s span [%v, %v], which is too wide for double precision", ax.name, words.Events, lo, hi)
	}
	ax.unit = events.UnitOf(max(median-lo, hi-median))
	for k := range z {
		z[k] = (z[k] - median) * ax.unit
	}
	return nil
}
