package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/moments"
	"gonum.org/v1/gonum/floats"
)

// lookAtBounds looks for moments beyond their bounds, in errors of a search with N events as a bump is. averages are those of the
// moments of this variable of mass, and ends the range of masses. It returns the larger of worst and the standard errors by which one is
// above the limit.
func (sh *shown) lookAtBounds(v *Verdict, plan *loss.Plan, averages []float64, ends [2]float64, worst float64) float64 {
	size, last := plan.Order+1, len(sh.masses)-1
	if math.IsInf(ends[0], -1) { // the mean of the first and the last cell is half a cell inside
		ends = [2]float64{1.5*sh.masses[0] - 0.5*sh.masses[1], 1.5*sh.masses[last] - 0.5*sh.masses[last-1]}
	}
	legendre, orthonormal := make([][]float64, size), sh.polynomials(plan.Order)
	if len(orthonormal) < size { // the masses have few values
		return worst
	}
	for _, m := range sh.masses {
		p := make([]float64, size)
		moments.Legendre(p, (2*m-ends[0]-ends[1])/(ends[1]-ends[0]))
		for l, x := range p {
			legendre[l] = append(legendre[l], x)
		}
	}
	bound := moments.NewBound(&plan.Options, &moments.Basis{Size: size})
	for k, e := range v.Efficiency {
		if sh.events*e < leastSeen {
			continue
		}
		own := averages[k*(moments.MaxOrder+1):][:size]
		for i, x := range bound.Excesses(own) {
			independent := x.Gradient // of moments of the orthonormal polynomials, whose errors are equal
			for l := range independent {
				for j, y := range independent[:l] {
					independent[l] -= sh.dot(orthonormal[j], legendre[l]) * y
				}
				independent[l] /= sh.dot(orthonormal[l], legendre[l])
			}
			errors := x.By * math.Sqrt(v.Tolerance/e) / floats.Norm(independent, 2)
			above := (errors-v.Limit)/math.Sqrt(v.Tolerance*(1-e)*sh.ofRecent) - surely
			if above <= max(worst, 0) {
				continue
			}
			worst = above
			l := bound.First + i
			relative := math.Abs(own[l]) / (math.Abs(own[l]) - x.By)
			if l == 1 {
				v.Slope, v.SlopeAt = plan.MaxSlope*relative, e
			} else {
				v.Turn, v.TurnAt = relative, e
			}
		}
	}
	return worst
}
