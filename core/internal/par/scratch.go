package par

import "sync"

// Scratch is the goroutines and the memory of one call. The memory is kept between calls.
type Scratch struct {
	Team  *Team
	Arena Arena
	kept  map[any]any // by a nil pointer to its type
}

var scratches = sync.Pool{New: func() any { return new(Scratch) }}

// Take returns scratch for one call, with a team of its own.
func Take() *Scratch {
	sc := scratches.Get().(*Scratch)
	sc.Team = new(Team)
	return sc
}

// Give ends the call. What is kept must not hold on to the caller's arrays, as the team's last job and the objects of
// the arena do.
func (sc *Scratch) Give() {
	sc.Arena.Reset()
	sc.Team.Dismiss()
	sc.Team = nil
	scratches.Put(sc)
}

// Kept returns the memory of type E that belongs to this scratch, as an earlier call has left it.
func Kept[E any](sc *Scratch) *E {
	key := any((*E)(nil))
	if of, ok := sc.kept[key]; ok {
		return of.(*E)
	}
	if sc.kept == nil {
		sc.kept = make(map[any]any)
	}
	of := new(E)
	sc.kept[key] = of
	return of
}
