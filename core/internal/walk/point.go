package walk

import (
	"github.com/libmode/libmode/core/internal/order"
	"github.com/libmode/libmode/core/internal/par"
)

// step is what crossing one event does to its bin: F_b grows by e and the sum
// of squared steps by square.
type step struct {
	bin       int
	e, square float64
}

// point is where a walk stands: the CDFs of the bins, and what their variances are
// made of.
type point struct {
	cdf     []float64
	squares []float64 // sums of squared steps; nil without variances
}

// moveBetween brings the point to the middle between where chunks k and l begin.
func (pt *point) moveBetween(k, l int, in *Integrand, su *order.Sums) {
	pt.cdf = par.Grown(pt.cdf, in.bins)
	pt.squares = pt.squares[:0]
	if in.variance != nil {
		pt.squares = par.Grown(pt.squares, in.bins)
	}
	for b, unit := range in.unit {
		pt.cdf[b] = (su.Totals[k*in.bins+b] + su.Totals[l*in.bins+b]) / 2 * unit
		switch {
		case in.variance == nil:
		case su.Squares == nil: // all steps are equal
			pt.squares[b] = pt.cdf[b] * unit
		default:
			pt.squares[b] = (su.Squares[k*in.bins+b] + su.Squares[l*in.bins+b]) / 2
		}
	}
}

func (pt *point) cross(st step) {
	pt.cdf[st.bin] += st.e
	if pt.squares != nil {
		pt.squares[st.bin] += st.square
	}
}
