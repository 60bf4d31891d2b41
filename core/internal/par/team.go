package par

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// team has the goroutines of one call beside the caller's. A call has many short pieces of work, and to wake a thread can take longer
// than such a piece. So the goroutines stay awake for a while after each piece: without that, two threads are 10 to 30 % slower at 100,000
// events.
type team struct {
	piece   atomic.Pointer[job] // nil between calls
	helpers atomic.Int64        // the number of the goroutines
}

// awake is the time for which a goroutine polls for its next piece of work before it gives its thread away.
const awake = 200 * time.Microsecond

// Run calls f(0), ..., f(parts-1), several at a time. A panic in f is raised again in the caller's goroutine.
func (sc *Scratch) Run(parts int, f func(part int)) {
	workers := min(parts, Threads())
	if workers <= 1 || sc.Parts == 1 {
		for part := range parts {
			f(part)
		}
		return
	}
	j, t := &job{f: f, parts: int64(parts)}, &sc.team
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

// help does parts of one piece of work after another.
func (t *team) help() {
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
