// Package main is libmode.so: the functions of include/mode.h over package core. mode.c holds the public, const-correct functions, and
// calls those that are exported here. exports.go turns errors into status codes, handle.go looks up handles, events.go turns pointers
// into slices, and the other files have the calls.
package main

/*
#cgo CFLAGS: -I${SRCDIR}/../include -std=gnu99 -Wall -Wextra -DMODE_BUILDING
#cgo LDFLAGS: -pthread
#cgo linux LDFLAGS: -Wl,--wrap=x_cgo_sys_thread_create
#include "call.h"
*/
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/libmode/libmode/core"
)

func main() {}

var statuses = []struct {
	kind   error
	status C.int
}{
	{core.ErrOption, C.MODE_ERROR_OPTION},
	{core.ErrLength, C.MODE_ERROR_ARGUMENT},
	{core.ErrNotFinite, C.MODE_ERROR_NOT_FINITE},
	{core.ErrScoreRange, C.MODE_ERROR_SCORE_RANGE},
	{core.ErrNoEvents, C.MODE_ERROR_TOO_FEW},
	{core.ErrBin, C.MODE_ERROR_BIN},
	{core.ErrOverflow, C.MODE_ERROR_OVERFLOW},
	{core.ErrUndefined, C.MODE_ERROR_UNDEFINED},
}

func statusOf(err error) C.int {
	for _, s := range statuses {
		if errors.Is(err, s.kind) {
			return s.status
		}
	}
	return C.MODE_ERROR_INTERNAL
}

// guarded runs f and returns its status, since no panic may reach C. An error and its parts go to the calling thread's memory,
// in mode.c.
func guarded(failed *C.failure, f func() error) (status C.int) {
	report := func(err error) C.int {
		text, parts := unsafe.Slice((*byte)(unsafe.Pointer(&failed.text)), int(C.MESSAGE_SIZE)), core.FieldsOf(err)
		n := copy(text[:len(text)-1], err.Error())
		text[n] = 0
		failed.parts = C.mode_error{
			status: C.int32_t(statusOf(err)), advice: C.int32_t(parts.Advice), place: C.int64_t(parts.Place),
			name_at: C.size_t(parts.NameAt), name_end: C.size_t(parts.NameEnd), advice_at: C.size_t(min(parts.AdviceAt, n)),
		}
		return C.int(failed.parts.status)
	}
	defer func() {
		if r := recover(); r != nil {
			status = report(fmt.Errorf("defect in libmode, please report it: %v", r))
		}
	}()
	if err := f(); err != nil {
		return report(err)
	}
	return C.MODE_OK
}

func argumentError(format string, args ...any) error {
	return fmt.Errorf(format+"%w", append(args, quiet{core.ErrLength})...)
}

// quiet wraps a sentinel without adding to the message.
type quiet struct{ error }

func (quiet) Error() string   { return "" }
func (q quiet) Unwrap() error { return q.error }

const maxEvents = math.MaxUint32

// array returns the n elements at p, unless there was an error before. NULL is an error unless optional.
func array[E any](err *error, name string, p unsafe.Pointer, n C.size_t, optional bool) []E {
	switch {
	case *err != nil:
	case uint64(n) > maxEvents:
		*err = argumentError("%s: %d elements are more than the %d that one call can take", name, uint64(n), uint64(maxEvents))
	case p != nil:
		return unsafe.Slice((*E)(p), int(n))
	case n > 0 && !optional:
		*err = argumentError("%s is NULL, but %d elements are expected", name, uint64(n))
	}
	return nil
}

// checkSize returns an error unless a struct of the caller is there, and begins with its size.
func checkSize[S any](name string, s *S) error {
	if s == nil {
		return argumentError("%s is NULL", name)
	}
	if size, want := *(*C.size_t)(unsafe.Pointer(s)), unsafe.Sizeof(*s); uint64(size) != uint64(want) {
		return argumentError("%s.size = %d, but the struct has %d bytes in this library (%s): set the struct to 0, and size to "+
			"sizeof(mode_%s), and compile against the header of the library in use", name, uint64(size), want, C.MODE_VERSION, name)
	}
	return nil
}

// ofType calls the function for the type of the numbers.
func ofType(dtype C.int32_t, single, double func() error) error {
	switch dtype {
	case C.MODE_FLOAT32:
		return single()
	case C.MODE_FLOAT64:
		return double()
	}
	return argumentError("dtype = %d: must be MODE_FLOAT32 or MODE_FLOAT64", int(dtype))
}

// ofEvents calls the function for the type of the events, with the handle of a number, unless there was an error before.
func ofEvents(failed *C.failure, m C.uintptr_t, events *C.mode_events, err error, single, double func(*handle) error) C.int {
	return guarded(failed, func() error {
		h, unknown := find(m)
		if err := cmp.Or(unknown, checkSize("events", events), err); err != nil {
			return err
		}
		return ofType(events.dtype, func() error { return single(h) }, func() error { return double(h) })
	})
}

//export modeSetThreads
func modeSetThreads(n C.int) { core.SetThreads(int(n)) }

//export modeThreads
func modeThreads() C.int { return C.int(core.Threads()) }
