package moments

import (
	"sort"

	"github.com/libmode/libmode/core/internal/events"
)

// MaxSplineDegree is the highest degree of B-splines.
const MaxSplineDegree = 5

// spline has the B-splines of a degree on an interval, whose ends are knots degree + 1 times. They add up to 1, and each is 0
// but on degree + 1 stretches between knots. C. de Boor, "A Practical Guide to Splines", chapter IX.
type spline struct {
	degree int
	knots  []float64 // with the ends, each degree + 1 times
}

// KnotOutside returns the index of the first knot that is not inside a range of masses, or -1.
func KnotOutside(knots []float64, lo, hi float64) int {
	for i, knot := range knots {
		if !(knot > lo && knot < hi) {
			return i
		}
	}
	return -1
}

func newSpline(from, to float64, inner []float64, degree int) *spline {
	sp := &spline{degree: degree}
	for range degree + 1 {
		sp.knots = append(sp.knots, from)
	}
	sp.knots = append(sp.knots, inner...)
	for range degree + 1 {
		sp.knots = append(sp.knots, to)
	}
	return sp
}

// count returns the number of B-splines.
func (sp *spline) count() int { return len(sp.knots) - sp.degree - 1 }

// fillSplines sets values[l][i] to B-spline l at mass i, which lies in the interval.
func fillSplines[T events.Float](values [][]float64, sp *spline, masses []T) {
	for l := range values {
		clear(values[l])
	}
	var some [MaxSplineDegree + 1]float64
	for i := range values[0] {
		first := sp.at(&some, float64(masses[i]))
		for j := range sp.degree + 1 {
			values[first+j][i] = some[j]
		}
	}
}

// at finds the degree + 1 B-splines that are not 0 at x, and returns the number of the first. It uses Cox and de Boor's
// recurrence from degree to degree.
func (sp *spline) at(values *[MaxSplineDegree + 1]float64, x float64) (first int) {
	inner := sp.knots[sp.degree+1 : sp.count()]
	k := sp.degree + sort.Search(len(inner), func(j int) bool { return inner[j] > x }) // knots[k] <= x < knots[k+1]
	values[0] = 1
	for d := 1; d <= sp.degree; d++ {
		var carried float64
		for j := range d {
			left, right := sp.knots[k+1-d+j], sp.knots[k+1+j]
			// A ratio of masses: 1/(right - left) alone may be beyond float64, or below its normal numbers.
			up := (x - left) / (right - left)
			values[j], carried = carried+values[j]*(1-up), values[j]*up
		}
		values[d] = carried
	}
	return k - sp.degree
}
