package core

import (
	"runtime"
	"sync"
	"sync/atomic"
)

var threadLimit atomic.Int64

// SetThreads limits the threads that one call may use. Zero or less restores
// the default, all that the process may run on. Results do not depend on it.
func SetThreads(n int) { threadLimit.Store(int64(max(n, 0))) }

// Threads returns the number of threads that one call may use.
func Threads() int {
	if n := int(threadLimit.Load()); n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// parallel calls f(0), ..., f(parts-1), several at a time. A panic in one of
// them is raised again in the caller's goroutine, where it can be recovered.
func parallel(parts int, f func(part int)) {
	workers := min(parts, Threads())
	if workers <= 1 {
		for part := range parts {
			f(part)
		}
		return
	}
	var next atomic.Int64
	var failure atomic.Value
	work := func() {
		defer func() {
			if r := recover(); r != nil {
				failure.CompareAndSwap(nil, panicValue{r})
			}
		}()
		for {
			part := int(next.Add(1)) - 1
			if part >= parts {
				return
			}
			f(part)
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			work()
		}()
	}
	work()
	wg.Wait()
	if r := failure.Load(); r != nil {
		panic(r.(panicValue).value)
	}
}

type panicValue struct{ value any }

// free keeps what goroutines of one call have done with, for the next of them.
type free[E any] struct {
	kept chan E
	make func() E
}

func pool[E any](make_ func() E) free[E] { return free[E]{make(chan E, Threads()), make_} }

func (f free[E]) take() E {
	select {
	case e := <-f.kept:
		return e
	default:
		return f.make()
	}
}

func (f free[E]) give(e E) {
	select {
	case f.kept <- e:
	default:
	}
}
