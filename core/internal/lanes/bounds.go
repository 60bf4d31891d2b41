package lanes

import "math"

// Points is the largest number of points that the loops over lanes take at a time.
const Points = 128

// Lane has a number for each point.
type Lane [Points]float64

// Limit bounds a moment c by t = Factor (base - Offset): c~ = t tanh(c/t). Where |base - Offset| <= BaseFloor, t counts as 0,
// and where |c| <= Floor, c does.
type Limit struct{ Factor, Offset, BaseFloor, Floor float64 }

// Bounded is what Bound finds at each point.
type Bounded struct {
	Excess int // the lane of c - c~
	Value  int // of c~
	Own    int // of 1 - dc~/dc
	ByBase int // of dc~/dbase
}

// Term is Factor times the product of two lanes.
type Term struct {
	Factor float64
	A, B   int
}

// Each of these has a version with vector instructions, which useVectors chooses.
var (
	follow = followGo
	bound  = boundGo
	add    = addGo
)

// Follow crosses events, each of which adds its weight times the row of its bin to four sums. The sums after each event go to
// four lanes, from a place on.
func Follow(lanes *[4]Lane, place int, sums *[4]float64, rows [][4]float64, bins []uint32, weights []float64) {
	follow(lanes, place, sums, rows, bins, weights)
}

// Bound bounds a moment at n points.
func (li *Limit) Bound(lanes []Lane, c, base int, to Bounded, n int) { bound(li, lanes, c, base, to, n) }

// Sum sets a lane to a sum of terms at n points.
func Sum(lanes []Lane, to int, terms []Term, n int) {
	clear(lanes[to][:n])
	for _, term := range terms {
		add(&lanes[to], &lanes[term.A], &lanes[term.B], term.Factor, n)
	}
}

func followGo(lanes *[4]Lane, place int, sums *[4]float64, rows [][4]float64, bins []uint32, weights []float64) {
	for i, b := range bins {
		for k, x := range rows[b] {
			sums[k] += float64(weights[i] * x)
			lanes[k][place+i] = sums[k]
		}
	}
}

func boundGo(li *Limit, lanes []Lane, c, base int, to Bounded, n int) {
	for i := range n {
		value, own, byBase := li.At(lanes[c][i], lanes[base][i])
		lanes[to.Excess][i], lanes[to.Value][i] = lanes[c][i]-value, value
		lanes[to.Own][i], lanes[to.ByBase][i] = own, byBase
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

func addGo(to, a, b *Lane, factor float64, n int) {
	for i := range n {
		to[i] += float64(factor * float64(a[i]*b[i]))
	}
}
