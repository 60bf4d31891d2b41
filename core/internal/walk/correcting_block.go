package walk

import (
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// load makes these the events that are crossed.
func (co *correcting) load(bins []uint32, weights []float64) {
	co.binOf, co.weightOf = bins, weights
	co.found = par.Grown(co.found, 2*len(bins)+1)
	clear(co.found)
}

// crossBlock adds to d the changes of the correction by events in turn. The first of a tie has those of its jumps too.
func (co *correcting) crossBlock(d, scores []float64, bins []uint32, weights []float64) {
	co.load(bins, weights)
	done := 0
	forTies(scores, func(from, to int) {
		co.crossRun(done, from)
		co.jumpHalves(from, to)
		co.crossMiddle(from, to)
		co.jumpHalves(from, to)
		co.crossJump(from)
		done = to
	})
	co.crossRun(done, len(bins))
	co.follow()
	for i, change := range co.found[:len(d)] {
		d[i] += change + co.jumps(i)
	}
}

// jumps returns what the jumps of the tie changed that begins with an event.
func (co *correcting) jumps(first int) float64 { return co.found[len(co.binOf)+first] }

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

// crossRun crosses the events from..to-1.
func (co *correcting) crossRun(from, to int) {
	for from < to {
		n := min(to-from, lanes.Steps-co.n)
		copy(co.rows[co.n:], co.binOf[from:from+n])
		copy(co.weights[co.n:], co.weightOf[from:from+n])
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

// crossMiddle crosses events of a tie about its middle, where the walk is but for a jump.
func (co *correcting) crossMiddle(from, to int) {
	for i := from; i < to; i++ {
		var down, up float64
		if co.products != nil {
			down, up = co.variance.changeAt(&co.at, co.step(i, -0.5)), co.variance.changeAt(&co.at, co.step(i, 0.5))
		}
		co.jumpPart(i, -0.5, down)
		co.crossJump(from)
		co.cross(co.binOf[i], co.weightOf[i], up-down, i)
		co.jumpPart(i, -0.5, -up)
	}
}

func (co *correcting) jumpHalves(from, to int) {
	for i := from; i < to; i++ {
		var v float64
		if co.products != nil {
			v = co.move(i, 0.5)
		}
		co.jumpPart(i, 0.5, v)
	}
}

// jumpPart adds a part of an event to the next jump, by which V_b changes by v.
func (co *correcting) jumpPart(i int, part, v float64) {
	for g := range co.sums {
		co.add(g, co.binOf[i], part*co.weightOf[i], v, &co.jump[g])
	}
}

// crossJump crosses the next jump, one of the tie that begins with an event.
func (co *correcting) crossJump(first int) {
	row := co.bins + co.n
	for g := range co.sums {
		co.sums[g].Rows[row], co.jump[g] = co.jump[g], [4]float64{}
	}
	co.cross(uint32(row), 1, 1, len(co.binOf)+first)
}

// step returns a part of an event.
func (co *correcting) step(i int, part float64) step {
	e := co.weightOf[i] * co.unit[co.binOf[i]]
	return step{int(co.binOf[i]), part * e, part * e * e}
}

// move moves a part of an event up, and returns by how much V_b changes.
func (co *correcting) move(i int, part float64) float64 {
	st := co.step(i, part)
	v := co.variance.changeAt(&co.at, st)
	co.at.cross(st)
	return v
}
