// Package par shares the work of one call among goroutines, and keeps memory between calls.
package par

import (
	"runtime"
	"sync"
	"sync/atomic"
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

// Team runs the shared work of one call.
type Team struct {
	alone bool // the call has too few events for a second goroutine
}

// A part of fewer events than alonePart does not pay for a goroutine. A call with fewer events than AloneCall stays in its
// own goroutine: beside a training, whose threads keep the other cores busy, it might wait for another one.
const (
	alonePart = 1 << 13
	AloneCall = 1 << 15
)

// PartsFor returns the number of parts for the work on n events. If they are few, all work stays in the caller's goroutine.
func (t *Team) PartsFor(n int) int {
	t.alone = n < AloneCall
	if t.alone {
		return 1
	}
	return max(1, min(Threads(), n/alonePart))
}

// Run calls f(0), ..., f(parts-1), several at a time. A panic in f is raised again in the caller's goroutine.
func (t *Team) Run(parts int, f func(part int)) {
	workers := min(parts, Threads())
	if workers <= 1 || t.alone {
		for part := range parts {
			f(part)
		}
		return
	}
	var next atomic.Int64
	var failure atomic.Pointer[any]
	work := func() {
		defer func() {
			if r := recover(); r != nil {
				failure.CompareAndSwap(nil, &r)
			}
		}()
		for part := int(next.Add(1)) - 1; part < parts; part = int(next.Add(1)) - 1 {
			f(part)
		}
	}
	var helpers sync.WaitGroup
	helpers.Add(workers - 1)
	for range workers - 1 {
		go func() {
			defer helpers.Done()
			work()
		}()
	}
	work()
	helpers.Wait()
	if r := failure.Load(); r != nil {
		panic(*r)
	}
}

// Blocks calls f(lo, hi) for blocks lo..hi-1 of n elements, several at a time. All blocks but the last have size elements.
func (t *Team) Blocks(n, size int, f func(lo, hi int)) {
	t.Run((n+size-1)/size, func(block int) { f(block*size, min((block+1)*size, n)) })
}
