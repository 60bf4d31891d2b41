package walk

import (
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// correcting follows a correction along crossings, many at a time. Each event crosses, and one of a tie crosses the middle of
// its tie. In between are jumps in many bins: from below the tie, or from above the middle but for the event before, to below
// the middle but for the event, and from the last to above the tie.
type correcting struct {
	*correction
	at      point // for the variances
	sums    []lanes.Sums
	moments []lanes.Moment
	bias    lanes.Bias
	d, none lanes.Lane

	n       int // of crossings that wait
	rows    [lanes.Steps]uint32
	weights [lanes.Steps]float64
	changes [lanes.Steps]float64 // of V_b
	to      [lanes.Steps]int     // which of found

	binOf    []uint32 // of the events of a block
	weightOf []float64
	jump     [][4]float64 // the row of the next jump, by sums
	found    []float64    // changes of J by events, and then by the jumps of ties, at the first event of each
}

// start moves to a point, and returns what J is corrected by there.
func (co *correcting) start(of *correction, pt *point) float64 {
	co.correction = of
	co.setSums()
	co.setLanes()
	co.at.cdf = append(co.at.cdf[:0], pt.cdf...)
	co.at.squares = append(co.at.squares[:0], pt.squares...)
	for b, f := range pt.cdf {
		var v float64
		if co.products != nil {
			v = co.variance.at(pt, b)
		}
		for g := range co.sums {
			co.add(g, uint32(b), f/co.unit[b], v, &co.sums[g].Now)
		}
	}
	co.load(nil, nil)
	co.cross(0, 0, 0, 0) // changes nothing
	co.follow()
	var j float64
	for l := 1; l < co.size; l++ {
		m, sum := &co.moments[l], 0.0
		if co.withZ {
			sum = 2 * m.Z[1]
		}
		for k := 1; k < co.size; k++ {
			sum += co.gram[l*co.size+k] * (co.moments[k].C[1] - co.moments[k].Value[1])
		}
		j += (m.C[1] - m.Value[1]) * sum
	}
	if co.products != nil {
		j -= co.bias.Value[1]
	}
	return j
}

// setSums sets the sums, of no events yet. After the rows of the bins is one for each crossing that may be a jump.
func (co *correcting) setSums() {
	co.sums = par.Grown(co.sums, len(co.steps)+len(co.products))
	co.jump = par.Grown(co.jump, len(co.sums))
	clear(co.jump)
	for g := range co.sums {
		su := &co.sums[g]
		su.Rows, su.Now = par.Grown(su.Rows, co.bins+lanes.Steps), [4]float64{}
		if g < len(co.steps) {
			copy(su.Rows, co.steps[g])
			if su.Steps == nil {
				su.Steps = new([4]lanes.Lane)
			}
		} else {
			copy(su.Rows, co.products[g-len(co.steps)])
			su.Steps = nil
		}
	}
}

// setLanes tells the loops where sums after each crossing are.
func (co *correcting) setLanes() {
	co.moments = par.Grown(co.moments, co.size)
	for l := range co.moments {
		m := &co.moments[l]
		m.Limit, m.Z, m.StepZ = co.bound.Limits[l], nil, nil
		if l == 0 {
			continue
		}
		m.C, m.Step = co.lane(l - 1)
		m.Base, m.BaseStep = &co.moments[1].Value, &co.moments[1].Change
		if co.withZ {
			m.Z, m.StepZ = co.lane(co.size + l - 2)
		}
	}
	if slope, last := &co.moments[1], co.size-1; co.bound.Limited {
		if co.withZ {
			last *= 2
		}
		slope.Base, slope.BaseStep = co.lane(last)
	}
	if co.products == nil {
		return
	}
	next := 4 * len(co.steps)
	take := func() *lanes.Lane {
		lane := &co.sums[next/4].After[next%4]
		next++
		return lane
	}
	co.bias.Gram, co.bias.Y, co.bias.X = co.gram, co.bias.Y[:0], par.Grown(co.bias.X, co.size)
	for range co.size * (co.size + 1) / 2 {
		co.bias.Y = append(co.bias.Y, take())
	}
	for l := 1; l < co.size; l++ {
		co.bias.X[l] = [3]*lanes.Lane{&co.none, &co.none, &co.none}
		for k := 0; co.withZ && k < min(l+1, 3); k++ {
			co.bias.X[l][k] = take()
		}
	}
}

// lane returns where sum k after each crossing is, and what each added, for a moment.
func (co *correcting) lane(k int) (after, steps *lanes.Lane) {
	su := &co.sums[k/4]
	return &su.After[k%4], &su.Steps[k%4]
}

// add adds to four sums what a weight in a bin does, by which V_b changes by v.
func (co *correcting) add(g int, b uint32, weight, v float64, sums *[4]float64) {
	if g >= len(co.steps) {
		weight = v
	}
	row := &co.sums[g].Rows[b]
	sums[0] += weight * row[0]
	sums[1] += weight * row[1]
	sums[2] += weight * row[2]
	sums[3] += weight * row[3]
}

// cross crosses a row, and remembers where the change of J goes.
func (co *correcting) cross(row uint32, weight, change float64, to int) {
	co.rows[co.n], co.weights[co.n], co.changes[co.n], co.to[co.n] = row, weight, change, to
	if co.n++; co.n == lanes.Steps {
		co.follow()
	}
}

// follow follows the crossings that wait, and adds what they change.
func (co *correcting) follow() {
	count := co.n
	for ; co.n&3 != 0; co.n++ {
		co.rows[co.n], co.weights[co.n], co.changes[co.n] = 0, 0, 0
	}
	n, moments := co.n, co.moments
	for g := range co.sums {
		weights := co.weights[:n]
		if g >= len(co.steps) {
			weights = co.changes[:n]
		}
		co.sums[g].Follow(co.rows[:n], weights)
	}
	for l := 1; l < co.size; l++ {
		if l > 1 || co.bound.Limited {
			moments[l].Squash(n)
		} else {
			moments[l].Keep(n)
		}
	}
	lanes.Correct(&co.d, moments, co.gram, n)
	if co.products != nil {
		co.bias.Unbias(&co.d, moments, n)
	}
	for i, to := range co.to[:count] {
		co.found[to] += co.d[i+1]
	}
	co.n = 0
}
