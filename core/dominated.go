package core

import "math"

// dominated follows the variance of bins in which one event has nearly all of the
// weight. There F_b jumps from nearly 0 to nearly 1, and V_b is a small difference of
// large sums. Without that event the sums are small themselves: before it is crossed,
// those over the other events below, and after it those over the other events above,
// in terms of which, with F for 1 - F, V_b has the same form.
type dominated struct {
	spread *spread
	f, s   []float64 // sums over other events of steps and of their squares
	above  []bool    // of events above, since the largest step was crossed
}

// dominatedBelow is a 1 - 2 U/T + T up to which a bin counts as dominated: of the digits
// of V_b, so many are lost otherwise. No other step is as large as the largest there.
const dominatedBelow = 1e-2

func newDominated(sp *spread) *dominated {
	nb := len(sp.largest)
	return &dominated{sp, make([]float64, nb), make([]float64, nb), make([]bool, nb)}
}

// has reports whether a bin is dominated; without any such bin d is nil.
func (d *dominated) has(b int) bool { return d != nil && d.spread.largest[b] != 0 }

// set moves to where other is.
func (d *dominated) set(other *dominated) {
	copy(d.f, other.f)
	copy(d.s, other.s)
	copy(d.above, other.above)
}

// findDominated follows dominated bins, if there are any, to the beginning of each chunk.
func (sw *sweep[T]) findDominated() {
	if sw.spread.largest == nil {
		return
	}
	sw.dominated = make([]dominated, len(sw.chunks))
	now := newDominated(sw.spread)
	for k := range sw.dominated {
		sw.dominated[k] = *newDominated(sw.spread)
		sw.dominated[k].set(now)
		if k == len(sw.chunks)-1 {
			return
		}
		for i := sw.chunks[k]; i < sw.chunks[k+1]; i++ {
			if st := sw.step(i); now.has(st.bin) {
				now.cross(st)
			}
		}
	}
}

// cross makes a step in a dominated bin.
func (d *dominated) cross(st step) {
	b := st.bin
	switch {
	case math.Abs(st.e) == math.Abs(d.spread.largest[b]):
		rest := d.spread.rest[b]
		d.f[b], d.s[b], d.above[b] = rest.first-d.f[b], rest.squares-d.s[b], !d.above[b]
	case d.above[b]:
		d.f[b] -= st.e
		d.s[b] -= st.square
	default:
		d.f[b] += st.e
		d.s[b] += st.square
	}
}

func (d *dominated) variance(b int) float64 { return d.spread.variance(b, d.f[b], d.s[b]) }

// change returns by how much V_b changes with a step.
func (d *dominated) change(st step) float64 {
	b := st.bin
	if math.Abs(st.e) == math.Abs(d.spread.largest[b]) {
		rest := d.spread.rest[b]
		return d.spread.variance(b, rest.first-d.f[b], rest.squares-d.s[b]) - d.variance(b)
	}
	if d.above[b] {
		st = st.reversed()
	}
	return d.spread.change(st, d.f[b], d.s[b])
}
