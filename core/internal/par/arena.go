package par

import "unsafe"

// Arena hands out memory for the small arrays and the objects of one call, and takes all of it back at
// once. It is for one goroutine.
type Arena struct {
	words []uint64
	used  int
	kinds map[any]kind // by a nil pointer to the type of the objects
}

// kind is the objects of one type.
type kind interface{ reset() }

// objects are those of the type E.
type objects[E any] struct {
	all  []*E
	used int
}

func (o *objects[E]) reset() {
	for _, object := range o.all[:o.used] {
		var none E
		*object = none
	}
	o.used = 0
}

// Reset takes back all that was handed out, and forgets what objects point to.
func (a *Arena) Reset() {
	a.used = 0
	for _, of := range a.kinds {
		of.reset()
	}
}

// New returns an object with this value, which lasts until the next Reset.
func New[E any](a *Arena, value E) *E {
	of, ok := a.kinds[(*E)(nil)].(*objects[E])
	if !ok {
		if a.kinds == nil {
			a.kinds = make(map[any]kind)
		}
		of = new(objects[E])
		a.kinds[(*E)(nil)] = of
	}
	if of.used == len(of.all) {
		of.all = append(of.all, new(E))
	}
	object := of.all[of.used]
	of.used++
	*object = value
	return object
}

// Make returns a slice of n zeros, which lasts until the next Reset. E has no pointers.
func Make[E any](a *Arena, n int) []E {
	var e E
	words := (n*int(unsafe.Sizeof(e)) + 7) / 8
	if words > len(a.words)-a.used {
		a.words, a.used = make([]uint64, max(words, 2*len(a.words), 1<<10)), 0 // what was handed out stays where it is
	}
	if words == 0 {
		return []E{}
	}
	room := a.words[a.used : a.used+words]
	a.used += words
	clear(room)
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(room))), n)
}
