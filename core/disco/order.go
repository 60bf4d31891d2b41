package disco

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
)

// arrange sets both axes, and the events in order of x with their ranks in order of y. Weights are multiplied by unit.
//
// Events of equal x are in order of y, and events of equal y in order of x, so that of two events that are equal in one
// variable the same one comes first in both orders.
func (dc *call) arrange(ofX, ofY, weight []float64, unit float64, words Words) error {
	x, y := &dc.x, &dc.y
	x.name, y.name = words.X, words.Y
	dc.ofAxes(func(k int, ax *axis) { ax.sort([][]float64{ofX, ofY}[k]) })
	x.breakTies(y.order)
	y.breakTies(x.order)
	for _, ax := range []*axis{x, y} {
		if err := ax.centre(words); err != nil {
			return err
		}
	}
	dc.ofAxes(func(_ int, ax *axis) {
		for p, i := range ax.order {
			ax.w[p] = 1
			if weight != nil {
				ax.w[p] = weight[i] * unit
			}
		}
		rowSums(ax.row, ax.z, ax.w)
	})
	n := len(x.order)
	for r, i := range x.order {
		x.place[i] = uint32(r)
	}
	dc.rank, dc.events = par.Grown(dc.rank, n), par.Grown(dc.events, n)
	dc.team.Blocks(n, 1<<14, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			r := x.place[y.order[k]]
			dc.rank[k] = r
			ev := &dc.events[r]
			ev.w, ev.y, ev.ofX = y.w[k], y.z[k], y.row[k]
		}
	})
	dc.team.Blocks(n, 1<<14, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			dc.events[r].x, dc.events[r].ofY = x.z[r], x.row[r]
		}
	})
	return nil
}

// sort sets order and z; equal values are in order of the input.
func (ax *axis) sort(values []float64) {
	n := len(values)
	ax.order, ax.place, ax.records = par.Grown(ax.order, n), par.Grown(ax.place, n), par.Grown(ax.records, n)
	for _, array := range []*[]float64{&ax.z, &ax.w, &ax.row, &ax.half, &ax.slope, &ax.factor} {
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
	ax.tied = false
	for p, record := range ax.records {
		i := la.Index(record)
		ax.order[p] = uint32(i)
		if la.Exact() {
			ax.z[p] = la.Number(record)
		} else {
			ax.z[p] = values[i]
		}
		ax.tied = ax.tied || p > 0 && ax.z[p] == ax.z[p-1]
	}
}

// breakTies puts events of equal values in the order that they have in other.
func (ax *axis) breakTies(other []uint32) {
	if !ax.tied {
		return
	}
	next := ax.place // of each event: where the next one of its value goes, once the run is looked up
	starts := ax.records
	runs(ax.z, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			next[ax.order[p]] = uint32(lo)
		}
		starts[lo] = uint64(lo)
	})
	for _, i := range other {
		slot := &starts[next[i]]
		ax.order[*slot] = i
		*slot++
	}
}

// runs calls f for each run lo..hi-1 of equal values.
func runs(z []float64, f func(lo, hi int)) {
	for lo := 0; lo < len(z); {
		hi := lo + 1
		for hi < len(z) && z[hi] == z[lo] {
			hi++
		}
		f(lo, hi)
		lo = hi
	}
}

// centre subtracts the median, so that values far from 0 cost no digits, and multiplies with unit, a power of two, so
// that no product overflows.
func (ax *axis) centre(words Words) error {
	z := ax.z
	lo, hi, median := z[0], z[len(z)-1], z[len(z)/2]
	if lo == hi {
		return errs.Of(ErrUndefined, "%s: all %d %s have the same %s %v, so that DisCo is 0/0, which is not defined",
			ax.name, len(z), words.Events, ax.name, lo)
	}
	if math.IsInf(hi-lo, 0) {
		return errs.Of(ErrOverflow, "%s: the %s span [%v, %v], which is too wide for double precision", ax.name, words.Events, lo, hi)
	}
	ax.unit = unitOf(max(median-lo, hi-median))
	for k := range z {
		z[k] = (z[k] - median) * ax.unit
	}
	return nil
}
