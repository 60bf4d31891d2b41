package core

import (
	"github.com/libmode/libmode/core/internal/lanes"
	"gonum.org/v1/gonum/floats"
)

// unbinnedBias is the bias of an unbinned J,
//
//	bias(s) = g sum_i Q_i (Theta_i - f_i)^2
//	Q_i     = u_i^2 sum_{k > order} q_k(x_i)^2
//	f_i     = sum_{l <= order} a_l q_l(x_i) = sum_j h_ij Theta_j,   h_ij = u_j sum_{l <= order} q_l(x_i) q_l(x_j)
//	g       = sum_i Q_i / sum_i Q_i (1 - 2 h_ii + sum_j h_ij^2)
//
// with Theta_i = Theta(s - s_i). Where the response is a polynomial of the mass up to the order, the mean of
// sum_{k > order} a_k^2, over the scores that events of these masses and weights may have, is sum_i Q_i sigma_i^2,
// with the variance sigma_i^2 of Theta_i. The mean of (Theta_i - f_i)^2 is less than that, since f_i is fitted to
// the same events. g makes up for it, exactly where all sigma_i are equal.
//
// With B_l(s) = sum_i Q_i q_l(x_i) Theta_i and M_lm = sum_i Q_i q_l(x_i) q_m(x_i) it is
//
//	bias(s) = g [B_0 - 2 a.B + a.M a]
type unbinnedBias struct {
	size   int       // order + 1
	equal  float64   // the share of all events; 0: they differ
	m      []float64 // M_lm
	factor float64   // g
}

func newUnbinnedBias(size int, sp *spectrum) *unbinnedBias {
	bi := &unbinnedBias{size: size, m: make([]float64, size*size)}
	if sp.u == nil {
		bi.equal = 1 / float64(len(sp.x))
	}
	return bi
}

// sums returns how many sums over the events the bias needs: the lower triangle of M_lm, whose first column is B_l
// where the sums are over the events below a score; and for shares that differ the lower triangle of
// sum_i u_i^2 q_l(x_i) q_m(x_i), and sum_i Q_i h_ii.
func (bi *unbinnedBias) sums() int {
	if bi.equal > 0 {
		return triangle(bi.size, 0)
	}
	return 2*triangle(bi.size, 0) + 1
}

// add adds a block of events to these sums.
func (bi *unbinnedBias) add(c *polynomialBlock, sums []float64) {
	squares, half := c.squares(bi.size), triangle(bi.size, 0)
	for l, q := range c.q[:bi.size] {
		lanes.Overlaps(sums[triangle(l, 0):], squares, q, c.q[:l+1])
	}
	if bi.equal > 0 {
		return
	}
	uu, qu := floats.MulTo(c.spare[1], c.u, c.u), floats.MulTo(c.spare[2], squares, c.u)
	for l, q := range c.q[:bi.size] {
		lanes.Overlaps(sums[half+triangle(l, 0):], uu, q, c.q[:l+1])
		lanes.Overlaps(sums[2*half:], qu, q, c.q[l:l+1])
	}
}

// set takes the sums over all events. For equal shares sum_j h_ij^2 = h_ii.
func (bi *unbinnedBias) set(sums []float64) error {
	half := triangle(bi.size, 0)
	spread := sums[0] // becomes sum_i Q_i (1 - 2 h_ii + sum_j h_ij^2)
	for l := range bi.size {
		for m := range l + 1 {
			bi.m[l*bi.size+m], bi.m[m*bi.size+l] = sums[triangle(l, m)], sums[triangle(l, m)]
		}
		spread -= bi.equal * sums[triangle(l, l)]
	}
	if bi.equal == 0 {
		spread -= 2 * sums[2*half]
		for l := range bi.size {
			for m := range bi.size {
				spread += bi.m[l*bi.size+m] * sums[half+triangle(max(l, m), min(l, m))]
			}
		}
	}
	if !(spread > roundingFloor*sums[0]) {
		return errorOf(ErrNoEvents, "too few effective events: with order = %d, those that have nearly all of the weight "+
			"leave nothing to estimate the bias from, which unbiased needs: use larger batches or a lower order", bi.size-1)
	}
	bi.factor = sums[0] / spread
	return nil
}

// start sets B_l of a point from the sums over the events before it, and returns the bias.
func (bi *unbinnedBias) start(sums []float64, at *unbinnedPoint) float64 {
	a, b := at[:bi.size], at[bAt:bAt+bi.size]
	bias := sums[0]
	for l := range b {
		b[l] = sums[triangle(l, 0)]
		bias += a[l] * (dot(bi.m[l*bi.size:(l+1)*bi.size], a) - 2*b[l])
	}
	return bi.factor * bias
}

// cross subtracts from d by how much the bias changes with each event.
func (bi *unbinnedBias) cross(room *unbinnedRoom) {
	squares, change, mq := room.squares(bi.size), room.spare[1], room.spare[2]
	copy(change, squares)
	for l, q := range room.q[:bi.size] {
		lanes.Combine(mq, bi.m[l*bi.size:(l+1)*bi.size], room.q[:bi.size])
		step := biasStep{change, squares, room.u, q, mq}
		room.at[l], room.at[bAt+l] = step.alone(room.at[l], room.at[bAt+l])
		for _, t := range room.ties {
			step.tied(t)
		}
	}
	floats.AddScaled(room.d, -bi.factor, change)
}

// biasStep is what the events change bias/g by through a_l and B_l of one degree, see unbinnedWalker.
type biasStep struct{ change, squares, u, q, mq []float64 }

// alone crosses the events one after the other, from these numbers on, and returns those after the last.
func (p *biasStep) alone(a0, b0 float64) (_, _ float64) {
	a, b := 2*a0, 2*b0
	change, squares, u, mq := p.change[:len(p.q)], p.squares[:len(p.q)], p.u[:len(p.q)], p.mq[:len(p.q)]
	for i, q := range p.q {
		e, r := float64(u[i]*q), float64(squares[i]*q)
		change[i] += float64((float64(u[i]*mq[i])-r)*(a+e)) - float64(e*(b+r))
		a, b = a+2*e, b+2*r
	}
	return a / 2, b / 2
}

// tied is that of degreeStep.
func (p *biasStep) tied(t tie) {
	var a, b float64
	if !t.inside {
		a, b = floats.Dot(p.u[t.lo:t.hi], p.q[t.lo:t.hi]), floats.Dot(p.squares[t.lo:t.hi], p.q[t.lo:t.hi])
	}
	for i := t.lo; i < t.hi; i++ {
		e, r := float64(p.u[i]*p.q[i]), float64(p.squares[i]*p.q[i])
		a, b = a-e, b-r
		p.change[i] += float64((float64(p.u[i]*p.mq[i])-r)*a) - float64(e*b)
		a, b = a-e, b-r
	}
}
