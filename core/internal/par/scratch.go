package par

import "sync"

// Scratch has the team and the memory of one call. The memory is kept between calls.
type Scratch struct {
	Team  *Team
	Arena Arena
	kept  map[any]any // the memory of Kept: of each type E one *E, under the key (*E)(nil)
}

var scratches = sync.Pool{New: func() any { return &Scratch{Team: new(Team), kept: make(map[any]any)} }}

// Take returns scratch for one call.
func Take() *Scratch { return scratches.Get().(*Scratch) }

// Give ends the call.
func (sc *Scratch) Give() {
	sc.Team.Dismiss()
	sc.Arena.Reset()
	scratches.Put(sc)
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
