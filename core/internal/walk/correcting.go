package walk

import (
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// correcting follows a correction along crossings, some at a time: each event crosses, and one of a tie crosses its middle.
// Between the events of a tie are jumps, which take the walk from below the tie, or above the middle of the event before,
// to below the middle of the event.
type correcting struct {
	*correction
	at       point // with variances
	moments  []lanes.Moment
	bias     lanes.Bias
	d, none  lanes.Lane
	moved    []followed // c and z
	weighted []followed // Y and X

	n       int // of crossings that wait
	rows    [lanes.Steps]uint32
	weights [lanes.Steps]float64
	changes [lanes.Steps]float64 // of V_b
	to      [lanes.Steps]int     // which change of J
	events  eventsOfBlock
	found   []float64 // changes of J by events, and by the jumps of ties, at the first event of each
}

type eventsOfBlock struct {
	bins    []uint32
	weights []float64
}

// followed are four sums, and where those after each crossing go. A row is by bin; after them is one for each jump.
type followed struct {
	rows         [][4]float64
	now          [4]float64
	after, steps [4]*lanes.Lane
	jump, halves [4]float64 // of the tie that is crossed
}

// add adds a factor times the row of a bin to a sum.
func (fo *followed) add(b uint32, factor float64, sum *[4]float64) {
	row := &fo.rows[b]
	sum[0] += factor * row[0]
	sum[1] += factor * row[1]
	sum[2] += factor * row[2]
	sum[3] += factor * row[3]
}

// start moves to a point, and returns what J is corrected by there.
func (co *correcting) start(of *correction, pt *point) float64 {
	co.correction = of
	co.route()
	co.at.cdf = append(co.at.cdf[:0], pt.cdf...)
	co.at.squares = append(co.at.squares[:0], pt.squares...)
	for b, f := range pt.cdf {
		for g := range co.moved {
			co.moved[g].add(uint32(b), f/co.unit[b], &co.moved[g].now)
		}
		for g := range co.weighted {
			co.weighted[g].add(uint32(b), co.variance.at(pt, b), &co.weighted[g].now)
		}
	}
	co.load(noEvent.bins, noEvent.weights)
	co.crossRun(0, 1)
	co.follow()
	var j float64
	for l := 1; l < co.size; l++ {
		m, sum := &co.moments[l], 0.0
		if co.withZ {
			sum = 2 * m.Z[0]
		}
		for k := 1; k < co.size; k++ {
			sum += co.gram[l*co.size+k] * (co.moments[k].C[0] - co.moments[k].Value[0])
		}
		j += (m.C[0] - m.Value[0]) * sum
	}
	if co.products != nil {
		j -= co.bias.Value[0]
	}
	return j
}

// noEvent changes nothing.
var noEvent = eventsOfBlock{make([]uint32, 1), make([]float64, 1)}

// route tells where sums after each crossing go.
func (co *correcting) route() {
	co.moments = par.Grown(co.moments, co.size)
	co.moved = co.copied(co.moved, co.steps)
	for l := 1; l < co.size; l++ {
		co.send(co.moved, l-1, &co.moments[l].C, &co.moments[l].Step)
		if co.withZ {
			co.send(co.moved, co.size+l-2, &co.moments[l].Z, &co.moments[l].StepZ)
		}
	}
	if co.bound.Limited {
		last := co.size - 1
		if co.withZ {
			last *= 2
		}
		co.send(co.moved, last, &co.moments[0].C, &co.moments[0].Step)
	}
	if co.weighted = co.copied(co.weighted, co.products); co.products != nil {
		count := 0
		co.bias.Lanes(co.gram, co.size, co.withZ, func(lane *lanes.Lane) {
			co.send(co.weighted, count, lane, &co.none)
			count++
		})
	}
}

// copied returns sums of columns, in this memory, that go nowhere yet.
func (co *correcting) copied(sums []followed, of columns4) []followed {
	sums = par.Grown(sums, len(of))
	for g := range sums {
		fo, none := &sums[g], [4]*lanes.Lane{&co.none, &co.none, &co.none, &co.none}
		*fo = followed{rows: par.Grown(fo.rows, co.bins+lanes.Steps), after: none, steps: none}
		copy(fo.rows, of[g])
	}
	return sums
}

func (co *correcting) send(sums []followed, k int, after, steps *lanes.Lane) {
	sums[k/4].after[k%4], sums[k/4].steps[k%4] = after, steps
}

// cross adds to d the changes of the correction by the events of a block, of those of a tie about its middle but for what
// jumps change, which the first of them has.
func (co *correcting) cross(d, scores []float64, bins []uint32, weights []float64) {
	co.load(bins, weights)
	done := 0
	forTies(scores, func(from, to int) {
		co.crossRun(done, from)
		co.jumpHalves(from, to, true)
		co.crossMiddle(from, to)
		co.jumpHalves(from, to, false)
		co.crossJump(from)
		done = to
	})
	co.crossRun(done, len(bins))
	co.follow()
	for i, change := range co.found[:len(d)] {
		d[i] += change + co.found[len(d)+i]
	}
}

// jumps returns what the jumps of a tie changed.
func (co *correcting) jumps(first int) float64 { return co.found[len(co.events.bins)+first] }

// aroundMiddle adds to d the changes by events of a tie about its middle, where the walk is.
func (co *correcting) aroundMiddle(d []float64, bins []uint32, weights []float64) {
	co.load(bins, weights)
	co.crossMiddle(0, len(bins))
	co.crossJump(0)
	co.follow()
	for i, change := range co.found[:len(d)] {
		d[i] += change
	}
}

func (co *correcting) load(bins []uint32, weights []float64) {
	co.events = eventsOfBlock{bins, weights}
	co.found = par.Grown(co.found, 2*len(bins))
	clear(co.found)
}

// crossRun crosses the events from..to-1.
func (co *correcting) crossRun(from, to int) {
	for from < to {
		n := min(to-from, lanes.Steps-co.n)
		copy(co.rows[co.n:], co.events.bins[from:from+n])
		copy(co.weights[co.n:], co.events.weights[from:from+n])
		for i := range n {
			co.to[co.n+i] = from + i
			if co.products != nil {
				co.changes[co.n+i] = co.move(from+i, 1)
			}
		}
		co.n, from = co.n+n, from+n
		if co.n == lanes.Steps {
			co.follow()
		}
	}
}

// move moves a part of an event up, and returns by how much V_b changes.
func (co *correcting) move(i int, part float64) float64 {
	st := co.step(i, part)
	v := co.variance.changeAt(&co.at, st)
	co.at.cross(st)
	return v
}

func (co *correcting) step(i int, part float64) step {
	e := co.events.weights[i] * co.unit[co.events.bins[i]]
	return step{int(co.events.bins[i]), part * e, part * e * e}
}

// jumpHalves jumps up by one half of each of the tied events.
func (co *correcting) jumpHalves(from, to int, first bool) {
	for g := range co.moved {
		fo := &co.moved[g]
		if first {
			fo.halves = [4]float64{}
			for i := from; i < to; i++ {
				fo.add(co.events.bins[i], 0.5*co.events.weights[i], &fo.halves)
			}
		}
		for k, half := range fo.halves {
			fo.jump[k] += half
		}
	}
	for i := from; i < to && co.products != nil; i++ {
		co.jumpVariance(i, co.move(i, 0.5))
	}
}

// jumpVariance jumps by a change of V_b of the bin of an event.
func (co *correcting) jumpVariance(i int, v float64) {
	for g := range co.weighted {
		fo := &co.weighted[g]
		fo.add(co.events.bins[i], v, &fo.jump)
	}
}

// jumpDown jumps down by one half of an event, by which V_b changes by v.
func (co *correcting) jumpDown(i int, v float64) {
	for g := range co.moved {
		fo := &co.moved[g]
		fo.add(co.events.bins[i], -0.5*co.events.weights[i], &fo.jump)
	}
	if co.products != nil {
		co.jumpVariance(i, v)
	}
}

// crossJump crosses the jump of the tie that begins with an event.
func (co *correcting) crossJump(first int) {
	row := co.bins + co.n
	for g := range co.moved {
		co.moved[g].rows[row], co.moved[g].jump = co.moved[g].jump, [4]float64{}
	}
	for g := range co.weighted {
		co.weighted[g].rows[row], co.weighted[g].jump = co.weighted[g].jump, [4]float64{}
	}
	co.cross1(uint32(row), 1, 1, len(co.events.bins)+first)
}

// crossMiddle crosses tied events about where the walk jumps to.
func (co *correcting) crossMiddle(from, to int) {
	for i := from; i < to; i++ {
		var below, above float64
		if co.products != nil {
			below = -co.variance.changeAt(&co.at, co.step(i, -0.5))
			above = co.variance.changeAt(&co.at, co.step(i, 0.5))
		}
		co.jumpDown(i, -below)
		co.crossJump(from)
		co.cross1(co.events.bins[i], co.events.weights[i], below+above, i)
		co.jumpDown(i, -above)
	}
}

// cross1 crosses a row, and remembers where the change of J goes.
func (co *correcting) cross1(row uint32, weight, change float64, to int) {
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
	n, moments, bo := co.n, co.moments, co.bound
	for g := range co.moved {
		fo := &co.moved[g]
		lanes.Follow(fo.rows, &fo.now, co.rows[:n], co.weights[:n], &fo.after, &fo.steps)
	}
	if bo.Limited {
		lanes.Squash(&moments[1], &moments[0].C, &moments[0].Step, n, &bo.Limits[1])
	} else {
		lanes.Keep(&moments[1], n, bo.Limits[1].Floor)
	}
	for l := 2; l < co.size; l++ {
		lanes.Squash(&moments[l], &moments[1].Value, &moments[1].Change, n, &bo.Limits[l])
	}
	lanes.Correct(&co.d, moments, co.gram, n, co.withZ)
	if co.products != nil {
		co.unbias()
	}
	for l := range moments {
		moments[l].Carry(n)
	}
	for i, to := range co.to[:count] {
		co.found[to] += co.d[i+1]
	}
	co.n = 0
}

// unbias takes the change of the bias from d.
func (co *correcting) unbias() {
	for g := range co.weighted {
		fo := &co.weighted[g]
		lanes.Follow(fo.rows, &fo.now, co.rows[:co.n], co.changes[:co.n], &fo.after, nil)
	}
	slope, bo := &co.moments[1], co.bound
	if bo.Limited {
		slope.SetRow(co.n, bo.Limits[1].Factor, nil)
	} else {
		slope.KeepRow(co.n)
	}
	for l := 2; l < co.size; l++ {
		co.moments[l].SetRow(co.n, bo.Limits[l].Factor, slope)
	}
	co.bias.Unbias(&co.d, co.moments, co.n)
}
