package walk

import (
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// correcting follows a correction along the events of a chunk. It collects points, and computes the correction at all of them at
// once. An event that is not tied has one point, above it; an event of a tie has two, half of its step below and above the
// middle of the tie; and above a tie is one more.
type correcting struct {
	*correction
	at    point // for the variances
	sums  [][4]float64
	lanes []lanes.Lane

	count   int // of points
	kinds   [lanes.Points]kind
	events  [lanes.Points]int     // which event of the block a point belongs to
	changes [lanes.Points]float64 // of V_b, by events of a run

	block    *crossing
	change   float64 // since the walk was last between two scores
	end      float64 // of the integral over the chunk
	integral float64
}

// kind is what a point is to an event.
type kind uint8

const (
	aboveEvent kind = iota
	aboveTie
	belowMiddle
	aboveMiddle
)

// start moves to a point, and returns the correction there.
func (co *correcting) start(of *correction, pt *point) float64 {
	co.correction = of
	co.lanes, co.sums = par.Grown(co.lanes, of.lanes), par.Grown(co.sums, len(of.rows))
	for i := range co.lanes {
		co.lanes[i][0] = 0
	}
	co.lanes[of.zeros] = lanes.Lane{}
	for i := range co.lanes[of.ones] {
		co.lanes[of.ones][i] = 1
	}
	clear(co.sums)
	co.at.cdf = append(co.at.cdf[:0], pt.cdf...)
	co.at.squares = append(co.at.squares[:0], pt.squares...)
	for b, f := range pt.cdf {
		var v float64
		if co.weighted < len(co.rows) {
			v = co.variance.at(pt, b)
		}
		co.add(uint32(b), f/co.unit[b], v)
	}
	co.addPoint(aboveTie, 0, 0, 0, 0)
	return co.evaluate()[0] // from 0
}

// add adds to the sums an event of this weight in a bin, or a part of one, by which V_b changes by v.
func (co *correcting) add(b uint32, weight, v float64) {
	for g := range co.sums {
		co.addTo(&co.sums[g], g, b, weight, v)
	}
}

func (co *correcting) addTo(sums *[4]float64, g int, b uint32, weight, v float64) {
	if g >= co.weighted {
		weight = v
	}
	for k, x := range co.rows[g][b] {
		sums[k] += weight * x
	}
}

// addPoint adds a point that is off the sums by an event.
func (co *correcting) addPoint(of kind, event int, b uint32, weight, v float64) {
	co.count++
	for g, sums := range co.sums {
		co.addTo(&sums, g, b, weight, v)
		for k, sum := range sums {
			co.lanes[4*g+k][co.count] = sum
			if g >= co.weighted {
				continue
			}
			step := sum - co.lanes[4*g+k][co.count-1]
			if of == aboveMiddle {
				step = 2 * weight * co.rows[g][b][k]
			}
			co.lanes[4*(len(co.rows)+g)+k][co.count] = step
		}
	}
	co.kinds[co.count-1], co.events[co.count-1] = of, event
	if co.count == lanes.Points {
		co.finish()
	}
}

// evaluate returns by how much the correction changes from each point to the next.
func (co *correcting) evaluate() []float64 {
	n, last := co.count, co.correction.lanes-1
	for i := range co.bounded {
		bd := &co.bounded[i]
		bd.Bound(co.lanes, bd.c, bd.base, bd.Bounded, n)
	}
	for _, su := range co.correction.sums {
		lanes.Sum(co.lanes, su.lane, su.terms, n)
	}
	for _, of := range co.compared {
		lanes.Compare(co.lanes, of.x, of.change, of.value, of.difference, of.sum, n)
	}
	lanes.Sum(co.lanes, last, co.terms, n)
	for i := range co.lanes {
		co.lanes[i][0] = co.lanes[i][n]
	}
	co.count = 0
	return co.lanes[last][1 : n+1]
}

// finish evaluates the points, and adds what changes between them to the gradient and to the integral.
func (co *correcting) finish() {
	d, scores, scale := co.block.d, co.block.scores, co.block.in.scale
	for p, change := range co.evaluate() {
		i, of := co.events[p], co.kinds[p]
		if of == aboveEvent || of == aboveMiddle {
			d[i] -= scale * change
		}
		co.change += change
		if of == aboveEvent || of == aboveTie {
			co.integral += co.change * (co.end - scores[i])
			co.change = 0
		}
	}
}

// crossBlock crosses the events of a block: it adds to its gradient, and returns what the correction adds to the integral.
func (co *correcting) crossBlock(block *crossing, end float64) float64 {
	co.block, co.end, co.integral, co.change = block, end, 0, 0
	done := 0
	forTies(block.scores, func(from, to int) {
		co.crossRun(done, from)
		co.moveHalf(from, to)
		co.addMiddle(from, to)
		co.moveHalf(from, to)
		co.addPoint(aboveTie, from, 0, 0, 0)
		done = to
	})
	co.crossRun(done, len(block.bins))
	co.finish()
	return co.integral
}

// aroundMiddle adds to the gradient of a block of events of one tie, in whose middle the walk is.
func (co *correcting) aroundMiddle(block *crossing) {
	co.block = block
	co.addMiddle(0, len(block.bins))
	co.finish()
}

// crossRun crosses the events from..to-1, none of which is tied.
func (co *correcting) crossRun(from, to int) {
	bins, weights := co.block.bins, co.block.eachWeight()
	for from < to {
		n := min(to-from, lanes.Points-co.count)
		for i := range n {
			co.kinds[co.count+i], co.events[co.count+i] = aboveEvent, from+i
			if co.weighted < len(co.rows) {
				co.changes[i] = co.move(from+i, 1)
			}
		}
		for g := range co.sums {
			with, steps := weights[from:from+n], co.lanes[4*(len(co.rows)+g):]
			if g >= co.weighted {
				with, steps = co.changes[:n], nil
			}
			lanes.Follow(co.lanes[4*g:], steps, co.count+1, &co.sums[g], co.rows[g], bins[from:from+n], with)
		}
		from += n
		if co.count += n; co.count == lanes.Points {
			co.finish()
		}
	}
}

// addMiddle adds the points of the events of a tie, in whose middle the walk is.
func (co *correcting) addMiddle(from, to int) {
	for i := from; i < to; i++ {
		for part := -0.5; part < 1; part++ {
			st, v := co.step(i, part), 0.0
			if co.weighted < len(co.rows) {
				v = co.variance.changeAt(&co.at, st)
			}
			of := belowMiddle
			if part > 0 {
				of = aboveMiddle
			}
			co.addPoint(of, i, co.block.bins[i], part*co.block.weight(i), v)
		}
	}
}

// moveHalf crosses half of each event of a tie.
func (co *correcting) moveHalf(from, to int) {
	for i := from; i < to; i++ {
		var v float64
		if co.weighted < len(co.rows) {
			v = co.move(i, 0.5)
		}
		co.add(co.block.bins[i], 0.5*co.block.weight(i), v)
	}
}

// step returns a part of the step of an event.
func (co *correcting) step(i int, part float64) step {
	b := co.block.bins[i]
	e := co.block.weight(i) * co.unit[b]
	return step{int(b), part * e, part * e * e}
}

// move moves the variances by a part of an event, and returns by how much V_b changes.
func (co *correcting) move(i int, part float64) float64 {
	st := co.step(i, part)
	v := co.variance.changeAt(&co.at, st)
	co.at.cross(st)
	return v
}
