package lanes

import "math"

// Four has a number of each of four events.
type Four = [4]float64

// Group is what crossing four events does to c~, where moments c are bounded, and to J. All is
// of the events in turns, each after those before it that stay.
type Group struct {
	Stays   Four      // 1; 0 where the event is taken back at once, so that the next begins where it did
	E, R    Four      // the step of F_b, and F_b in its middle
	P, Q    [3]Four   // P_b, and P'F in the middle of the step
	Moments [3]Moment // c, or c~ where it has been squashed
	V, D    Four      // the change of V_b, which Squash does not keep, and that of J
}

// Moment is a moment after each of four events, and by how much it has changed.
type Moment struct {
	Value, Change Four
	Slope, ByBase Four // d c~/dc, and d c~/d base, see Squash; not of moment 0
}

// BoundedRow is what crossing an event of weight 1 needs of its bin.
type BoundedRow struct {
	A [4]float64 // A_b/W_b, and 1/W_b
	P [4]float64 // P_b, and F_b
}

// Bounded has the sums that crossing events changes: c and P'F, and F_b in the rows.
type Bounded struct {
	Rows      []BoundedRow
	C, Q      [4]float64 // the last of both is not used
	Penalty   float64    // slope_penalty
	Offset    float64
	BaseFloor float64 // |c_0 - Offset| is to be above this
	Floor     float64 // and |c_1| above this
}

var (
	follow = followGo
	squash = squashGo
	change = changeGo
)

// Follow crosses events: it sets their steps, P, Q and moments, and D to what the penalty changes by. There
// are four weights a group, as many bins, and as many numbers that say which events stay. It returns the first
// crossing that leaves c_1 or c_0 too small, with whose group it has stopped, or their number.
func (bo *Bounded) Follow(groups []Group, bins []uint32, weights, stays []float64) int {
	return follow(bo, groups, bins, weights, stays)
}

func followGo(bo *Bounded, groups []Group, bins []uint32, weights, stays []float64) int {
	c0, c1, c2, q0, q1, q2 := bo.C[0], bo.C[1], bo.C[2], bo.Q[0], bo.Q[1], bo.Q[2]
	end := 4 * len(groups)
	for i := range groups {
		g, bins, weights := &groups[i], bins[4*i:4*i+4:4*i+4], weights[4*i:4*i+4:4*i+4]
		g.Stays = Four(stays[4*i:])
		for j, b := range bins {
			row, w, stay := &bo.Rows[b], weights[j], g.Stays[j]
			e := float64(w * row.A[3])
			half := float64(e * 0.5)
			g.E[j], g.R[j] = e, row.P[3]+half
			row.P[3] += float64(e * stay)
			c0 = g.Moments[0].follow(j, c0, float64(w*row.A[0]), stay)
			c1 = g.Moments[1].follow(j, c1, float64(w*row.A[1]), stay)
			c2 = g.Moments[2].follow(j, c2, float64(w*row.A[2]), stay)
			g.P[0][j], g.P[1][j], g.P[2][j] = row.P[0], row.P[1], row.P[2]
			h0, h1, h2 := float64(half*row.P[0]), float64(half*row.P[1]), float64(half*row.P[2])
			g.Q[0][j], g.Q[1][j], g.Q[2][j] = q0+h0, q1+h1, q2+h2
			h0, h1, h2 = float64(h0*stay), float64(h1*stay), float64(h2*stay)
			q0, q1, q2 = q0+h0+h0, q1+h1+h1, q2+h2+h2
			slope, step := g.Moments[1].Value[j], g.Moments[1].Change[j]
			g.D[j] = float64(float64(bo.Penalty*step) * (float64(2*slope) - step))
		}
		if j := bo.firstLow(g); j < 4 {
			end = 4*i + j
			break
		}
	}
	bo.C, bo.Q = [4]float64{c0, c1, c2, bo.C[3]}, [4]float64{q0, q1, q2, bo.Q[3]}
	return end
}

// follow adds a step to a moment, and returns it as the next event finds it.
func (m *Moment) follow(j int, c, step, stay float64) float64 {
	m.Value[j], m.Change[j] = c+step, step
	return c + float64(step*stay)
}

// firstLow returns the first event after which c_1 or c_0 is too small, or four.
func (bo *Bounded) firstLow(g *Group) int {
	for j, c0 := range g.Moments[0].Value {
		if !bo.High(c0, g.Moments[1].Value[j]) {
			return j
		}
	}
	return 4
}

// High reports whether neither c_0 nor c_1 is too small.
func (bo *Bounded) High(c0, c1 float64) bool {
	return math.Abs(c0-bo.Offset) > bo.BaseFloor && math.Abs(c1) > bo.Floor
}

// Squash bounds moment l of events by t = factor |base|, where base is the bounded moment l - 1
// less an offset. It becomes c~ = t tanh u with u = c/t, and changes by
//
//	dt (tanh u + tanh u')/2 + (t + t')/2 dtanh,   dtanh = sinh(du) / (cosh u cosh u')
//
// so that for small steps no digits are lost; where u changes by much, so does its tanh, and
// the plain difference is exact enough. Where t falls to a small part of what it was, du, a
// difference of terms in units of the new t, is not known so well. Before the first event c~ was 0,
// whatever c was: a first event that changes nothing tells those after it what both were.
func Squash(groups []Group, l int, offset, factor float64) { squash(groups, l, offset, factor) }

func squashGo(groups []Group, l int, offset, factor float64) {
	for i := range groups {
		g, of, m := &groups[i], &groups[i].Moments[l-1], &groups[i].Moments[l]
		for j := range 4 {
			g.V[j] = 1 / float64(factor*math.Abs(of.Value[j]-offset))
			m.ByBase[j], m.Slope[j] = TanhSech(float64(m.Value[j] * g.V[j]))
		}
	}
	last := squashed{u: math.NaN()} // so that the first step is not a small one
	for i := range groups {
		for j, stay := range groups[i].Stays {
			if next := groups[i].squash(j, l, offset, factor, last); stay != 0 {
				last = next
			}
		}
	}
}

// squashed is what a bounded moment is made of.
type squashed struct{ base, t, u, tanh, sech float64 }

// squash bounds moment l of event j, of which V is 1/t, ByBase is tanh u and Slope is 1/cosh u.
func (g *Group) squash(j, l int, offset, factor float64, last squashed) squashed {
	of, m := &g.Moments[l-1], &g.Moments[l]
	base, inverse, tanh, sech := of.Value[j]-offset, g.V[j], m.ByBase[j], m.Slope[j]
	t, u := float64(factor*math.Abs(base)), float64(m.Value[j]*inverse)
	if math.Abs(u) > steepest {
		u = math.Copysign(steepest, u)
	}
	byBase, slope := math.Copysign(factor, base), float64(sech*sech)
	dt := float64(byBase * of.Change[j])
	if !(float64(last.base*base) > 0) {
		dt = t - last.t
	}
	du := float64((m.Change[j] - float64(last.u*dt)) * inverse)
	dtanh := tanh - last.tanh
	if math.Abs(du) < smallStep && dt > float64(-15*t) {
		dtanh = float64(sinhOfSmall(du) * float64(last.sech*sech))
	}
	m.Change[j] = float64(dt*float64((last.tanh+tanh)*0.5)) + float64(float64((last.t+t)*0.5)*dtanh)
	m.Value[j], m.Slope[j] = float64(t*tanh), slope
	m.ByBase[j] = float64(byBase * (tanh - float64(u*slope)))
	return squashed{base, t, u, tanh, sech}
}

// sinhOfSmall returns sinh x where |x| is not above smallStep.
func sinhOfSmall(x float64) float64 {
	y := float64(x * x)
	return float64(x * (1 + float64(y*(sinh3+float64(y*(sinh5+float64(y*sinh7)))))))
}

// smallStep is a |x| up to which four terms of the series of sinh x are exact in double precision.
const smallStep = 0.025

const (
	sinh3 = 1.0 / 6
	sinh5 = sinh3 / 20
	sinh7 = sinh5 / 42
)

// Change adds to D what J, without the bias and the penalty, changes by: with P'P = gram
//
//	2 (e (R - c~_mean.P) - dc~.(Q - gram c~_mean))
func Change(groups []Group, gram *[9]float64) { change(groups, gram) }

func changeGo(groups []Group, gram *[9]float64) {
	for i := range groups {
		g := &groups[i]
		m0, m1, m2 := &g.Moments[0], &g.Moments[1], &g.Moments[2]
		for j := range 4 {
			d0, d1, d2 := m0.Change[j], m1.Change[j], m2.Change[j]
			c0, c1, c2 := m0.Value[j]-float64(d0*0.5), m1.Value[j]-float64(d1*0.5), m2.Value[j]-float64(d2*0.5)
			r := g.R[j] - (float64(c0*g.P[0][j]) + float64(c1*g.P[1][j]) + float64(c2*g.P[2][j]))
			q0 := g.Q[0][j] - (float64(c0*gram[0]) + float64(c1*gram[1]) + float64(c2*gram[2]))
			q1 := g.Q[1][j] - (float64(c0*gram[1]) + float64(c1*gram[4]) + float64(c2*gram[5]))
			q2 := g.Q[2][j] - (float64(c0*gram[2]) + float64(c1*gram[5]) + float64(c2*gram[8]))
			d := float64(g.E[j]*r) - (float64(d0*q0) + float64(d1*q1) + float64(d2*q2))
			g.D[j] += float64(2 * d)
		}
	}
}

// Keep sets the derivatives of a moment l that is not bounded.
func Keep(groups []Group, l int) {
	for i := range groups {
		groups[i].Moments[l].Slope, groups[i].Moments[l].ByBase = Four{1, 1, 1, 1}, Four{}
	}
}
