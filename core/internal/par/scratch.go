package par

import "sync"

// Scratch has the team and the memory of one call, or of one goroutine of a call. The memory is kept between calls.
type Scratch struct {
	Team  *Team
	Arena Arena
	kept  map[any]any // the memory of Kept: of each type E one *E, under the key (*E)(nil)
	pool  *sync.Pool  // where it comes from
}

// A call has memory for all of its events, and a goroutine for a block of them. From one pool, each would grow to the larger size.
var calls, rooms sync.Pool

// Take returns scratch for one call.
func Take() *Scratch { return takeFrom(&calls) }

// Room returns scratch for a part of the work of a call.
func Room() *Scratch { return takeFrom(&rooms) }

func takeFrom(pool *sync.Pool) *Scratch {
	if sc, ok := pool.Get().(*Scratch); ok {
		return sc
	}
	return &Scratch{Team: new(Team), kept: make(map[any]any), pool: pool}
}

// Give ends the call, or the part of its work.
func (sc *Scratch) Give() {
	sc.Team.Dismiss()
	sc.Arena.Reset()
	sc.pool.Put(sc)
}

// Kept returns the memory of type E of this scratch, as an earlier call has left it.
func Kept[E any](sc *Scratch) *E {
	key := any((*E)(nil))
	of, ok := sc.kept[key].(*E)
	if !ok {
		of = new(E)
		sc.kept[key] = of
	}
	return of
}

// Grown returns a slice of length n over the memory of s, or over new memory if s is too small. It is not cleared.
func Grown[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}
