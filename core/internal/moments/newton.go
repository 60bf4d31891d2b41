package moments

import (
	"math/bits"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
)

// Newton has polynomials of the mass m in the form of Newton,
//
//	omega_0 = 1,   omega_{k+1} = (m - node_k) factor omega_k
//
// whose nodes are masses of events. A fit does not depend on the basis of its polynomials, but its digits do. Where a few
// masses are far from all others, these lie at x = -1, where Legendre polynomials differ in their last digits alone.
// Differences m - node keep all digits, near and far.
type Newton struct {
	nodes  []float64
	factor float64 // a power of two, with which differences are at most 1
	lo, hi float64 // the masses at x = -1 and x = 1
	perBin float64 // the mean number of events in a bin
}

// sampleSize is about the number of events among which nodes are looked for.
const sampleSize = 1 << 12

// newNewton returns polynomials up to a degree. The nodes lie in different bins, as the events do: in the middle bin, then at the
// quarters, then at the eighths. A node is the first mass of its bin in a sample of the events, or the node before if the
// sample has none.
func newNewton[T events.Float](sel *events.Selection[T], nb, degree int) *Newton {
	nw := &Newton{
		nodes: make([]float64, degree), factor: events.UnitOf(sel.MassHi - sel.MassLo),
		lo: sel.MassLo, hi: sel.MassHi, perBin: float64(sel.N) / float64(nb),
	}
	bin := func(k int) uint32 { return uint32(nb * int(bits.Reverse16(uint16(k+1))) >> 16) }
	isSet, left := make([]bool, degree), degree
	for i, stride := 0, max(1, len(sel.Mass)/sampleSize); i < len(sel.Mass) && left > 0; i += stride {
		for k := range nw.nodes {
			if pair := sel.Pairs[i]; !isSet[k] && pair != events.NoPair && pair&events.BinMask == bin(k) {
				nw.nodes[k], isSet[k] = float64(sel.Mass[i]), true
				left--
			}
		}
	}
	node := sel.MassLo
	for k := range nw.nodes {
		if !isSet[k] {
			nw.nodes[k] = node
		}
		node = nw.nodes[k]
	}
	return nw
}

// legendre returns the rows of T, omega_k = sum_l T_lk P_l(x). Each follows from the one before, since
// (m - node) factor = alpha x + beta and (2l+1) x P_l = (l+1) P_{l+1} + l P_{l-1}.
func (nw *Newton) legendre(arena *par.Arena) []float64 {
	size := len(nw.nodes) + 1
	t := par.Make[float64](arena, size*size)
	t[0] = 1
	alpha := (nw.hi - nw.lo) * nw.factor / 2
	for k, node := range nw.nodes {
		beta := ((nw.hi-node)*nw.factor + (nw.lo-node)*nw.factor) / 2
		for l := range k + 1 {
			coefficient, up := t[l*size+k], float64(2*l+1)
			t[l*size+k+1] += beta * coefficient
			t[(l+1)*size+k+1] += alpha * coefficient * float64(l+1) / up
			if l > 0 {
				t[(l-1)*size+k+1] += alpha * coefficient * float64(l) / up
			}
		}
	}
	return t
}
