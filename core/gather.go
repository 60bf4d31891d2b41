package core

import (
	"sync"

	"github.com/libmode/libmode/core/internal/par"
)

// gathered are the events that a loss sees, those of a subset side by side. A batch has its labels and
// categories in random order, and every loop that asked for them would guess wrong at every other event.
type gathered[T Float] struct {
	events  Events[T]      // without labels and categories
	index   []uint32       // their places in the input
	out     derivatives[T] // of these events
	subsets []subset

	// memory
	score, weight []T
	masses        [MaxVariables][]T
	next          []uint32 // where each part of the input writes its next event of each subset
}

// gatheredOf returns the memory of a call for them.
func gatheredOf[T Float](sc *scratch) *gathered[T] {
	if g, ok := any(&sc.single).(*gathered[T]); ok {
		return g
	}
	return any(&sc.double).(*gathered[T])
}

// gather makes them the events of a division.
func (g *gathered[T]) gather(ev Events[T], di *division, labels []int32, team *par.Team) error {
	parts, one := di.parts(team), di.count == 1
	g.next = par.Grown(g.next, parts*di.count)
	clear(g.next)
	team.Run(parts, func(k int) {
		next := g.next[k*di.count : (k+1)*di.count]
		if one {
			lo, hi := partOf(di.n, k, parts)
			next[0] = uint32(di.label.count(di.wanted, lo, hi))
		} else {
			di.number(next, k, parts)
		}
	})
	g.subsets = di.subsets(g.next, g.subsets)
	if err := di.checkLabels(g.subsets, labels); err != nil {
		return err
	}
	g.makeRoom(ev, g.subsets[len(g.subsets)-1].hi)
	team.Run(parts, func(k int) {
		next := g.next[k*di.count : (k+1)*di.count]
		if lo, hi := partOf(di.n, k, parts); one {
			g.choose(ev, di, int(next[0]), lo, hi)
		} else {
			g.place(ev, di.numbers[lo:hi], next, lo)
		}
	})
	return nil
}

// makeRoom makes room for so many events.
func (g *gathered[T]) makeRoom(ev Events[T], found int) {
	g.index = par.Grown(g.index, found)
	g.events = Events[T]{Score: alike(&g.score, ev.Score, found), Weight: alike(&g.weight, ev.Weight, found)}
	if ev.Masses == nil {
		g.events.Mass = alike(&g.masses[0], ev.Mass, found)
	}
	for k, mass := range ev.Masses {
		g.events.Masses = append(g.events.Masses, alike(&g.masses[k], mass, found))
	}
}

// alike returns memory for as many numbers; nil where there are none to take.
func alike[T Float](memory *[]T, from []T, n int) []T {
	if from == nil {
		return nil
	}
	*memory = par.Grown(*memory, n)
	return *memory
}

// rooms hold a number for each event of a block.
var rooms = sync.Pool{New: func() any { return new([checkBlock]uint32) }}

// choose copies those of the events lo..hi-1 that have the one wanted label, from next on.
func (g *gathered[T]) choose(ev Events[T], di *division, next, lo, hi int) {
	room := rooms.Get().(*[checkBlock]uint32)
	defer rooms.Put(room)
	masses, to := ev.variables(), g.events.variables()
	for ; lo < hi; lo += checkBlock {
		chosen := di.label.choose(room, di.wanted, lo, min(lo+checkBlock, hi))
		copy(g.index[next:], chosen)
		pick(g.events.Score, ev.Score, next, chosen)
		pick(g.events.Weight, ev.Weight, next, chosen)
		for v, mass := range masses {
			pick(to[v], mass, next, chosen)
		}
		next += len(chosen)
	}
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

// place copies events, of which the first is lo and whose subsets have these numbers, to where the next of
// each subset goes: one array after the other, since the ends of many subsets in several arrays do not stay
// in cache.
func (g *gathered[T]) place(ev Events[T], numbers, next []uint32, lo int) {
	places := numbers // from here on
	for i, number := range numbers {
		if number != noSlot {
			at := next[number]
			next[number]++
			g.index[at] = uint32(lo + i)
			places[i] = at
		}
	}
	put(g.events.Score, ev.Score, lo, places)
	put(g.events.Weight, ev.Weight, lo, places)
	to := g.events.variables()
	for v, mass := range ev.variables() {
		put(to[v], mass, lo, places)
	}
}

// put copies from[lo], from[lo+1], ... to these places.
func put[T Float](to, from []T, lo int, places []uint32) {
	if from == nil {
		return
	}
	from = from[lo:][:len(places)]
	for i, at := range places {
		if at != noSlot {
			to[at] = from[i]
		}
	}
}

// of returns the events of subset k, with their places in the input.
func (g *gathered[T]) of(k int) (Events[T], []uint32) {
	lo, hi := g.subsets[k].lo, g.subsets[k].hi
	cut := func(all []T) []T {
		if all == nil {
			return nil
		}
		return all[lo:hi]
	}
	ev := Events[T]{Score: cut(g.events.Score), Mass: cut(g.events.Mass), Weight: cut(g.events.Weight)}
	for _, mass := range g.events.Masses {
		ev.Masses = append(ev.Masses, cut(mass))
	}
	return ev, g.index[lo:hi]
}

// derivatives returns memory for those of all these events, not cleared; nil where those of the input are.
func (g *gathered[T]) derivatives(input derivatives[T]) (own derivatives[T]) {
	for k, of := range input {
		own[k] = alike(&g.out[k], of, len(g.index))
	}
	return own
}

// scatter writes the derivatives of these events to those of the input.
func (g *gathered[T]) scatter(input derivatives[T], team *par.Team) {
	n := len(g.index)
	parts := team.PartsFor(n)
	for k, to := range input {
		if to == nil {
			continue
		}
		team.Run(parts, func(part int) {
			lo, hi := partOf(n, part, parts)
			own := g.out[k][lo:hi]
			for j, i := range g.index[lo:hi] {
				to[i] = own[j]
			}
		})
	}
}
