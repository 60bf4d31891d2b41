package lanes

import "math"

// Steps is how many crossings these loops take at most at a time. Their number is a multiple of four.
const Steps = 128

// Lane has a number after each crossing, from place 1 on; place 0 is before the first.
type Lane [Steps + 4]float64

// Sums are four sums along crossings. Each crossing adds a weight times a row.
type Sums struct {
	Rows  [][4]float64
	Now   [4]float64
	After [4]Lane  // the sums
	Steps *[4]Lane // what each crossing added; nil: not wanted
}

// Moment is a moment c along crossings, and what bounding it does: c~ = t tanh u, u = c/t, delta = c - c~.
type Moment struct {
	Limit
	C, Step          *Lane // c, and its change by each crossing
	Z, StepZ         *Lane // likewise; nil: z is 0
	Base, BaseStep   *Lane // what t is relative to
	T, U, Tanh, Sech Lane  // t and u have the sign of the base; all are 0 where t is 0
	Value, Change    Lane  // c~
	Sum, Difference  Lane  // delta after a crossing plus, and minus, delta before it
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
	evaluate = evaluateGo
)

// Follow crosses these rows.
func (su *Sums) Follow(rows []uint32, weights []float64) {
	for k, sum := range su.Now {
		su.After[k][0] = sum
	}
	follow(su, rows, weights)
}

func followGo(su *Sums, rows []uint32, weights []float64) {
	for i, b := range rows {
		row, w := &su.Rows[b], weights[i]
		for k := range row {
			step := float64(w * row[k])
			su.Now[k] += step
			su.After[k][i+1] = su.Now[k]
			if su.Steps != nil {
				su.Steps[k][i+1] = step
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
func (m *Moment) Squash(n int) {
	squash(m, n)
	for _, lane := range [...]*Lane{&m.T, &m.U, &m.Tanh, &m.Sech, &m.Value} {
		lane[0] = lane[n]
	}
}

func squashGo(m *Moment, n int) {
	for i := 1; i <= n; i++ {
		t, inverse := m.Base[i]-m.Offset, 0.0
		if math.Abs(t) > m.BaseFloor {
			t = float64(m.Factor * t)
			inverse = 1 / t
		} else {
			t = 0
		}
		u := float64(above(m.C[i], m.Floor) * inverse)
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
		c0, c := above(m.C[i-1], m.Floor), above(m.C[i], m.Floor)
		dt := change(m.T[i-1], m.T[i], float64(m.Factor*m.BaseStep[i]))
		du := float64((change(c0, c, m.Step[i]) - float64(m.U[i-1]*dt)) * m.Change[i])
		dtanh := m.Tanh[i] - m.Tanh[i-1]
		if math.Abs(du) < smallStep && math.Abs(m.T[i-1]) < float64(16*math.Abs(m.T[i])) && m.T[i-1] != 0 {
			dtanh = float64(sinhOfSmall(du) * float64(m.Sech[i-1]*m.Sech[i]))
		}
		m.Change[i] = float64(dt*float64((m.Tanh[i-1]+m.Tanh[i])*0.5)) + float64(float64((m.T[i-1]+m.T[i])*0.5)*dtanh)
		m.setDelta(i)
	}
}

// Keep is Squash of a moment that has no limit, but where |c| <= Floor.
func (m *Moment) Keep(n int) {
	for i := 1; i <= n; i++ {
		m.T[i], m.U[i], m.Tanh[i], m.Sech[i] = 1, 0, 0, 1
		m.Value[i] = above(m.C[i], m.Floor)
		m.Change[i] = change(m.Value[i-1], m.Value[i], m.Step[i])
		m.setDelta(i)
	}
	m.Value[0] = m.Value[n]
}

func (m *Moment) setDelta(i int) {
	m.Sum[i] = (m.C[i-1] - m.Value[i-1]) + (m.C[i] - m.Value[i])
	m.Difference[i] = m.Step[i] - m.Change[i]
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

// Correct sets d to the change of 2 z.delta + delta.G delta at each of n crossings. Moment 0 is not bounded.
func Correct(d *Lane, moments []Moment, gram []float64, n int) {
	for l := 1; l < len(moments); l++ {
		correct(d, moments, l, gram[l*len(moments):(l+1)*len(moments)], n)
	}
}

func correctGo(d *Lane, moments []Moment, l int, gram []float64, n int) {
	m := &moments[l]
	for i := 1; i <= n; i++ {
		var sum, change float64
		for k := 1; k < len(moments); k++ {
			sum += float64(gram[k] * moments[k].Sum[i])
		}
		if m.Z != nil {
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
//	2 <N, X> + <G, N Y N'>,   N = 1 - d c~/dc,   X = sum_b V_b u_b A_b',   Y = sum_b V_b A_b A_b'
//
// Row l of N has three columns that are not 0: l, 0 and 1.
type Bias struct {
	Gram  []float64
	Y     []*Lane    // Y_lm, m <= l, row by row
	X     [][3]*Lane // X_ll, X_l0 and X_l1
	Value Lane
	rows  [][3]float64 // of N
	ny    []float64    // a column of N Y
}

func (bi *Bias) at(l, m int) *Lane {
	if l < m {
		l, m = m, l
	}
	return bi.Y[l*(l+1)/2+m]
}

// Unbias subtracts from d the change of the bias at each of n crossings. It is so small that a difference of two values will do.
func (bi *Bias) Unbias(d *Lane, moments []Moment, n int) {
	evaluate(bi, moments, n)
	for i := 1; i <= n; i++ {
		d[i] -= bi.Value[i] - bi.Value[i-1]
	}
	bi.Value[0] = bi.Value[n]
}

// evaluateGo sets Value to the sum over k and l of N_lk (2 X_lk + (G N Y)_lk).
func evaluateGo(bi *Bias, moments []Moment, n int) {
	size := len(moments)
	if len(bi.rows) < size {
		bi.rows, bi.ny = make([][3]float64, size), make([]float64, size)
	}
	rows, ny := bi.rows, bi.ny
	for i := 1; i <= n; i++ {
		for l := 1; l < size; l++ {
			rows[l] = moments[l].row(i, &rows[1], l == 1)
		}
		bi.Value[i] = 0
		for k := range size {
			y0, y1 := bi.at(0, k)[i], bi.at(1, k)[i]
			for j := 1; j < size; j++ { // (N Y)_jk
				ny[j] = float64(rows[j][0]*bi.at(j, k)[i]) + float64(rows[j][1]*y0)
				if j > 1 {
					ny[j] += float64(rows[j][2] * y1)
				}
			}
			for l := max(k, 1); l < size; l++ {
				column := 1 + k
				if l == k {
					column = 0
				} else if k > 1 {
					break
				}
				sum := float64(2 * bi.X[l][column][i])
				for j := 1; j < size; j++ {
					sum += float64(bi.Gram[l*size+j] * ny[j])
				}
				bi.Value[i] += float64(rows[l][column] * sum)
			}
		}
	}
}

// row returns what is not 0 of the row of N, given that of moment 1, unless it is that one.
func (m *Moment) row(i int, slope *[3]float64, first bool) [3]float64 {
	byT := float64(m.Factor * (m.Tanh[i] - float64(m.U[i]*float64(m.Sech[i]*m.Sech[i]))))
	own := float64(m.Tanh[i] * m.Tanh[i])
	if m.T[i] == 0 {
		own = 1
	}
	if first {
		return [3]float64{own, -byT}
	}
	return [3]float64{own, float64(byT * slope[1]), -float64(byT * (1 - slope[0]))}
}
