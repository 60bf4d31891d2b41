package walk

import (
	"sync"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/order"
	"github.com/libmode/libmode/core/internal/par"
)

// crossing crosses the events of a chunk, a block at a time, in one goroutine. Without bounds an event of weight w changes J by
// w (2 (M F)_b)/W_b + w^2 M_bb/W_b^2, less the change of the bias: without weights
//
//	M_bb (1 - 2 F_b - 1/W_b) g_b,   g_b = 1/W_b^2 times the factor of V_b
//
// which is linear in F_b, so that the rows hold it. With weights a loop over the events finds the squares first. The
// correction comes last.
type crossing struct {
	in        *Integrand
	at        point // where the chunk begins; with weights it moves along
	residuals residuals
	linear    lanes.Linear
	wide      []wideState
	bounds    correcting
	bins      []uint32  // of the events of a block, as all that follows
	weights   []float64 // nil: all 1
	ones      []float64
	scores, d []float64
	own       []tieSums // by bin: sums over the events of a tie
}

// wideState are the sums for four more columns.
type wideState struct{ now, tie [4]float64 }

var crossings = sync.Pool{New: func() any { return new(crossing) }}

// blockSize is a number of events that stay in cache between the loops over them.
const blockSize = 512

// start moves to the middle between where chunks k and l begin, and returns J there.
func (cr *crossing) start(in *Integrand, su *order.Sums, k, l int, weighted bool) float64 {
	cr.in = in
	cr.at.moveBetween(k, l, in, su)
	cr.setRows(weighted)
	j := in.linear.at(cr.at.cdf, &cr.residuals)
	if in.variance != nil {
		for b := range cr.at.cdf {
			j -= in.variance.at(&cr.at, b) * in.linear.square[b]
		}
	}
	if in.correction != nil {
		j += cr.bounds.start(in.correction, &cr.at)
	}
	return j
}

// setRows sets the rows and the sums X and Y.
func (cr *crossing) setRows(weighted bool) {
	in, li := cr.in, &cr.linear
	cr.own, li.Rows, cr.wide = par.Grown(cr.own, in.bins), par.Grown(li.Rows, in.bins), par.Grown(cr.wide, len(in.linear.wide))
	copy(li.Rows, in.linear.rows)
	li.Y, li.X = [4]float64{3: 1}, [4]float64{}
	for b, e := range in.unit {
		row, cdf := &li.Rows[b], cr.at.cdf[b]
		sum := cdf / e
		for l := range fewColumns {
			li.X[l] -= sum * row.X[l]
			li.Y[l] += sum * row.Y[l]
		}
		row.Y[3], row.X[3] = 2*e*cdf, 2*e*e
		if !weighted {
			own := in.linear.square[b] * e * e
			row.Y[3] += own
			if in.variance != nil {
				g := own * in.variance.factor[b]
				row.Y[3] += g * (2*cdf - (1 - e))
				row.X[3] += 2 * g * e
			}
		}
	}
	for g, wide := range in.linear.wide {
		now := [4]float64{}
		for b, row := range wide.rows {
			sum := wide.sign * cr.at.cdf[b] / in.unit[b]
			for l, x := range row {
				now[l] += sum * x
			}
		}
		cr.wide[g].now = now
	}
}

// load makes room for a block of n events, and returns where their scores and bins go.
func (cr *crossing) load(n int, weights []float64) (scores []float64, bins []uint32) {
	cr.bins, cr.scores, cr.d, cr.weights = par.Grown(cr.bins, n), par.Grown(cr.scores, n), par.Grown(cr.d, n), weights
	return cr.scores, cr.bins
}

// cross crosses the events of the block one by one, also where they are tied, and sets d to the changes of J.
func (cr *crossing) cross() {
	if cr.weights == nil {
		cr.linear.Cross(cr.bins, cr.d)
	} else {
		cr.setSquares()
		cr.linear.CrossWeighted(cr.bins, cr.weights, cr.d)
	}
	for g, wide := range cr.in.linear.wide {
		lanes.CrossWide(wide.rows, wide.sign, &cr.wide[g].now, cr.bins, cr.eachWeight(), cr.d)
	}
}

// setSquares sets d to what the squares of the steps change.
func (cr *crossing) setSquares() {
	at, unit, square, va := &cr.at, cr.in.unit, cr.in.linear.square, cr.in.variance
	for i, b := range cr.bins {
		e := cr.weights[i] * unit[b]
		moved := e * e
		if va != nil {
			moved -= va.change(step{int(b), e, e * e}, at.cdf[b], at.squares[b])
			at.cdf[b] += e
			at.squares[b] += e * e
		}
		cr.d[i] = square[b] * moved
	}
}

// eachWeight returns the weights of the block, all 1 if there are none.
func (cr *crossing) eachWeight() []float64 {
	if cr.weights != nil {
		return cr.weights
	}
	for len(cr.ones) < len(cr.bins) {
		cr.ones = append(cr.ones, 1)
	}
	return cr.ones[:len(cr.bins)]
}

func (cr *crossing) weight(i int) float64 {
	if cr.weights == nil {
		return 1
	}
	return cr.weights[i]
}

// settleTies makes d, which is a scale times the change of J by each event in turn, that of events that each cross the
// middle of their tie.
func (cr *crossing) settleTies(scale float64) {
	forTies(cr.scores, func(from, to int) { cr.settle(from, to, scale/2) })
}

// forTies calls f for each tie among sorted scores, from..to-1.
func forTies(scores []float64, f func(from, to int)) {
	for i := lanes.FirstTie(scores); i < len(scores)-1; {
		end := i + 2
		for end < len(scores) && scores[i] == scores[end] {
			end++
		}
		f(i, end)
		if i = end; i < len(scores) {
			i += lanes.FirstTie(scores[i:])
		}
	}
}

// tieSums are sums of the weights, and of the squares of the steps, of events of a bin.
type tieSums struct{ weight, square float64 }

// settle does so for the form without bounds. That is quadratic, so an event's change of J is linear in where the others are.
// The sums are over the events after this one, less those before it: half of them lead from the middle of the event's step
// to the middle of the tie.
func (cr *crossing) settle(from, to int, scale float64) {
	var x, y [fewColumns]float64
	for _, b := range cr.bins[from:to] {
		cr.own[b] = tieSums{}
	}
	for g := range cr.wide {
		cr.wide[g].tie = [4]float64{}
	}
	add := func(i int, sign float64) {
		b := cr.bins[i]
		weight, row, own := sign*cr.weight(i), &cr.linear.Rows[b], &cr.own[b]
		for l := range x {
			x[l] += weight * row.X[l]
			y[l] += weight * row.Y[l]
		}
		for g, wide := range cr.in.linear.wide {
			for l, x := range wide.rows[b] {
				cr.wide[g].tie[l] += weight * x
			}
		}
		own.weight += weight
		e := weight * cr.in.unit[b]
		own.square += sign * e * e
	}
	for i := from; i < to; i++ {
		add(i, 1)
	}
	for i := from; i < to; i++ {
		add(i, -1)
		cr.d[i] += scale * cr.acrossTie(i, &x, &y)
		add(i, -1)
	}
}

// acrossTie returns by how much other events of a tie, of which these are the sums, change what an event does.
func (cr *crossing) acrossTie(i int, x, y *[fewColumns]float64) float64 {
	b, weight := cr.bins[i], cr.weight(i)
	row, others := &cr.linear.Rows[b], &cr.own[b]
	d := row.X[3] * others.weight
	for l := range x {
		d += row.Y[l]*y[l] - row.X[l]*x[l]
	}
	for g, wide := range cr.in.linear.wide {
		for l, x := range wide.rows[b] {
			d += wide.sign * x * cr.wide[g].tie[l]
		}
	}
	d *= weight
	if va := cr.in.variance; va != nil && cr.weights != nil {
		e, of := weight*cr.in.unit[b], others.weight*cr.in.unit[b]
		both := 2*e*of*va.totals[b] - 2*(e*e*of+e*others.square)
		d -= cr.in.linear.square[b] * both * va.factor[b]
	}
	return d
}

// aroundMiddle sets d to the changes of J by the events of the block, each about the middle of a tie, where the crossing is.
// Of the form without bounds that is its gradient.
func (cr *crossing) aroundMiddle() {
	in := cr.in
	for i, b := range cr.bins {
		e := cr.weight(i) * in.unit[b]
		d := 2 * in.linear.slope(cr.at.cdf[b], int(b), &cr.residuals) * e
		if va := in.variance; va != nil {
			f, s := cr.at.cdf[b], cr.at.squares[b]
			d -= in.linear.square[b] * va.factor[b] * (e*e*(1-2*f) + 2*e*(f*va.totals[b]-s))
		}
		cr.d[i] = d
	}
}
