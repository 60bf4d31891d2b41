package lanes

import "math"

// Points is the largest number of points that the loops over lanes take at a time.
const Points = 64

// Lane has a number for each point, from place 1 on. Place 0 is the point before the first.
type Lane [Points + 4]float64

// Limit bounds a moment c by t = Factor (base - Offset): c~ = t tanh(c/t). Where |base - Offset| <= BaseFloor, t counts as 0,
// and where |c| <= Floor, c does.
type Limit struct{ Factor, Offset, BaseFloor, Floor float64 }

// Bounded has the lanes of the results of Bound: c~, 1 - dc~/dc and dc~/dbase.
type Bounded struct{ Value, Own, ByBase int }

// Term is Factor times the product of two lanes.
type Term struct {
	Factor float64
	A, B   int
}

// Follow takes steps, each of which adds its weight times the row of its bin to four sums. The sums after each step go to four
// lanes, and what each step adds to four others, unless these are nil.
func Follow(lanes, steps []Lane, sums *[4]float64, rows [][4]float64, bins []uint32, weights []float64) {
	s0, s1, s2, s3 := sums[0], sums[1], sums[2], sums[3]
	sum, weights := (*[4]Lane)(lanes), weights[:len(bins)]
	for i, b := range bins {
		row, w, p := &rows[b], weights[i], (i+1)%len(Lane{})
		d0, d1, d2, d3 := float64(w*row[0]), float64(w*row[1]), float64(w*row[2]), float64(w*row[3])
		s0, s1, s2, s3 = s0+d0, s1+d1, s2+d2, s3+d3
		sum[0][p], sum[1][p], sum[2][p], sum[3][p] = s0, s1, s2, s3
		if steps != nil {
			step := (*[4]Lane)(steps)
			step[0][p], step[1][p], step[2][p], step[3][p] = d0, d1, d2, d3
		}
	}
	*sums = [4]float64{s0, s1, s2, s3}
}

// Bound bounds a moment at n points.
func (li *Limit) Bound(lanes []Lane, c, base int, to Bounded, n int) {
	moments, bases := lanes[c][1:n+1], lanes[base][1:n+1]
	values, owns, byBases := lanes[to.Value][1:n+1], lanes[to.Own][1:n+1], lanes[to.ByBase][1:n+1]
	for i, c := range moments {
		values[i], owns[i], byBases[i] = li.At(c, bases[i])
	}
}

// At returns c~, 1 - dc~/dc and dc~/dbase.
func (li *Limit) At(c, base float64) (value, own, byBase float64) {
	t := base - li.Offset
	if !(math.Abs(t) > li.BaseFloor) {
		return 0, 1, 0
	}
	t = float64(li.Factor * t)
	u := 0.0
	if math.Abs(c) > li.Floor {
		u = float64(c * (1 / t))
	}
	if math.Abs(u) > steepest {
		u = math.Copysign(steepest, u)
	}
	tanh, sech := TanhSech(u)
	return float64(t * tanh), float64(tanh * tanh), float64(li.Factor * (tanh - float64(u*float64(sech*sech))))
}

// Sum sets a lane to a sum of terms at n points.
func Sum(lanes []Lane, to int, terms []Term, n int) {
	sums := lanes[to][1 : n+1]
	clear(sums)
	for _, term := range terms {
		a, b := lanes[term.A][1:n+1], lanes[term.B][1:n+1]
		for i := range sums {
			sums[i] += float64(term.Factor * float64(a[i]*b[i]))
		}
	}
}

// Compare sets two lanes to the difference and to the sum of x - value at a point and at the point before it. The change of
// x is given, since it has more digits than a difference.
func Compare(lanes []Lane, x, change, value, difference, sum, n int) {
	xs, changes, values := lanes[x][:n+1], lanes[change][:n+1], lanes[value][:n+1]
	differences, sums := lanes[difference][:n+1], lanes[sum][:n+1]
	for i := 1; i < len(xs); i++ {
		differences[i] = changes[i] - (values[i] - values[i-1])
		sums[i] = (xs[i] - values[i]) + (xs[i-1] - values[i-1])
	}
}
