package core

import "github.com/libmode/libmode/core/internal/par"

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

// gather makes them those of the labels, which are all different. It reads the labels
// twice, however many there are.
func (g *gathered[T]) gather(ev Events[T], labels []int32, team *par.Team) error {
	n, several := len(ev.Label), len(labels)
	slots := newSlots(labels)
	parts := team.PartsFor(n)
	part := func(k int) (lo, hi int) { return n * k / parts, n * (k + 1) / parts }
	g.next = par.Grown(g.next, parts*several)
	team.Run(parts, func(k int) {
		lo, hi := part(k)
		slots.count(g.next[k*several:(k+1)*several], ev.Label[lo:hi])
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
		for ; lo < hi; lo += checkBlock {
			block := ev.Label[lo:min(lo+checkBlock, hi)]
			if several > 1 {
				g.put(ev, block, lo, slots, next)
				continue
			}
			var places [checkBlock]uint32
			chosen := choose(&places, block, lo, labels[0])
			copy(g.index[next[0]:], chosen)
			pick(g.events.Score, ev.Score, next[0], chosen)
			pick(g.events.Mass, ev.Mass, next[0], chosen)
			pick(g.events.Weight, ev.Weight, next[0], chosen)
			next[0] += len(chosen)
		}
	})
	return nil
}

// put copies a block of events of several labels, of which the first is lo, to where
// the next of each goes.
func (g *gathered[T]) put(ev Events[T], block []int32, lo int, slots slots, next []int) {
	for i, label := range block {
		slot := slots.of(label)
		if slot < 0 {
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

// slots tells which of several labels a label is.
type slots struct {
	lowest int32
	table  []int32         // by label - lowest; -1: none of them
	others map[int32]int32 // instead of the table, where labels lie far apart
}

func newSlots(labels []int32) slots {
	s := slots{lowest: labels[0]}
	highest := labels[0]
	for _, label := range labels {
		s.lowest, highest = min(s.lowest, label), max(highest, label)
	}
	if span := int64(highest) - int64(s.lowest); span < 1<<16 {
		s.table = make([]int32, span+1)
		for i := range s.table {
			s.table[i] = -1
		}
		for slot, label := range labels {
			s.table[label-s.lowest] = int32(slot)
		}
		return s
	}
	s.others = make(map[int32]int32, len(labels))
	for slot, label := range labels {
		s.others[label] = int32(slot)
	}
	return s
}

// of returns the number of a label among those asked for, or -1.
func (s *slots) of(label int32) int32 {
	if s.table == nil {
		if slot, ok := s.others[label]; ok {
			return slot
		}
		return -1
	}
	if d := uint32(label - s.lowest); d < uint32(len(s.table)) {
		return s.table[d]
	}
	return -1
}

// count sets counts to how often each of the labels asked for occurs.
func (s *slots) count(counts []int, labels []int32) {
	clear(counts)
	if len(counts) == 1 {
		count := 0
		for _, label := range labels {
			if label == s.lowest {
				count++
			}
		}
		counts[0] = count
		return
	}
	for _, label := range labels {
		if slot := s.of(label); slot >= 0 {
			counts[slot]++
		}
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

// choose returns the places of the label, of which the first is lo. It writes
// every place and goes on only after those that count, without a jump.
func choose(places *[checkBlock]uint32, labels []int32, lo int, label int32) []uint32 {
	next := 0
	for i, other := range labels {
		places[next&(checkBlock-1)] = uint32(lo + i)
		var one int
		if other == label {
			one = 1
		}
		next += one
	}
	return places[:next]
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
