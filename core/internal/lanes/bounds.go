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

// Each of these has a version with vector instructions, which useVectors chooses.
var (
	follow  = followGo
	bound   = boundGo
	sum     = sumGo
	compare = compareGo
)

// Follow takes steps, each of which adds its weight times the row of its bin to four sums. The sums after each step go to four
// lanes, and what each step adds to four others, unless these are nil.
func Follow(lanes, steps []Lane, sums *[4]float64, rows [][4]float64, bins []uint32, weights []float64) {
	follow(lanes, steps, sums, rows, bins, weights)
}

// Bound bounds a moment at n points.
func (li *Limit) Bound(lanes []Lane, c, base int, to Bounded, n int) {
	bound(li, lanes, c, base, to, n)
}

// Sum sets a lane to a sum of terms at n points.
func Sum(lanes []Lane, to int, terms []Term, n int) { sum(lanes, to, terms, n) }

// Compare sets two lanes to the difference and to the sum of x - value at a point and at the point before it. The change of
// x is given, since it has more digits than a difference.
func Compare(lanes []Lane, x, change, value, difference, sum, n int) {
	compare(&lanes[x], &lanes[change], &lanes[value], &lanes[difference], &lanes[sum], n)
}

func followGo(lanes, steps []Lane, sums *[4]float64, rows [][4]float64, bins []uint32, weights []float64) {
	followFrom(1, lanes, steps, sums, rows, bins, weights)
}

// followFrom is Follow whose first point is at a place.
func followFrom(place int, lanes, steps []Lane, sums *[4]float64, rows [][4]float64, bins []uint32, weights []float64) {
	for i, b := range bins {
		for k, x := range rows[b] {
			step := float64(weights[i] * x)
			sums[k] += step
			lanes[k][place+i] = sums[k]
			if steps != nil {
				steps[k][place+i] = step
			}
		}
	}
}

func boundGo(li *Limit, lanes []Lane, c, base int, to Bounded, n int) {
	for i := 1; i <= n; i++ {
		lanes[to.Value][i], lanes[to.Own][i], lanes[to.ByBase][i] = li.At(lanes[c][i], lanes[base][i])
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
	u = max(-steepest, min(u, steepest))
	tanh, sech := TanhSech(u)
	return float64(t * tanh), float64(tanh * tanh), float64(li.Factor * (tanh - float64(u*float64(sech*sech))))
}

func sumGo(lanes []Lane, to int, terms []Term, n int) {
	sums := lanes[to][1 : n+1]
	clear(sums)
	for _, term := range terms {
		a, b := lanes[term.A][1:n+1], lanes[term.B][1:n+1]
		for i := range sums {
			sums[i] += float64(term.Factor * float64(a[i]*b[i]))
		}
	}
}

func compareGo(x, change, value, difference, sum *Lane, n int) {
	for i := 1; i <= n; i++ {
		difference[i] = change[i] - (value[i] - value[i-1])
		sum[i] = (x[i] - value[i]) + (x[i-1] - value[i-1])
	}
}
