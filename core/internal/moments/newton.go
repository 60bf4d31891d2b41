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
// whose nodes are masses of events. A fit does not depend on the basis of its polynomials, but its digits do: where a
// few masses are far from all others, these lie at x = -1, where Legendre polynomials differ in their last digits
// alone. Differences m - node keep all digits, near and far.
type Newton struct {
	nodes  []float64
	factor float64 // a power of two, with which differences are at most 1
	lo, hi float64 // the masses at x = -1 and x = 1
}

// newNewton returns polynomials up to a degree, with nodes in as many of the bins: in the middle one, then in the
// quarters, then in the eighths, so that nodes lie as events do. Of each bin it takes the mass of the first of its
// events that it meets, in places all over the events, and where it meets none the node before.
func newNewton[T events.Float](sel *events.Selection[T], nb, degree int) *Newton {
	nw := &Newton{nodes: make([]float64, degree), factor: events.UnitOf(sel.MassHi - sel.MassLo), lo: sel.MassLo, hi: sel.MassHi}
	bin := func(k int) uint32 { return uint32(nb * int(bits.Reverse16(uint16(k+1))) >> 16) }
	first := make([]int, nb) // of a bin that has nodes: -1, then an event
	left := 0
	for k := range degree {
		if b := bin(k); first[b] == 0 {
			first[b] = -1
			left++
		}
	}
	const size, places = 1 << 6, 1 << 6
	n := len(sel.Mass)
	var room [size]uint32
	for k := 0; k < places && left > 0; k++ {
		lo := n / places * k
		numbers := room[:min(size, n-lo)]
		sel.FindBins(numbers, lo)
		for i, b := range numbers {
			if b != events.NoPair && first[b] < 0 {
				first[b] = lo + i + 1
				left--
			}
		}
	}
	node := sel.MassLo
	for k := range nw.nodes {
		if i := first[bin(k)]; i > 0 {
			node = float64(sel.Mass[i-1])
		}
		nw.nodes[k] = node
	}
	return nw
}

// fillNewton sets values[k-1] to omega_k of masses.
func fillNewton[T events.Float](values [][]float64, masses []T, nw *Newton) {
	factor := nw.factor
	for k, next := range values[:len(nw.nodes)] {
		node, masses := nw.nodes[k], masses[:len(next)]
		if k == 0 {
			for i, m := range masses {
				next[i] = (float64(m) - node) * factor
			}
			continue
		}
		now := values[k-1][:len(next)]
		for i, m := range masses {
			next[i] = now[i] * ((float64(m) - node) * factor)
		}
	}
}

// legendre returns the rows of T,
//
//	omega_k = sum_l T_lk P_l(x)
//
// of which each follows from the one before, since (m - node) factor = alpha x + beta, and
// (2l+1) x P_l = (l+1) P_{l+1} + l P_{l-1}.
func (nw *Newton) legendre(arena *par.Arena) []float64 {
	size := len(nw.nodes) + 1
	t := par.Make[float64](arena, size*size)
	t[0] = 1
	alpha := (nw.hi - nw.lo) * nw.factor / 2
	for k, node := range nw.nodes {
		beta := ((nw.hi-node)*nw.factor + (nw.lo-node)*nw.factor) / 2
		for l := range k + 1 {
			of, up := t[l*size+k], float64(2*l+1)
			t[l*size+k+1] += beta * of
			t[(l+1)*size+k+1] += alpha * of * float64(l+1) / up
			if l > 0 {
				t[(l-1)*size+k+1] += alpha * of * float64(l) / up
			}
		}
	}
	return t
}
