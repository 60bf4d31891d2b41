package lanes

import "math"

// Steps is how many crossings the loops of the correction take at most at a time. Their number is a multiple of four.
const Steps = 128

// Lane has a number after each crossing, from place 1 on; place 0 is before the first.
type Lane [Steps + 4]float64

// Moment is a moment c along crossings, and what bounding it does: c~ = t tanh u, u = c/t, delta = c - c~.
type Moment struct {
	C, Step          Lane // c, and its change by each crossing
	Z, StepZ         Lane // likewise
	T, U, Tanh, Sech Lane // t and u have the sign of the base; all are 0 where t is 0
	Value, Change    Lane // c~
	Sum, Difference  Lane // delta after a crossing plus, and minus, delta before it
	Own, By0, By1    Lane // row l of N = 1 - d c~/dc: columns l, 0 and 1
}

// Carry makes the end of n crossings the start of the next.
func (m *Moment) Carry(n int) {
	for _, lane := range [...]*Lane{&m.C, &m.Z, &m.T, &m.U, &m.Tanh, &m.Sech, &m.Value} {
		lane[0] = lane[n]
	}
}

// Limit is t = Factor (base - Offset), or 0 where |base - Offset| <= BaseFloor. A |c| <= Floor counts as 0.
type Limit struct{ Factor, Offset, BaseFloor, Floor float64 }

// Bound returns c~.
func (li *Limit) Bound(c, base float64) float64 {
	t := base - li.Offset
	if math.Abs(t) <= li.BaseFloor {
		return 0
	}
	t *= li.Factor
	tanh, _ := TanhSech(c / t)
	return t * tanh
}

// Variables, so that what the processor can do decides.
var (
	follow   = followGo
	squash   = squashGo
	correct  = correctGo
	setRow   = setRowGo
	evaluate = evaluateGo
)

// Follow adds weight times the row of its bin to sum at each crossing. It writes the four sums to after and, unless steps
// is nil, what was added to steps.
func Follow(rows [][4]float64, sum *[4]float64, bins []uint32, weights []float64, after, steps *[4]*Lane) {
	follow(rows, sum, bins, weights, after, steps)
}

func followGo(rows [][4]float64, sum *[4]float64, bins []uint32, weights []float64, after, steps *[4]*Lane) {
	for i, b := range bins {
		row, w := &rows[b], weights[i]
		for k := range sum {
			step := float64(w * row[k])
			sum[k] += step
			after[k][i+1] = sum[k]
			if steps != nil {
				steps[k][i+1] = step
			}
		}
	}
}

// Squash bounds a moment along n crossings. A change of c~ is
//
//	dt (tanh u + tanh u')/2 + (t + t')/2 dtanh,   dtanh = sinh(du) / (cosh u cosh u')
//
// so that small steps lose no digits. Where u changes by much, or t comes from or falls to a small part of what it was, so
// that du has few digits, the difference of the two tanh is exact enough.
func Squash(m *Moment, base, baseStep *Lane, n int, li *Limit) { squash(m, base, baseStep, n, li) }

func squashGo(m *Moment, base, baseStep *Lane, n int, li *Limit) {
	for i := 1; i <= n; i++ {
		t, inverse := base[i]-li.Offset, 0.0
		if math.Abs(t) > li.BaseFloor {
			t = float64(li.Factor * t)
			inverse = 1 / t
		} else {
			t = 0
		}
		u := float64(above(m.C[i], li.Floor) * inverse)
		if math.Abs(u) > steepest {
			u = math.Copysign(steepest, u)
		}
		tanh, sech := TanhSech(u)
		if t == 0 {
			sech = 0
		}
		m.T[i], m.U[i], m.Tanh[i], m.Sech[i], m.Value[i] = t, u, tanh, sech, float64(t*tanh)
		m.Change[i] = inverse // until the next loop
	}
	for i := 1; i <= n; i++ {
		c0, c := above(m.C[i-1], li.Floor), above(m.C[i], li.Floor)
		dt := change(m.T[i-1], m.T[i], float64(li.Factor*baseStep[i]))
		du := float64((change(c0, c, m.Step[i]) - float64(m.U[i-1]*dt)) * m.Change[i])
		dtanh := m.Tanh[i] - m.Tanh[i-1]
		if math.Abs(du) < smallStep && math.Abs(m.T[i-1]) < float64(16*math.Abs(m.T[i])) && m.T[i-1] != 0 {
			dtanh = float64(sinhOfSmall(du) * float64(m.Sech[i-1]*m.Sech[i]))
		}
		m.Change[i] = float64(dt*float64((m.Tanh[i-1]+m.Tanh[i])*0.5)) + float64(float64((m.T[i-1]+m.T[i])*0.5)*dtanh)
		m.Sum[i] = (m.C[i-1] - m.Value[i-1]) + (m.C[i] - m.Value[i])
		m.Difference[i] = m.Step[i] - m.Change[i]
	}
}

// Keep is Squash of a moment that has no limit, but where |c| <= floor.
func Keep(m *Moment, n int, floor float64) {
	for i := 1; i <= n; i++ {
		m.Value[i] = above(m.C[i], floor)
		m.Change[i] = change(m.Value[i-1], m.Value[i], m.Step[i])
		m.Sum[i] = (m.C[i-1] - m.Value[i-1]) + (m.C[i] - m.Value[i])
		m.Difference[i] = m.Step[i] - m.Change[i]
	}
}

// above returns c, or 0 where |c| <= floor.
func above(c, floor float64) float64 {
	if math.Abs(c) > floor {
		return c
	}
	return 0
}

// change returns to - from, which is step unless one of them was set to 0.
func change(from, to, step float64) float64 {
	if float64(from*to) != 0 {
		return step
	}
	return to - from
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

// Correct sets d to the change of 2 z.delta + delta.G delta at each of n crossings. Moment 0 is not bounded; z counts as
// 0 unless withZ is set.
func Correct(d *Lane, moments []Moment, gram []float64, n int, withZ bool) {
	for l := 1; l < len(moments); l++ {
		correct(d, moments, l, gram[l*len(moments):(l+1)*len(moments)], n, withZ)
	}
}

func correctGo(d *Lane, moments []Moment, l int, gram []float64, n int, withZ bool) {
	m := &moments[l]
	for i := 1; i <= n; i++ {
		var sum, change float64
		for k := 1; k < len(moments); k++ {
			sum += float64(gram[k] * moments[k].Sum[i])
		}
		if withZ {
			sum += m.Z[i-1] + m.Z[i]
			change = float64(m.StepZ[i] * m.Sum[i])
		}
		if l > 1 {
			change += d[i]
		}
		d[i] = change + float64(m.Difference[i]*sum)
	}
}

// Bias has sums over bins, weighted with V_b, of which the correction of the bias is made,
//
//	2 <N, X> + <G, N Y N'>,   X = sum_b V_b u_b A_b',   Y = sum_b V_b A_b A_b'
type Bias struct {
	Gram  []float64
	Value Lane // of the correction
	y     []Lane
	x     [][3]Lane
	none  Lane // 0
	withX bool
}

// Lanes sets G and the number of moments, and calls f with where each sum goes: Y_lm, m <= l, one row after the other, and
// withX, for without it X is 0, X_11, X_10, X_22, X_20, X_21, X_33 and so on.
func (bi *Bias) Lanes(gram []float64, size int, withX bool, f func(*Lane)) {
	if len(bi.x) != size {
		bi.y, bi.x = make([]Lane, size*(size+1)/2), make([][3]Lane, size)
	}
	bi.Gram, bi.withX = gram, withX
	for k := range bi.y {
		f(&bi.y[k])
	}
	for l := 1; withX && l < size; l++ {
		for k := range min(l+1, 3) {
			f(&bi.x[l][k])
		}
	}
}

func (bi *Bias) xOf(l, k int) *Lane {
	if !bi.withX {
		return &bi.none
	}
	return &bi.x[l][k]
}

func (bi *Bias) at(l, m int) *Lane {
	if l < m {
		l, m = m, l
	}
	return &bi.y[l*(l+1)/2+m]
}

// Unbias subtracts from d the change of the bias at each of n crossings. It is so small that a difference of two values will do.
func (bi *Bias) Unbias(d *Lane, moments []Moment, n int) {
	evaluate(bi, moments, n)
	for i := 1; i <= n; i++ {
		d[i] -= bi.Value[i] - bi.Value[i-1]
	}
	bi.Value[0] = bi.Value[n]
}

// evaluateGo sets Value to the sum over N_lk, which are not 0 for k = l, 0 and 1, of N_lk (2 X_lk + (G N Y)_lk).
func evaluateGo(bi *Bias, moments []Moment, n int) {
	for i := 1; i <= n; i++ {
		bi.Value[i] = 0
		for l := 1; l < len(moments); l++ {
			m := &moments[l]
			bi.Value[i] += float64(m.Own[i] * bi.by(moments, l, l, bi.xOf(l, 0), i))
			bi.Value[i] += float64(m.By0[i] * bi.by(moments, l, 0, bi.xOf(l, 1), i))
			if l > 1 {
				bi.Value[i] += float64(m.By1[i] * bi.by(moments, l, 1, bi.xOf(l, 2), i))
			}
		}
	}
}

// by returns 2 X_lk + (G N Y)_lk.
func (bi *Bias) by(moments []Moment, l, k int, x *Lane, i int) float64 {
	sum := float64(2 * x[i])
	for j := 1; j < len(moments); j++ {
		m := &moments[j]
		y := float64(m.Own[i]*bi.at(j, k)[i]) + float64(m.By0[i]*bi.at(0, k)[i])
		if j > 1 {
			y += float64(m.By1[i] * bi.at(1, k)[i])
		}
		sum += float64(bi.Gram[l*len(moments)+j] * y)
	}
	return sum
}

// SetRow sets the row of N of a bounded moment; slope is moment 1, or nil for that one.
func (m *Moment) SetRow(n int, factor float64, slope *Moment) { setRow(m, n, factor, slope) }

func setRowGo(m *Moment, n int, factor float64, slope *Moment) {
	for i := 1; i <= n; i++ {
		square := float64(m.Sech[i] * m.Sech[i])
		byT := float64(factor * (m.Tanh[i] - float64(m.U[i]*square)))
		m.Own[i], m.By0[i], m.By1[i] = float64(m.Tanh[i]*m.Tanh[i]), -byT, 0
		if m.T[i] == 0 {
			m.Own[i] = 1
		}
		if slope != nil {
			m.By0[i], m.By1[i] = float64(byT*slope.By0[i]), -float64(byT*(1-slope.Own[i]))
		}
	}
}

// KeepRow sets that of a moment that is not bounded.
func (m *Moment) KeepRow(n int) {
	clear(m.Own[1 : n+1])
	clear(m.By0[1 : n+1])
	clear(m.By1[1 : n+1])
}
