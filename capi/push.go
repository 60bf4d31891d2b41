package main

/*
#include "call.h"
*/
import "C"

import (
	"cmp"
	"unsafe"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/constraint"
)

// stateSize returns the length of a state for the options of a handle.
func (h *handle) stateSize() (C.size_t, error) {
	size := constraint.StateSize(len(h.cfg.BackgroundLabel), h.cfg.Categories)
	if size == 0 {
		return 0, argumentError("categories = %d: a state for so many has no room in memory", h.cfg.Categories)
	}
	return C.size_t(size), nil
}

// state returns the numbers of a state for the options of a handle, unless there was an error before.
func (h *handle) state(err *error, name string, p *C.double, optional bool) []float64 {
	size, tooMany := h.stateSize()
	*err = cmp.Or(*err, tooMany)
	return array[float64](err, name, unsafe.Pointer(p), size, optional)
}

//export modeStateSize
func modeStateSize(m C.uintptr_t, failed *C.failure) (size C.size_t) {
	guarded(failed, func() error {
		h, err := find(m)
		if err == nil {
			size, err = h.stateSize()
		}
		return err
	})
	return size
}

//export modeStateCheck
func modeStateCheck(m C.uintptr_t, state *C.double, failed *C.failure) C.int {
	return guarded(failed, func() error {
		h, err := find(m)
		if err != nil {
			return err
		}
		numbers := h.state(&err, "state", state, false)
		if err != nil {
			return err
		}
		return constraint.CheckState(numbers, len(h.cfg.BackgroundLabel), h.cfg.Categories)
	})
}

//export modePush
func modePush(m C.uintptr_t, events *C.mode_events, state *C.double, gradIn, gradOut unsafe.Pointer, failed *C.failure) C.int {
	return ofEvents(failed, m, events, nil,
		func(h *handle) error { return push[float32](h, events, state, gradIn, gradOut) },
		func(h *handle) error { return push[float64](h, events, state, gradIn, gradOut) })
}

// push is the law: it finds the rows of a batch, and applies them to a gradient.
func push[F core.Float](h *handle, from *C.mode_events, statePointer *C.double, gradIn, gradOut unsafe.Pointer) error {
	ev, err := eventsOf[F](from, false)
	state := h.state(&err, "state", statePointer, true)
	gradient, result := gradients[F](&err, ev.batch, gradIn, gradOut, ev.inputs, memoryOf("state", state))
	if err != nil {
		return err
	}
	size, err := h.stateSize()
	if err != nil {
		return err
	}
	rows, lesson := rowsOf(make([]F, 4*ev.batch)), make([]float64, size)
	if err := constraint.Direction(rows, lesson, ev.Events, h.cfg, constraint.Steering{State: state, Batch: ev.batch}); err != nil {
		return err
	}
	return constraint.Apply(result, gradient, rows, lesson, state, nil)
}

// gradients returns a gradient of n numbers and where the push adds to it: both, or neither. The result may be the gradient, and
// shares no other memory of the call.
func gradients[F core.Float](err *error, n int, gradIn, gradOut unsafe.Pointer, inputs []memory, state memory) (gradient, result []F) {
	gradient = array[F](err, "grad_in", gradIn, C.size_t(n), gradOut == nil)
	result = array[F](err, "grad_out", gradOut, C.size_t(n), gradIn == nil)
	given := memoryOf("grad_in", gradient)
	if gradIn == gradOut {
		given.high = given.low
	}
	if *err == nil {
		*err = checkApart(append(inputs, given), state, memoryOf("grad_out", result))
	}
	return gradient, result
}

// rowsOf returns four rows that are one after the other in memory.
func rowsOf[F core.Float](all []F) constraint.Rows[F] {
	n := len(all) / 4
	return constraint.Rows[F]{Push: all[:n], Multiplier: all[n : 2*n], Slope: all[2*n : 3*n], Part: all[3*n:]}
}

//export modePushRows
func modePushRows(m C.uintptr_t, events *C.mode_events, state *C.double, rows unsafe.Pointer, lesson *C.double, failed *C.failure) C.int {
	return ofEvents(failed, m, events, nil,
		func(h *handle) error { return pushRows[float32](h, events, state, rows, lesson) },
		func(h *handle) error { return pushRows[float64](h, events, state, rows, lesson) })
}

func pushRows[F core.Float](h *handle, from *C.mode_events, statePointer *C.double, rowsPointer unsafe.Pointer, lessonPointer *C.double) error {
	ev, err := eventsOf[F](from, false)
	state := h.state(&err, "state", statePointer, true)
	lesson := h.state(&err, "lesson", lessonPointer, false)
	all := array[F](&err, "rows", rowsPointer, C.size_t(4*ev.batch), false)
	if err == nil {
		err = checkApart(append(ev.inputs, memoryOf("state", state)), memoryOf("rows", all), memoryOf("lesson", lesson))
	}
	if err != nil {
		return err
	}
	return constraint.Direction(rowsOf(all), lesson, ev.Events, h.cfg, constraint.Steering{State: state, Batch: ev.batch})
}

//export modePushApply
func modePushApply(n C.size_t, dtype C.int32_t, rows unsafe.Pointer, lesson *C.double, nState C.size_t, gradient, result unsafe.Pointer, state, norms *C.double, failed *C.failure) C.int {
	return guarded(failed, func() error {
		return ofType(dtype,
			func() error { return apply[float32](n, rows, lesson, nState, gradient, result, state, norms) },
			func() error { return apply[float64](n, rows, lesson, nState, gradient, result, state, norms) })
	})
}

func apply[F core.Float](n C.size_t, rowsPointer unsafe.Pointer, lessonPointer *C.double, nState C.size_t, gradIn, gradOut unsafe.Pointer, statePointer, normsPointer *C.double) (err error) {
	if n > maxEvents/4 {
		return argumentError("n = %d events are more than rows can have", uint64(n))
	}
	all := array[F](&err, "rows", rowsPointer, 4*n, false)
	lesson := array[float64](&err, "lesson", unsafe.Pointer(lessonPointer), nState, false)
	state := array[float64](&err, "state", unsafe.Pointer(statePointer), nState, true)
	norms := array[float64](&err, "norms", unsafe.Pointer(normsPointer), C.size_t(constraint.Parts(len(lesson))), true)
	inputs := []memory{memoryOf("rows", all), memoryOf("lesson", lesson), memoryOf("norms", norms)}
	gradient, result := gradients[F](&err, int(n), gradIn, gradOut, inputs, memoryOf("state", state))
	if err != nil {
		return err
	}
	return constraint.Apply(result, gradient, rowsOf(all), lesson, state, norms)
}
