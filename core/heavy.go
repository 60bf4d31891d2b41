package core

import "math"

// heavy follows the variance of bins in which one event has nearly all of the
// weight. There F_b jumps from nearly 0 to nearly 1, and V_b is a small difference of
// large sums. Without that event the sums are small themselves: before it is crossed,
// those over the other events below, and after it those over the other events above,
// in terms of which, with F for 1 - F, V_b has the same form.
type heavy struct {
	*variance
	f, s  []float64 // sums over other events of steps and of their squares
	above []bool    // of events above, since the largest step was crossed
}

// dominatedBelow is a 1 - 2 U/T + T up to which a bin counts as dominated: of the digits
// of V_b, so many are lost otherwise. No other step is as large as the largest there.
const dominatedBelow = 1e-2

func newHeavy(va *variance) heavy {
	nb := len(va.largest)
	return heavy{va, make([]float64, nb), make([]float64, nb), make([]bool, nb)}
}

// has reports whether a bin is dominated; without any such bin h is nil.
func (h *heavy) has(b int) bool { return h != nil && h.largest[b] != 0 }

// set moves to where other is.
func (h *heavy) set(other heavy) {
	copy(h.f, other.f)
	copy(h.s, other.s)
	copy(h.above, other.above)
}

// cross makes a step in a dominated bin.
func (h *heavy) cross(st step) {
	b := st.bin
	switch {
	case math.Abs(st.e) == math.Abs(h.largest[b]):
		rest := h.rest[b]
		h.f[b], h.s[b], h.above[b] = rest.first-h.f[b], rest.squares-h.s[b], !h.above[b]
	case h.above[b]:
		h.f[b] -= st.e
		h.s[b] -= st.square
	default:
		h.f[b] += st.e
		h.s[b] += st.square
	}
}

func (h *heavy) at(b int) float64 { return h.of(b, h.f[b], h.s[b]) }

// change returns by how much V_b changes with a step.
func (h *heavy) change(st step) float64 {
	b := st.bin
	if math.Abs(st.e) == math.Abs(h.largest[b]) {
		rest := h.rest[b]
		return h.of(b, rest.first-h.f[b], rest.squares-h.s[b]) - h.at(b)
	}
	if h.above[b] {
		st = st.reversed()
	}
	return h.variance.change(st, h.f[b], h.s[b])
}
