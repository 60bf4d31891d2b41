package core

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// brute computes the loss as doc.go defines it, with J computed from scratch at
// every score. It shares only the bins with the code under test.
type brute struct {
	cfg    Config
	p, a   [][]float64 // P_bl and A_lb, by bin
	nb     int
	scores []float64
	weight []float64
	bin    []int
	sums   []float64
	apart  float64 // how independent the columns of P are, see eliminate
}

// paperConfig has the formula of arXiv:2010.09745, from which each test takes what it needs.
func paperConfig() Config {
	cfg := DefaultConfig()
	cfg.Quadrature, cfg.Biased = true, true
	return cfg
}

func newBrute(t *testing.T, ev Events[float64], cfg Config) *brute {
	edges, err := Edges(ev, cfg)
	require.NoError(t, err)
	br := &brute{cfg: cfg, nb: len(edges) - 1, sums: make([]float64, len(edges)-1)}
	for i, m := range ev.Mass {
		b := sort.Search(br.nb-1, func(k int) bool { return edges[k+1] > m })
		w := 1.0
		if ev.Weight != nil {
			w = ev.Weight[i]
		}
		br.scores, br.weight, br.bin = append(br.scores, ev.Score[i]), append(br.weight, w), append(br.bin, b)
		br.sums[b] += w
	}
	br.setMoments(edges, ev.Mass)
	return br
}

// polynomials returns P_l(x) by the sum over k of binomial coefficients and powers of
// (x - 1)/2.
func polynomials(order int, x float64) []float64 {
	p := make([]float64, order+1)
	for l := range p {
		term := 1.0 // C(l, k) C(l+k, k) ((x-1)/2)^k
		for k := 0; k <= l; k++ {
			p[l] += term
			term *= float64((l-k)*(l+k+1)) / float64((k+1)*(k+1)) * (x - 1) / 2
		}
	}
	return p
}

// setMoments sets P and A from their definitions, with A of projection moments by the
// normal equations.
func (br *brute) setMoments(edges, mass []float64) {
	size := br.cfg.Order + 1
	lo, hi := edges[0], edges[br.nb]
	x := func(m float64) float64 { return 2*(m-lo)/(hi-lo) - 1 }
	br.p, br.a = make([][]float64, br.nb), make([][]float64, br.nb)
	for b := range br.nb {
		br.p[b], br.a[b] = make([]float64, size), make([]float64, size)
	}
	if br.cfg.Quadrature {
		for b := range br.nb {
			br.p[b] = polynomials(br.cfg.Order, x((edges[b]+edges[b+1])/2))
			for l := range size {
				br.a[b][l] = float64(2*l+1) / 2 * (x(edges[b+1]) - x(edges[b])) * br.p[b][l]
			}
		}
		return
	}
	for i, m := range mass {
		for l, p := range polynomials(br.cfg.Order, x(m)) {
			br.p[br.bin[i]][l] += br.weight[i] / br.sums[br.bin[i]] * p
		}
	}
	br.fitProjection()
}

// fitProjection sets A by the normal equations P'P A = P', in numbers that lose nothing by their squares.
func (br *brute) fitProjection() {
	size := len(br.p[0])
	rows := make([][]*big.Float, size)
	for l := range rows {
		rows[l] = make([]*big.Float, size+br.nb)
		for m := range size {
			rows[l][m] = long(0)
			for _, p := range br.p {
				rows[l][m].Add(rows[l][m], long(0).Mul(long(p[l]), long(p[m])))
			}
		}
		for b, p := range br.p {
			rows[l][size+b] = long(p[l])
		}
	}
	br.apart = eliminate(rows)
	for b := range br.nb {
		for l := range size {
			br.a[b][l], _ = rows[l][size+b].Float64()
		}
	}
}

// long returns x with 200 bits.
func long(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }

// eliminate solves normal equations, a row each with its right sides behind, by Gauss-Jordan elimination. It returns the
// smallest part that is left of a column of P without those before it, which is 0 if one depends on them.
func eliminate(rows [][]*big.Float) float64 {
	least, squares := 1.0, make([]*big.Float, len(rows))
	for k := range rows {
		squares[k] = long(0).Copy(rows[k][k])
	}
	for k := range rows {
		pivot := long(0).Copy(rows[k][k])
		if pivot.Sign() <= 0 {
			return 0
		}
		left, _ := long(0).Quo(pivot, squares[k]).Float64()
		least = min(least, math.Sqrt(left))
		for j := k; j < len(rows[k]); j++ {
			rows[k][j].Quo(rows[k][j], pivot)
		}
		for i := range rows {
			factor := long(0).Copy(rows[i][k])
			for j := k; j < len(rows[k]) && i != k; j++ {
				rows[i][j].Sub(rows[i][j], long(0).Mul(factor, rows[k][j]))
			}
		}
	}
	return least
}

// powers returns the sums of the squares and of the cubes of the weights of each bin.
func (br *brute) powers() [2][]float64 {
	total, third := make([]float64, br.nb), make([]float64, br.nb)
	for i, w := range br.weight {
		total[br.bin[i]] += w * w
		third[br.bin[i]] += w * w * w
	}
	return [2][]float64{total, third}
}

// value returns J where F_b is f[b], and s[b] the sum of the squares of the weights of the bin's events below.
func (br *brute) value(f, s []float64, powers [2][]float64) float64 {
	total, third := powers[0], powers[1]
	size := br.cfg.Order + 1
	c := make([]float64, size)
	for b := range f {
		for l := range c {
			c[l] += br.a[b][l] * f[b]
		}
	}
	value, d := br.bound(c)
	var j float64
	for b := range f {
		r := f[b]
		for l := range c {
			r -= value[l] * br.p[b][l]
		}
		j += r * r
	}
	if size > 1 {
		j += br.cfg.SlopePenalty * c[1] * c[1]
	}
	if br.cfg.Biased {
		return j
	}
	for b := range f {
		w2 := br.sums[b] * br.sums[b]
		v := (s[b]*(1-2*f[b]) + f[b]*f[b]*total[b]) / w2 / (1 - 2*third[b]/total[b]/br.sums[b] + total[b]/w2)
		var k float64
		for a := range f {
			r := 0.0
			if a == b {
				r = 1
			}
			for l := range c {
				for m := range c {
					r -= br.p[a][l] * d[l][m] * br.a[b][m]
				}
			}
			k += r * r
		}
		if size > 1 {
			k += br.cfg.SlopePenalty * br.a[b][1] * br.a[b][1]
		}
		j -= v * k
	}
	return j
}

// bound returns c~ and d c~/dc, the latter by writing the chain rule out.
func (br *brute) bound(c []float64) ([]float64, [][]float64) {
	n := len(c)
	d := make([][]float64, n)
	for l := range d {
		d[l] = make([]float64, n)
		d[l][l] = 1
	}
	v := append([]float64(nil), c...)
	if math.IsInf(br.cfg.MaxSlope, 1) && !br.cfg.Monotonic {
		return v, d
	}
	var floor float64
	for _, a := range br.a {
		floor += 1e-12 * math.Abs(a[1])
	}
	slope := c[1]
	if math.Abs(slope) <= floor {
		slope = 0
	}
	v[1] = slope
	if a := br.cfg.MaxSlope; !math.IsInf(a, 1) {
		pivot, sign := c[0], 1.0
		if br.cfg.OfSelected {
			pivot, sign = 1-c[0], -1
		}
		if pivot < 0 {
			sign = -sign
		}
		v[1], d[1][1] = 0, 0
		if t := a * math.Abs(pivot); math.Abs(pivot) > 1e-12 {
			u := slope / t
			v[1] = t * math.Tanh(u)
			d[1][1] = 1 / math.Cosh(u) / math.Cosh(u)
			d[1][0] = a * sign * (math.Tanh(u) - u*d[1][1])
		}
	}
	for l := 2; l < n && br.cfg.Monotonic; l++ {
		kappa := float64((n-2)*l*(l+1)) / 2
		t := math.Abs(v[1]) / kappa
		if t == 0 {
			v[l] = 0
			d[l] = make([]float64, n)
			continue
		}
		u := c[l] / t
		v[l] = t * math.Tanh(u)
		own := 1 / math.Cosh(u) / math.Cosh(u)
		if math.IsInf(math.Cosh(u), 0) {
			own = 0
		}
		byT := math.Tanh(u)
		if own > 0 {
			byT -= u * own
		}
		sign := math.Copysign(1, v[1]) / kappa
		d[l][0], d[l][1] = byT*sign*d[1][0], byT*sign*d[1][1]
		d[l][l] = own
	}
	return v, d
}

// lossAndGrad carries the sums of weights below from one score to the next, and computes J anew at each.
func (br *brute) lossAndGrad() (loss float64, grad []float64) {
	n := len(br.scores)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(br.scores[i], br.scores[j]) })
	grad = make([]float64, n)
	powers, sums, s := br.powers(), make([]float64, br.nb), make([]float64, br.nb)
	j := func() float64 {
		f := make([]float64, br.nb)
		floats.DivTo(f, sums, br.sums)
		return br.value(f, s, powers)
	}
	move := func(i int, part float64) {
		w := br.weight[i]
		sums[br.bin[i]] += part * w
		s[br.bin[i]] += part * w * w
	}
	moved := func(i int, part float64) float64 {
		move(i, part)
		defer move(i, -part)
		return j()
	}
	at, end := br.cfg.ScoreRange[0], br.cfg.ScoreRange[1]
	open := math.IsInf(end, 1)
	if open {
		at, end = br.scores[order[0]], br.scores[order[n-1]]
	}
	below := j()
	for lo := 0; lo < n; {
		score := br.scores[order[lo]]
		loss += below * (score - at)
		hi := lo
		for hi < n && br.scores[order[hi]] == score {
			move(order[hi], 0.5)
			hi++
		}
		for _, i := range order[lo:hi] { // from the middle of the tie
			grad[i] = moved(i, -0.5) - moved(i, 0.5)
		}
		for _, i := range order[lo:hi] {
			move(i, 0.5)
		}
		if below, at = j(), score; open && hi == n {
			for _, i := range order[lo:] {
				grad[i] += below / float64(min(2, n-lo))
			}
		}
		lo = hi
	}
	loss += below * (end - at)
	if !br.cfg.Sum {
		floats.Scale(1/float64(br.nb), grad)
		loss /= float64(br.nb)
	}
	return loss, grad
}

// requireDefinition requires that a loss agrees with the definition to a relative error, and its gradient to 1e-9.
func requireDefinition(t *testing.T, ev Events[float64], cfg Config, relative float64, what string) {
	t.Helper()
	got := make([]float64, len(ev.Score))
	value, err := LossAndGrad(got, ev, cfg)
	require.NoError(t, err)
	loss, grad := newBrute(t, ev, cfg).lossAndGrad()
	require.InEpsilon(t, loss, value, relative, what)
	requireClose(t, grad, got, 1e-9, what)
}

var nan, inf = math.NaN(), math.Inf(1)

// unbounded returns the range of all numbers.
func unbounded() [2]float64 { return [2]float64{-inf, inf} }

func finite(x float64) bool { return x-x == 0 }
