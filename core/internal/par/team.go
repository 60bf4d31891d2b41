// Package par shares the work of one call among goroutines, and keeps memory between calls.
package par

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

var threadLimit atomic.Int64

// MaxThreads is more than any machine makes use of, and few enough that what a
// call allots to each thread is little.
const MaxThreads = 1 << 10

// SetThreads limits the threads that one call may use. Zero or less restores
// the default, all that the process may run on. Results do not depend on it.
// A limit above 1024 is 1024.
func SetThreads(n int) { threadLimit.Store(int64(min(max(n, 0), MaxThreads))) }

// Threads returns the number of threads that one call may use.
func Threads() int {
	if n := int(threadLimit.Load()); n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// Team is the goroutines that share the work of one call. A call alternates
// between work that is shared and a little that is not; over this, helpers stay
// awake, because to wake one can take as long as the work that it would do.
type Team struct {
	alone   bool // the call is not worth a second goroutine
	now     atomic.Pointer[job]
	helpers atomic.Int64
	over    atomic.Bool
}

// alonePart is a number of events that are not worth a second goroutine, and
// AloneCall one for which a call stays in its own: beside a training, whose
// threads keep the other cores busy, a goroutine may have to wait for one.
const (
	alonePart = 1 << 13
	AloneCall = 1 << 15
)

// PartsFor returns into how many parts to divide the work on n events, and
// leaves it to the caller's goroutine where they are few.
func (t *Team) PartsFor(n int) int {
	t.alone = n < AloneCall
	if t.alone {
		return 1
	}
	return max(1, min(Threads(), n/alonePart))
}

// awake is how long a helper waits for more work before it goes.
const awake = 200 * time.Microsecond

// Run calls f(0), ..., f(parts-1), several at a time. A panic in one of
// them is raised again in the caller's goroutine, where it can be recovered.
func (t *Team) Run(parts int, f func(part int)) {
	workers := min(parts, Threads())
	if workers <= 1 || t.alone {
		for part := range parts {
			f(part)
		}
		return
	}
	j := &job{f: f, parts: int64(parts)}
	j.left.Add(parts)
	t.now.Store(j)
	for t.helpers.Load() < int64(workers-1) {
		t.helpers.Add(1)
		go t.help()
	}
	j.work()
	for deadline := time.Now().Add(awake); j.done.Load() < j.parts && time.Now().Before(deadline); {
		pause()
	}
	j.left.Wait()
	if r := j.failure.Load(); r != nil {
		panic(r.(panicValue).value)
	}
}

// Blocks calls f(lo, hi) for blocks lo..hi-1 of n elements, several at a time: each is of so many but the last.
func (t *Team) Blocks(n, size int, f func(lo, hi int)) {
	t.Run((n+size-1)/size, func(block int) { f(block*size, min((block+1)*size, n)) })
}

// Dismiss ends the call that the team works for.
func (t *Team) Dismiss() { t.over.Store(true) }

func (t *Team) help() {
	defer t.helpers.Add(-1)
	var last *job
	for deadline := time.Now().Add(awake); !t.over.Load() && time.Now().Before(deadline); pause() {
		if j := t.now.Load(); j != last {
			j.work()
			last, deadline = j, time.Now().Add(awake)
		}
	}
}

// job is one call of Run.
type job struct {
	f          func(part int)
	parts      int64
	next, done atomic.Int64
	left       sync.WaitGroup
	failure    atomic.Value
}

// work does parts of the job until none are left to begin.
func (j *job) work() {
	for part := j.next.Add(1) - 1; part < j.parts; part = j.next.Add(1) - 1 {
		j.do(int(part))
	}
}

func (j *job) do(part int) {
	defer func() {
		if r := recover(); r != nil {
			j.failure.CompareAndSwap(nil, panicValue{r})
		}
		j.done.Add(1)
		j.left.Done()
	}()
	j.f(part)
}

type panicValue struct{ value any }

// pause takes some 100 ns by waiting for a few results, which leaves a core's
// units to the other thread that it may run.
func pause() {
	x := pausing.Load()
	y := float64(x)
	for range 8 {
		y = math.Sqrt(y + 1)
	}
	if y < 0 {
		pausing.Store(0)
	}
}

var pausing atomic.Int64 // never changes, which the compiler does not know
