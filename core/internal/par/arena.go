package par

import "unsafe"

// Arena hands out memory for the small arrays of one call, and takes all of it back at once. It is for one goroutine.
type Arena struct {
	words []uint64
	used  int
}

// Reset takes back all that was handed out.
func (a *Arena) Reset() { a.used = 0 }

// Make returns a slice of n zeros, which lasts until the next Reset. E has no pointers.
func Make[E any](a *Arena, n int) []E {
	var e E
	words := (n*int(unsafe.Sizeof(e)) + 7) / 8
	if words > len(a.words)-a.used {
		a.words, a.used = make([]uint64, max(words, 2*len(a.words), 1<<10)), 0 // earlier slices keep the old memory
	}
	if words == 0 {
		return []E{}
	}
	room := a.words[a.used : a.used+words]
	a.used += words
	clear(room)
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(room))), n)
}
