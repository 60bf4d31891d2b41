package core

import (
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// crossings are the steps by which a block of events is crossed, each upwards, or downwards, with a
// weight of the other sign. Before the first is one of weight 0, which tells loops over the
// crossings where these begin, but for where c~_1 and c~_2 are 0; and after the last as many as fill a group.
//
// Each event of a tie crosses its middle. So first one half of each event goes up and stays, then one half of each but the last
// comes back and is taken up at once, then one half of each of these goes up and is taken back at once, and then the other
// halves of all go up and stay, that of the last first: with its first half it has crossed the middle.
type crossings struct {
	bins, binsOf []uint32 // of the crossings, and of the events
	weights      []float64
	squares      []float64 // of the weights, times the part that is crossed, negative where downwards; not set where all weights are 1
	stays        []float64 // 1, or 0 where the event is taken back at once
	scores, d    []float64 // of the events
	ties         []boundedTie
}

// boundedTie is a tie in a block.
type boundedTie struct {
	from, size int // its events
	at         int // the first of its crossings
}

func (t boundedTie) end() int { return t.at + 4*t.size - 2 }

// second returns the crossing of the second half of event i.
func (t boundedTie) second(i int) int {
	if i == t.size-1 {
		return t.at + 3*t.size - 2
	}
	return t.at + 3*t.size - 1 + i
}

// cross sets d to the changes of J by the events of the tie in turns.
func (t boundedTie) cross(d []float64, groups []lanes.Group) {
	for i := range t.size {
		d[t.from+i] = changeOf(groups, t.at+i) + changeOf(groups, t.second(i))
	}
}

// settle sets the gradient, a scale times the change of J by each event about the middle of the tie.
func (t boundedTie) settle(grad []float64, groups []lanes.Group, scale float64) {
	grad = grad[t.from : t.from+t.size]
	last := t.size - 1
	middle(grad[:last], groups, t.at+t.size)
	grad[last] = changeOf(groups, t.at+last) + changeOf(groups, t.second(last))
	for i := range grad {
		grad[i] *= scale
	}
}

// middle sets d to by how much events change J about where the walk is, of which crossings from k on are half the events
// downwards, and those after them half the events upwards.
func middle(d []float64, groups []lanes.Group, k int) {
	for i := range d {
		d[i] = changeOf(groups, k+len(d)+i) - changeOf(groups, k+i)
	}
}

// changeOf returns by how much crossing k changes J.
func changeOf(groups []lanes.Group, k int) float64 { return groups[uint(k)/4].D[uint(k)%4] }

// setCrossings sets the crossings to those of the events lo..hi-1, those of ties too where no gradient is wanted: they decide
// where a block ends, and so the last bits of the loss, which does not depend on what else is wanted.
func setCrossings[T Float](cr *crossings, wa *walk[T], lo, hi int) {
	n, weights := hi-lo, begin(cr, wa, lo, hi)
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

// setAlone sets the crossings to those of the tied events lo..hi-1 about the middle of the tie, after one that changes nothing.
func setAlone[T Float](cr *crossings, wa *walk[T], lo, hi int) {
	weights := begin(cr, wa, lo, hi)
	cr.addMiddle(weights, 0, hi-lo)
	cr.rest(-len(cr.bins) & 3)
}

// begin takes over the events lo..hi-1, of which it returns the weights, and sets the first crossing, which changes nothing.
func begin[T Float](cr *crossings, wa *walk[T], lo, hi int) (weights []float64) {
	n := hi - lo
	cr.scores, cr.binsOf, cr.d = par.Grown(cr.scores, n), par.Grown(cr.binsOf, n), par.Grown(cr.d, n)
	wa.decode(lo, hi, cr.scores, cr.binsOf)
	cr.bins, cr.weights, cr.squares, cr.stays, cr.ties = cr.bins[:0], cr.weights[:0], cr.squares[:0], cr.stays[:0], cr.ties[:0]
	cr.rest(1)
	if wa.weights == nil {
		return nil
	}
	return wa.weights[lo:hi]
}

// add adds crossings of a part of each event, downwards where it is negative, that stay (1) or not (0).
func (cr *crossings) add(weights []float64, from, to int, part, stay float64) {
	cr.bins = append(cr.bins, cr.binsOf[from:to]...)
	for range to - from {
		cr.stays = append(cr.stays, stay)
	}
	if weights == nil {
		for range to - from {
			cr.weights = append(cr.weights, part)
		}
		return
	}
	for _, w := range weights[from:to] {
		cr.weights = append(cr.weights, part*w)
		cr.squares = append(cr.squares, part*w*w)
	}
}

// addMiddle adds crossings of half of each event downwards, and then upwards, none of which stays.
func (cr *crossings) addMiddle(weights []float64, from, to int) {
	cr.add(weights, from, to, -0.5, 0)
	cr.add(weights, from, to, 0.5, 0)
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
	cr.add(weights, from, to, 0.5, 1)
	cr.addMiddle(weights, from, to-1)
	cr.add(weights, to-1, to, 0.5, 1)
	cr.add(weights, from, to-1, 0.5, 1)
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
		tie.cross(cr.d, groups)
		from, k = tie.from+tie.size, tie.end()
	}
	gather(cr.d[from:], groups, k)
	return cr.d
}

// gather sets d to the changes of crossings from k on.
func gather(d []float64, groups []lanes.Group, k int) {
	for i := range d {
		d[i] = changeOf(groups, k+i)
	}
}
