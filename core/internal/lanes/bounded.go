package lanes

import "math"

// Four has a number of each of four events.
type Four = [4]float64

// Group is what crossing four events does to c~, where moments c are bounded, and to J. All is
// of the events in turns, each after those before it.
type Group struct {
	E, R    Four      // the step of F_b, and F_b in its middle
	P, Q    [3]Four   // P_b, and P'F in the middle of the step
	Moments [3]Moment // of moment 0 the Value and the Change alone
	V, D    Four      // the change of V_b, and that of J
}

// Moment is one moment after each of four events.
type Moment struct {
	C, Step       Four // c, and by how much it has changed
	Value, Change Four // c~, and by how much it has changed
	Slope, ByBase Four // d c~/dc, and d c~/d base, see Squash
}

// BoundedRow is what crossing an event of weight 1 needs of its bin.
type BoundedRow struct {
	A [4]float64 // A_b/W_b, and 1/W_b
	P [4]float64 // P_b, and F_b
}

// Bounded has the sums that crossing events changes: c and P'F, and F_b in the rows.
type Bounded struct {
	Rows []BoundedRow
	C, Q [4]float64 // the last of both is not used
}

var (
	follow = followGo
	squash = squashGo
	change = changeGo
)

// Follow crosses events: it sets their steps, P, Q, the Value and the Change of moment 0, and C and
// Step of the others. There are four weights a group, and as many bins.
func (bo *Bounded) Follow(groups []Group, bins []uint32, weights []float64) {
	follow(bo, groups, bins, weights)
}

func followGo(bo *Bounded, groups []Group, bins []uint32, weights []float64) {
	c0, c1, c2 := bo.C[0], bo.C[1], bo.C[2]
	q0, q1, q2 := bo.Q[0], bo.Q[1], bo.Q[2]
	for i := range groups {
		g, bins, weights := &groups[i], bins[4*i:4*i+4:4*i+4], weights[4*i:4*i+4:4*i+4]
		m0, m1, m2 := &g.Moments[0], &g.Moments[1], &g.Moments[2]
		for j, b := range bins {
			row, w := &bo.Rows[b], weights[j]
			d0, d1, d2 := float64(w*row.A[0]), float64(w*row.A[1]), float64(w*row.A[2])
			c0, c1, c2 = c0+d0, c1+d1, c2+d2
			m0.Change[j], m1.Step[j], m2.Step[j] = d0, d1, d2
			m0.Value[j], m1.C[j], m2.C[j] = c0, c1, c2
			e := float64(w * row.A[3])
			h0, h1, h2 := float64(e*0.5*row.P[0]), float64(e*0.5*row.P[1]), float64(e*0.5*row.P[2])
			q0, q1, q2 = q0+h0, q1+h1, q2+h2
			g.P[0][j], g.P[1][j], g.P[2][j] = row.P[0], row.P[1], row.P[2]
			g.Q[0][j], g.Q[1][j], g.Q[2][j] = q0, q1, q2
			q0, q1, q2 = q0+h0, q1+h1, q2+h2
			g.E[j], g.R[j] = e, row.P[3]+float64(e*0.5)
			row.P[3] += e
		}
	}
	bo.C, bo.Q = [4]float64{c0, c1, c2, bo.C[3]}, [4]float64{q0, q1, q2, bo.Q[3]}
}

// Squash bounds moment l of events by t = factor |base|, where base is the bounded moment l - 1
// less an offset:
//
//	c~ = t tanh u,   u = c/t
//
// What it says of the first event takes it that before it everything was 0.
func Squash(groups []Group, l int, offset, factor float64) { squash(groups, l, offset, factor) }

func squashGo(groups []Group, l int, offset, factor float64) {
	var last squashed
	for i := range groups {
		of, m := &groups[i].Moments[l-1], &groups[i].Moments[l]
		for j := range 4 {
			var next squashed
			base := of.Value[j] - offset
			byBase := math.Copysign(factor, base)
			m.Change[j] = next.follow(&last, base, float64(byBase*of.Change[j]), m.C[j], m.Step[j], factor)
			m.Value[j] = float64(next.t * next.tanh)
			m.Slope[j] = float64(next.sech * next.sech)
			m.ByBase[j] = byBase * (next.tanh - float64(next.u*m.Slope[j]))
			last = next
		}
	}
}

// squashed is a bounded moment, and what it is made of.
type squashed struct{ base, t, u, tanh, sech float64 }

// follow sets the moment to that at base and c, of which t and c lie dt and step from where they were
// before, if the base has kept its sign, and returns by how much c~ has changed:
//
//	dt (tanh u + tanh u')/2 + (t + t')/2 dtanh,   dtanh = sinh(du) / (cosh u cosh u')
//
// so that for small steps no digits are lost; where u changes by much, so does its tanh, and
// the plain difference is exact enough. Where t falls to a small part of what it was, du, a
// difference of terms in units of the new t, is not known so well.
func (next *squashed) follow(before *squashed, base, dt, c, step, factor float64) float64 {
	t := float64(factor * math.Abs(base))
	inverse := 1 / t
	u := float64(c * inverse)
	u = math.Copysign(min(math.Abs(u), steepest), u)
	tanh, sech := TanhSech(u)
	if !(float64(before.base*base) > 0) {
		dt = t - before.t
	}
	du := float64((step - float64(before.u*dt)) * inverse)
	dtanh := tanh - before.tanh
	if math.Abs(du) < smallStep && dt > float64(-15*t) {
		y := float64(du * du)
		sinh := float64(du * (1 + float64(y*(1.0/6+float64(y*(1.0/120+float64(y*(1.0/5040))))))))
		dtanh = float64(sinh * float64(before.sech*sech))
	}
	*next = squashed{base, t, u, tanh, sech}
	return float64(dt*float64((before.tanh+tanh)*0.5)) + float64(float64((before.t+t)*0.5)*dtanh)
}

// smallStep is a |x| up to which four terms of the series of sinh x are exact in double precision.
const smallStep = 0.025

// Change sets D: of J without the bias, with P'P = gram.
//
//	d = 2 (e (R - c~_mean.P) - dc~.(Q - gram c~_mean)) + penalty dc_1 (2 c_1 - dc_1)
func Change(groups []Group, gram *[9]float64, penalty float64) { change(groups, gram, penalty) }

func changeGo(groups []Group, gram *[9]float64, penalty float64) {
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
			step := m1.Step[j]
			g.D[j] = float64(2*d) + float64(float64(penalty*step)*(float64(2*m1.C[j])-step))
		}
	}
}

// Keep leaves moment l unbounded.
func Keep(groups []Group, l int) {
	for i := range groups {
		m := &groups[i].Moments[l]
		m.Value, m.Change, m.Slope, m.ByBase = m.C, m.Step, Four{1, 1, 1, 1}, Four{}
	}
}
