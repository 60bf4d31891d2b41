package core

import (
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// crossings are the steps by which a block of events is crossed, each upwards, or downwards, with a
// weight of the other sign. Before the first is one of weight 0, which tells loops over the
// crossings where these begin, but for where c~_1 and c~_2 are 0; and after the last as many as fill a group.
//
// The gradient of a tied event is half of by how much J changes where the event alone moves up, and
// where it alone comes back from above. So the other events of a tie than the first go up, and are
// taken back at once, then all go up and stay, and then all but the last come back and are taken up at once.
type crossings struct {
	bins, binsOf []uint32 // of the crossings, and of the events
	weights      []float64
	squares      []float64 // of the weights, negative where downwards; not set where all weights are 1
	stays        []float64 // 1, or 0 where the event is taken back at once
	scores, d    []float64 // of the events
	ties         []boundedTie
}

// boundedTie is a tie in a block.
type boundedTie struct {
	from, size int // its events
	at         int // the first of its crossings
}

// up returns the crossing by which event i of the tie leaves it alone upwards.
func (t boundedTie) up(i int) int {
	if i == 0 {
		return t.all(0)
	}
	return t.at + i - 1
}

// all returns the crossing of event i among those of all.
func (t boundedTie) all(i int) int { return t.at + t.size - 1 + i }

// down returns the crossing by which event i, not the last, comes back alone.
func (t boundedTie) down(i int) int { return t.all(t.size) + i }

func (t boundedTie) end() int { return t.down(t.size - 1) }

// settle sets the gradient, which is a scale times the mean change of J up and down.
func (t boundedTie) settle(grad []float64, groups []lanes.Group, scale float64) {
	d := func(k int) float64 { return groups[k/4].D[k%4] }
	last := t.size - 1
	for i := range last {
		grad[t.from+i] = scale * (d(t.up(i)) - d(t.down(i))) / 2
	}
	grad[t.from+last] = scale * (d(t.up(last)) + d(t.all(last))) / 2
}

// setCrossings sets the crossings to those of the events lo..hi-1, those of ties too where no gradient is wanted: they decide
// where a block ends, and so the last bits of the loss, which does not depend on what else is wanted.
func setCrossings[T Float](cr *crossings, wa *walk[T], lo, hi int) {
	n, weights := hi-lo, begin(cr, wa, 1, lo, hi)
	for i := 0; i < n; {
		end := i + lanes.FirstTie(cr.scores[i:])
		if end == n-1 {
			end = n
		}
		cr.add(weights, i, end, 1, 1)
		if i = end; i < n {
			i = cr.addTie(weights, i)
		}
	}
	cr.rest(-len(cr.bins) & 3)
}

// setAlone sets the crossings to those of the tied events lo..hi-1, each alone, after so many that change nothing.
func setAlone[T Float](cr *crossings, wa *walk[T], first, lo, hi int, up bool) {
	weights, sign := begin(cr, wa, first, lo, hi), 1.0
	if !up {
		sign = -1
	}
	cr.add(weights, 0, hi-lo, sign, 0)
	cr.rest(-len(cr.bins) & 3)
}

// begin takes over the events lo..hi-1, of which it returns the weights, and sets the first crossings, which change nothing.
func begin[T Float](cr *crossings, wa *walk[T], first, lo, hi int) (weights []float64) {
	n := hi - lo
	cr.scores, cr.binsOf, cr.d = par.Grown(cr.scores, n), par.Grown(cr.binsOf, n), par.Grown(cr.d, n)
	wa.decode(lo, hi, cr.scores, cr.binsOf)
	cr.bins, cr.weights, cr.squares, cr.stays, cr.ties = cr.bins[:0], cr.weights[:0], cr.squares[:0], cr.stays[:0], cr.ties[:0]
	cr.rest(first)
	if wa.weights == nil {
		return nil
	}
	return wa.weights[lo:hi]
}

// add adds crossings of events, upwards (sign 1) or downwards (-1), that stay (1) or not (0).
func (cr *crossings) add(weights []float64, from, to int, sign, stay float64) {
	cr.bins = append(cr.bins, cr.binsOf[from:to]...)
	for range to - from {
		cr.stays = append(cr.stays, stay)
	}
	if weights == nil {
		for range to - from {
			cr.weights = append(cr.weights, sign)
		}
		return
	}
	for _, w := range weights[from:to] {
		cr.weights = append(cr.weights, sign*w)
		cr.squares = append(cr.squares, sign*w*w)
	}
}

// rest adds crossings that change nothing.
func (cr *crossings) rest(count int) {
	for range count {
		cr.bins = append(cr.bins, cr.binsOf[0])
		cr.weights, cr.squares, cr.stays = append(cr.weights, 0), append(cr.squares, 0), append(cr.stays, 1)
	}
}

// addTie adds the crossings of the tie that begins with an event, and returns its end.
func (cr *crossings) addTie(weights []float64, from int) int {
	to := from + 2
	for to < len(cr.scores) && cr.scores[to] == cr.scores[from] {
		to++
	}
	cr.ties = append(cr.ties, boundedTie{from, to - from, len(cr.bins)})
	cr.add(weights, from+1, to, 1, 0)
	cr.add(weights, from, to, 1, 1)
	cr.add(weights, from, to-1, -1, 0)
	return to
}

// eventOf returns the event of a crossing, or the first of its tie.
func (cr *crossings) eventOf(k int) int {
	shift := -1 // of the event after the ties so far
	for _, tie := range cr.ties {
		if k < tie.at {
			break
		}
		if k < tie.end() {
			return tie.from
		}
		shift = tie.from + tie.size - tie.end()
	}
	return max(0, min(k+shift, len(cr.scores)-1))
}

// collect returns the changes of J by the events in turns.
func (cr *crossings) collect(groups []lanes.Group) []float64 {
	from, k := 0, 1
	for _, tie := range cr.ties {
		gather(cr.d[from:tie.from], groups, k)
		gather(cr.d[tie.from:tie.from+tie.size], groups, tie.all(0))
		from, k = tie.from+tie.size, tie.end()
	}
	gather(cr.d[from:], groups, k)
	return cr.d
}

// gather sets d to the changes of crossings from k on.
func gather(d []float64, groups []lanes.Group, k int) {
	for i := range d {
		d[i] = groups[uint(k+i)/4].D[uint(k+i)%4]
	}
}
