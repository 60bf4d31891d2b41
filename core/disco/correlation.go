package disco

import (
	"cmp"
	"math"
	"sync"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// Float is the type of values, weights and gradients.
type Float = events.Float

// Correlation returns dCorr^2(x, y) and sets gradX and gradY to its derivatives by x and by y. Either gradient may be
// nil: not wanted. If weight is nil, all weights are 1. The plain form needs 2 events, the unbiased one 4. Results do
// not depend on the number of threads. After an error the gradients mean nothing.
func Correlation[T Float](gradX, gradY, x, y, weight []T, unbiased bool) (float64, error) {
	n := len(x)
	if uint64(n) > math.MaxUint32 {
		return 0, errs.Of(ErrLength, "x has length %d, but one call takes at most %d events", n, uint64(math.MaxUint32))
	}
	names, arrays := [...]string{"x", "y", "weight", "grad_x", "grad_y"}, [...][]T{x, y, weight, gradX, gradY}
	var wide [len(names)][]float64
	for k, array := range arrays {
		if k > 1 && array == nil {
			continue
		}
		if len(array) != n {
			return 0, errs.Of(ErrLength, "%s has length %d, but x has length %d", names[k], len(array), n)
		}
		if i := firstNotFinite(array); k <= 2 && i >= 0 {
			return 0, errs.Of(ErrNotFinite, "%s[%d] = %v: every %s must be finite", names[k], i, array[i], names[k])
		}
		wide[k] = doubles(array)
	}
	value, err := OfEvents(wide[3], wide[4], wide[0], wide[1], wide[2], unbiased, Words{"x", "y", "events"})
	if err != nil {
		return 0, err
	}
	for k := 3; k < len(names); k++ {
		for i, g := range wide[k] {
			arrays[k][i] = T(g)
		}
		if i := firstNotFinite(arrays[k]); i >= 0 {
			return 0, errs.Of(ErrOverflow, "%s[%d] = %v: the derivative is beyond its type, since the values of %s differ by so little",
				names[k], i, wide[k][i], names[k-3])
		}
	}
	return value, nil
}

func firstNotFinite[T Float](values []T) int {
	for i, v := range values {
		if v-v != 0 {
			return i
		}
	}
	return -1
}

// doubles returns values as float64: themselves, or a copy.
func doubles[T Float](values []T) []float64 {
	if same, ok := any(values).([]float64); ok {
		return same
	}
	wide := make([]float64, len(values))
	for i, v := range values {
		wide[i] = float64(v)
	}
	return wide
}

// call is the memory of one call, kept between calls.
type call struct {
	team   *par.Team
	x, y   axis
	events []event // by block, see pairs.go
}

var calls = sync.Pool{New: func() any { return new(call) }}

// ofAxes calls f for both axes, at once where there are enough events.
func (dc *call) ofAxes(f func(k int, ax *axis)) {
	dc.team.Run(2, func(k int) { f(k, []*axis{&dc.x, &dc.y}[k]) })
}

// Words are the names of the arguments in errors.
type Words struct {
	X, Y   string
	Events string // in the plural
}

// OfEvents is Correlation of finite values of one length. Derivatives may be infinite, where values differ by very little.
func OfEvents(gradX, gradY, x, y, weight []float64, unbiased bool, words Words) (float64, error) {
	n, least := len(x), 2
	if unbiased {
		least = 4
	}
	if n < least {
		return 0, errs.Of(ErrTooFew, "too few events: %d %s, and DisCo with unbiased = %v needs at least %d: use larger batches",
			n, words.Events, unbiased, least)
	}
	dc := calls.Get().(*call)
	defer calls.Put(dc)
	dc.team = new(par.Team)
	defer dc.team.Dismiss()
	dc.team.PartsFor(n)
	unit := 1.0
	if weight != nil {
		unit = events.UnitOf(floats.Norm(weight, math.Inf(1)))
	}
	if err := dc.arrange(x, y, weight, unit, words); err != nil {
		return 0, err
	}
	fm, err := newForm(dc.x.w, unit, weight == nil, unbiased, words)
	if err != nil {
		return 0, err
	}
	var failed [2]error
	dc.ofAxes(func(k int, ax *axis) { failed[k] = ax.setVariance(&fm, words) })
	if err := cmp.Or(failed[:]...); err != nil {
		return 0, err
	}
	dc.setSlopes(&fm, gradX != nil)
	covariance := total(dc.y.z, dc.y.slope)
	norm := 1 / (math.Sqrt(dc.x.variance) * math.Sqrt(dc.y.variance))
	dc.ofAxes(func(k int, ax *axis) {
		if grad := [][]float64{gradX, gradY}[k]; grad != nil {
			ax.write(grad, covariance, norm)
		}
	})
	return covariance * norm, nil
}
