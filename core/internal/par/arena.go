package par

import "unsafe"

// Arena hands out memory for the arrays of one call, and takes it back. It is for one goroutine. What a call needs beyond the memory
// of the arena comes from Go's heap, and the next call finds an arena with room for all of it.
type Arena struct {
	pairs      []pair
	used, most int // pairs handed out: now, and the most so far
}

// pair is the unit of memory. Each array starts at a multiple of its size: gonum adds up numbers in an order that depends on
// whether an address is a multiple of 16 bytes, so without that the bits of a result would depend on earlier calls.
type pair [2]uint64

// Mark returns the place to which Release goes back.
func (a *Arena) Mark() int { return a.used }

// Release takes back all that was handed out since that Mark.
func (a *Arena) Release(mark int) { a.used = mark }

// Make returns a slice of n zeros, which lasts until a Release. E has no pointers.
func Make[E any](a *Arena, n int) []E {
	made := Unset[E](a, n)
	clear(made)
	return made
}

// Unset is Make for a slice that is written before it is read: it is not cleared.
func Unset[E any](a *Arena, n int) []E {
	var e E
	size := int(unsafe.Sizeof(pair{}))
	pairs := (n*int(unsafe.Sizeof(e)) + size - 1) / size
	if pairs == 0 {
		return []E{}
	}
	first := a.used
	a.used += pairs
	a.most = max(a.most, a.used)
	if first == 0 && a.most > len(a.pairs) {
		a.pairs = make([]pair, a.most)
	}
	room := a.pairs
	if a.used > len(room) {
		room, first = make([]pair, pairs), 0
	}
	return unsafe.Slice((*E)(unsafe.Pointer(&room[first])), n)
}
