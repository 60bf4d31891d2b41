package core

import "sort"

// spline is the B-splines of a degree on an interval: with the ends of the interval degree + 1 times
// as knots they add up to 1, and each is not 0 on degree + 1 stretches between knots at most. C. de Boor, "A Practical
// Guide to Splines", chapter IX.
type spline struct {
	degree int
	knots  []float64 // with the ends, each degree + 1 times
}

func (c *Config) splineDegree() int {
	if c.Degree == DefaultDegree {
		return 3
	}
	return c.Degree
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

// at sets the values of all B-splines at x, which lies in the interval: by Cox and de Boor's recurrence
// from degree to degree, over those that are not 0.
func (sp *spline) at(dst []float64, x float64) {
	clear(dst)
	inner := sp.knots[sp.degree+1 : sp.count()]
	k := sp.degree + sort.Search(len(inner), func(j int) bool { return inner[j] > x }) // knots[k] <= x < knots[k+1]
	var values [MaxSplineDegree + 1]float64
	values[0] = 1
	for d := 1; d <= sp.degree; d++ {
		var carried float64
		for j := range d {
			left, right := sp.knots[k+1-d+j], sp.knots[k+1+j]
			share := values[j] / (right - left)
			values[j] = carried + (right-x)*share
			carried = (x - left) * share
		}
		values[d] = carried
	}
	copy(dst[k-sp.degree:], values[:sp.degree+1])
}
