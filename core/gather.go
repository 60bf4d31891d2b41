package core

// gathered are the events of one label, side by side. A batch has its labels in
// random order, and every loop that asked for them would guess wrong at every
// other event.
type gathered[T Float] struct {
	events              Events[T] // without labels
	index               []uint32  // their places in the input
	grad                []T       // of these events
	starts              []int     // of what each part of the input gives
	score, mass, weight []T       // memory
}

// gatheredOf returns the memory of a call for them.
func gatheredOf[T Float](sc *scratch) *gathered[T] {
	if g, ok := any(&sc.single).(*gathered[T]); ok {
		return g
	}
	return any(&sc.double).(*gathered[T])
}

// gather makes them those of the label.
func (g *gathered[T]) gather(ev Events[T], label int32, tm *team) error {
	n := len(ev.Label)
	parts := tm.partsFor(n)
	part := func(k int) (lo, hi int) { return n * k / parts, n * (k + 1) / parts }
	g.starts = grown(g.starts, parts+1)
	tm.parallel(parts, func(k int) {
		lo, hi := part(k)
		count := 0
		for _, other := range ev.Label[lo:hi] {
			if other == label {
				count++
			}
		}
		g.starts[k+1] = count
	})
	g.starts[0] = 0
	for k := range parts {
		g.starts[k+1] += g.starts[k]
	}
	found := g.starts[parts]
	if found == 0 && n > 0 {
		return errorOf(ErrNoEvents, "no event selected: none of the %d values of label equals background_label = %d: "+
			"use larger batches, or check background_label", n, label)
	}
	g.index = grown(g.index, found)
	g.events = Events[T]{
		Score:  alike(&g.score, ev.Score, found),
		Mass:   alike(&g.mass, ev.Mass, found),
		Weight: alike(&g.weight, ev.Weight, found),
	}
	tm.parallel(parts, func(k int) {
		lo, hi := part(k)
		at := g.starts[k]
		for ; lo < hi; lo += checkBlock {
			var places [checkBlock]uint32
			chosen := choose(&places, ev.Label[lo:min(lo+checkBlock, hi)], lo, label)
			copy(g.index[at:], chosen)
			pick(g.events.Score, ev.Score, at, chosen)
			pick(g.events.Mass, ev.Mass, at, chosen)
			pick(g.events.Weight, ev.Weight, at, chosen)
			at += len(chosen)
		}
	})
	return nil
}

// alike returns memory for as many numbers; nil where there are none to take.
func alike[T Float](memory *[]T, from []T, n int) []T {
	if from == nil {
		return nil
	}
	*memory = grown(*memory, n)
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

// gradient returns the memory for the gradient of these events, cleared; nil if
// that of the input is.
func (g *gathered[T]) gradient(input []T) []T {
	if input == nil {
		return nil
	}
	g.grad = grown(g.grad, len(g.index))
	clear(g.grad)
	return g.grad
}

// scatter writes the gradient of these events to that of the input.
func (g *gathered[T]) scatter(input []T, tm *team) {
	if input == nil {
		return
	}
	tm.parallel(len(g.starts)-1, func(k int) {
		for j := g.starts[k]; j < g.starts[k+1]; j++ {
			input[g.index[j]] = g.grad[j]
		}
	})
}
