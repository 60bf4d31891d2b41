// Package par shares the work of one call among goroutines, and keeps memory between calls.
package par

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

var threadLimit atomic.Int64

// MaxThreads is an upper limit on the number of threads, so that the memory that a call needs for each thread is small.
const MaxThreads = 1 << 10

// SetThreads limits the number of threads of one call. Zero or less restores the default, all threads on which the process
// may run. Results do not depend on it. A limit above MaxThreads is MaxThreads.
func SetThreads(n int) { threadLimit.Store(int64(min(max(n, 0), MaxThreads))) }

// Threads returns the number of threads that one call may use.
func Threads() int {
	if n := int(threadLimit.Load()); n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// Scratch has the memory of one call, or of a part of its work. The memory is kept between calls.
type Scratch struct {
	Arena Arena
	Parts int        // into which the events of the next work are divided; 1: too few for a second goroutine
	pool  *sync.Pool // where it comes from
	team  team
}

// A call has memory for all of its events, and a goroutine for a block of them. From one pool, each would grow to the larger size.
var calls, rooms sync.Pool

// Take returns scratch for one call.
func Take() *Scratch { return takeFrom(&calls) }

// Room returns scratch for a part of the work of a call, in one goroutine.
func Room() *Scratch { return takeFrom(&rooms) }

func takeFrom(pool *sync.Pool) *Scratch {
	if sc, ok := pool.Get().(*Scratch); ok {
		return sc
	}
	return &Scratch{Parts: 1, pool: pool}
}

// Give ends the call, or the part of its work.
func (sc *Scratch) Give() {
	sc.team.piece.Store(nil) // the helpers go as soon as they see it
	sc.Arena.Release(0)
	sc.pool.Put(sc)
}

// A part of fewer events than alonePart does not pay for a goroutine. A call with fewer events than AloneCall stays in its
// own goroutine: in a training, whose threads keep the other cores busy, it might wait for another one.
const (
	alonePart = 1 << 13
	AloneCall = 1 << 15
)

// Expect says that the next work is on n events, and sets the number of their parts. If they are few, all work stays in the caller's
// goroutine.
func (sc *Scratch) Expect(n int) {
	if sc.Parts = 1; n >= AloneCall {
		sc.Parts = max(1, min(Threads(), n/alonePart))
	}
}

// Block is a number of events that stay in the nearest cache between the loops over them, and Share one that pays for a goroutine to take.
const (
	Block = 512
	Share = 1 << 14
)

// Blocks calls f(lo, hi) for blocks lo..hi-1 of n elements, several at a time. All blocks but the last have size elements.
func (sc *Scratch) Blocks(n, size int, f func(lo, hi int)) {
	if 0 < n && n <= size { // a function for Run would take memory
		f(0, n)
		return
	}
	sc.Run((n+size-1)/size, func(block int) { f(block*size, min((block+1)*size, n)) })
}

// Arena hands out memory for the arrays of one call, and takes it back. It is for one goroutine. What a call needs beyond the memory
// of the arena comes from Go's heap, and the next call finds an arena with room for all of it.
type Arena struct {
	// Each array starts at a multiple of the size of a pair: gonum adds up numbers in an order that depends on whether an address is a
	// multiple of 16 bytes, so without that the bits of a result would depend on earlier calls.
	pairs      [][2]uint64
	used, most int // pairs handed out: now, and the most so far
}

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
	size := int(unsafe.Sizeof([2]uint64{}))
	pairs := (n*int(unsafe.Sizeof(e)) + size - 1) / size
	if pairs == 0 {
		return []E{}
	}
	first := a.used
	a.used += pairs
	a.most = max(a.most, a.used)
	if first == 0 && a.most > len(a.pairs) {
		a.pairs = make([][2]uint64, a.most)
	}
	room := a.pairs
	if a.used > len(room) {
		room, first = make([][2]uint64, pairs), 0
	}
	return unsafe.Slice((*E)(unsafe.Pointer(&room[first])), n)
}
