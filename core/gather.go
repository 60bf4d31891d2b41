package core

import (
	"sync"

	"github.com/libmode/libmode/core/internal/par"
)

// gathered are the events of the labels that a loss sees, those of a label side by
// side. A batch has its labels in random order, and every loop that asked for them
// would guess wrong at every other event.
type gathered[T Float] struct {
	events              Events[T] // without labels
	index               []uint32  // their places in the input
	grad                []T       // of these events
	bounds              []int     // label k has the events bounds[k] .. bounds[k+1]-1
	next                []int     // where each part of the input writes its next event of each label
	score, mass, weight []T       // memory
}

// gatheredOf returns the memory of a call for them.
func gatheredOf[T Float](sc *scratch) *gathered[T] {
	if g, ok := any(&sc.single).(*gathered[T]); ok {
		return g
	}
	return any(&sc.double).(*gathered[T])
}

// rooms hold a number for each event of a block.
var rooms = sync.Pool{New: func() any { return new([checkBlock]uint32) }}

// gather makes them those of the labels, which are all different. It reads the labels
// twice, however many there are.
func (g *gathered[T]) gather(ev Events[T], labels []int32, team *par.Team) error {
	n, several := ev.Label.length(), len(labels)
	wanted := newSlots(labels)
	parts := team.PartsFor(n)
	part := func(k int) (lo, hi int) { return n * k / parts, n * (k + 1) / parts }
	g.next = par.Grown(g.next, parts*several)
	team.Run(parts, func(k int) {
		lo, hi := part(k)
		ev.Label.count(g.next[k*several:(k+1)*several], wanted, lo, hi)
	})
	g.bounds = par.Grown(g.bounds, several+1)
	found := 0
	for slot := range several {
		g.bounds[slot] = found
		for k := range parts {
			next := &g.next[k*several+slot]
			*next, found = found, found+*next
		}
		if found == g.bounds[slot] && n > 0 {
			return errorOf(ErrNoEvents, "no event selected: none of the %d values of label equals background_label = %d: "+
				"use larger batches, or check background_label", n, labels[slot])
		}
	}
	g.bounds[several] = found
	g.index = par.Grown(g.index, found)
	g.events = Events[T]{
		Score:  alike(&g.score, ev.Score, found),
		Mass:   alike(&g.mass, ev.Mass, found),
		Weight: alike(&g.weight, ev.Weight, found),
	}
	team.Run(parts, func(k int) {
		lo, hi := part(k)
		next := g.next[k*several : (k+1)*several]
		room := rooms.Get().(*[checkBlock]uint32)
		defer rooms.Put(room)
		for ; lo < hi; lo += checkBlock {
			end := min(lo+checkBlock, hi)
			if several > 1 {
				ev.Label.find(room[:end-lo], wanted, lo)
				g.put(ev, room[:end-lo], lo, next)
				continue
			}
			chosen := ev.Label.choose(room, wanted, lo, end)
			copy(g.index[next[0]:], chosen)
			pick(g.events.Score, ev.Score, next[0], chosen)
			pick(g.events.Mass, ev.Mass, next[0], chosen)
			pick(g.events.Weight, ev.Weight, next[0], chosen)
			next[0] += len(chosen)
		}
	})
	return nil
}

// put copies a block of events, of which the first is lo, to where the next of each label
// goes; found says which label an event has.
func (g *gathered[T]) put(ev Events[T], found []uint32, lo int, next []int) {
	for i, slot := range found {
		if slot == noSlot {
			continue
		}
		at := next[slot]
		next[slot]++
		g.index[at] = uint32(lo + i)
		if ev.Score != nil {
			g.events.Score[at] = ev.Score[lo+i]
		}
		g.events.Mass[at] = ev.Mass[lo+i]
		if ev.Weight != nil {
			g.events.Weight[at] = ev.Weight[lo+i]
		}
	}
}

// of returns the events of label k, with their places in the input.
func (g *gathered[T]) of(k int) (Events[T], []uint32) {
	lo, hi := g.bounds[k], g.bounds[k+1]
	ev := Events[T]{Mass: g.events.Mass[lo:hi]}
	if g.events.Score != nil {
		ev.Score = g.events.Score[lo:hi]
	}
	if g.events.Weight != nil {
		ev.Weight = g.events.Weight[lo:hi]
	}
	return ev, g.index[lo:hi]
}

// alike returns memory for as many numbers; nil where there are none to take.
func alike[T Float](memory *[]T, from []T, n int) []T {
	if from == nil {
		return nil
	}
	*memory = par.Grown(*memory, n)
	return *memory
}

// pick copies the chosen numbers to to[at], to[at+1], ...
func pick[T Float](to, from []T, at int, chosen []uint32) {
	if from == nil {
		return
	}
	to = to[at:][:len(chosen)]
	for j, i := range chosen {
		to[j] = from[i]
	}
}

// gradient returns memory for the gradients of all these events, cleared; nil if that
// of the input is.
func (g *gathered[T]) gradient(input []T) []T {
	if input == nil {
		return nil
	}
	g.grad = par.Grown(g.grad, len(g.index))
	clear(g.grad)
	return g.grad
}

// scatter writes the gradients of these events to that of the input.
func (g *gathered[T]) scatter(input []T, team *par.Team) {
	if input == nil {
		return
	}
	n := len(g.index)
	parts := team.PartsFor(n)
	team.Run(parts, func(k int) {
		lo, hi := n*k/parts, n*(k+1)/parts
		grad := g.grad[lo:hi]
		for j, i := range g.index[lo:hi] {
			input[i] = grad[j]
		}
	})
}
