// Package par shares the work of one call among goroutines, and keeps memory between calls.
package par

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
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

// Team runs the shared work of one call. A call has many short pieces of shared work, and waking a thread can take longer
// than such a piece. So the team's goroutines stay awake for a while after each piece.
type Team struct {
	Parts   int                 // into which the events of the next work are divided; 1: too few for a second goroutine
	piece   atomic.Pointer[job] // nil between calls
	helpers atomic.Int64        // goroutines beside the caller's
}

// awake is how long a goroutine polls for its next piece of work before it gives its thread away.
const awake = 200 * time.Microsecond

// A part of fewer events than alonePart does not pay for a goroutine. A call with fewer events than AloneCall stays in its
// own goroutine: in a training, whose threads keep the other cores busy, it might wait for another one.
const (
	alonePart = 1 << 13
	AloneCall = 1 << 15
)

// Expect says that the next work is on n events, and sets the number of their parts. If they are few, all work stays in the caller's
// goroutine.
func (t *Team) Expect(n int) {
	if t.Parts = 1; n >= AloneCall {
		t.Parts = max(1, min(Threads(), n/alonePart))
	}
}

// Run calls f(0), ..., f(parts-1), several at a time. A panic in f is raised again in the caller's goroutine.
func (t *Team) Run(parts int, f func(part int)) {
	workers := min(parts, Threads())
	if workers <= 1 || t.Parts == 1 {
		for part := range parts {
			f(part)
		}
		return
	}
	j := &job{f: f, parts: int64(parts)}
	j.unfinished.Add(parts)
	t.piece.Store(j)
	for t.helpers.Load() < int64(workers-1) {
		t.helpers.Add(1)
		go t.help()
	}
	j.work()
	poll(func() bool { return j.done.Load() == j.parts })
	j.unfinished.Wait()
	if r := j.failure.Load(); r != nil {
		panic(*r)
	}
}

// Dismiss ends the call. The helpers go as soon as they see it.
func (t *Team) Dismiss() { t.piece.Store(nil) }

// help does parts of one piece of work after another.
func (t *Team) help() {
	defer t.helpers.Add(-1)
	for j := t.piece.Load(); j != nil; j = t.piece.Load() {
		j.work()
		if !poll(func() bool { return t.piece.Load() != j }) {
			return
		}
	}
}

// poll waits until ready, but not longer than awake, and returns the last value of ready.
func poll(ready func() bool) bool {
	for deadline := time.Now().Add(awake); !ready(); runtime.Gosched() {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// Blocks calls f(lo, hi) for blocks lo..hi-1 of n elements, several at a time. All blocks but the last have size elements.
func (t *Team) Blocks(n, size int, f func(lo, hi int)) {
	if 0 < n && n <= size { // a function for Run would take memory
		f(0, n)
		return
	}
	t.Run((n+size-1)/size, func(block int) { f(block*size, min((block+1)*size, n)) })
}

// job is one call of Run.
type job struct {
	f          func(part int)
	parts      int64
	next, done atomic.Int64
	unfinished sync.WaitGroup
	failure    atomic.Pointer[any]
}

// work does parts of the job until none is left to begin.
func (j *job) work() {
	for part := j.next.Add(1) - 1; part < j.parts; part = j.next.Add(1) - 1 {
		j.do(int(part))
	}
}

func (j *job) do(part int) {
	defer func() {
		if r := recover(); r != nil {
			raised := any(r) // a copy, so that only a panic allocates
			j.failure.CompareAndSwap(nil, &raised)
		}
		j.done.Add(1)
		j.unfinished.Done()
	}()
	j.f(part)
}
