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

// state returns the numbers of a state for the options of a handle.
func (h *handle) state(name string, p *C.double, optional bool) ([]float64, error) {
	size, err := h.stateSize()
	if err != nil {
		return nil, err
	}
	return array[float64](name, unsafe.Pointer(p), size, optional)
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
		numbers, err := h.state("state", state, false)
		if err != nil {
			return err
		}
		return constraint.CheckState(numbers, len(h.cfg.BackgroundLabel), h.cfg.Categories)
	})
}

//export modePush
func modePush(m C.uintptr_t, events *C.mode_events, state *C.double, gradIn, gradOut unsafe.Pointer, failed *C.failure) C.int {
	return guarded(failed, func() error {
		h, err := find(m)
		if err := cmp.Or(err, checkSize("events", events)); err != nil {
			return err
		}
		of, err := ofType(events.dtype, push[float32], push[float64])
		if err != nil {
			return err
		}
		return of(h, events, state, gradIn, gradOut)
	})
}

// push is the law: it finds the rows of a batch, and applies them to a gradient.
func push[F core.Float](h *handle, from *C.mode_events, statePointer *C.double, gradIn, gradOut unsafe.Pointer) error {
	ev, err := eventsOf[F](from, false)
	if err != nil {
		return err
	}
	state, err := h.state("state", statePointer, true)
	if err != nil {
		return err
	}
	gradient, result, err := gradients[F](ev.batch, gradIn, gradOut)
	if err != nil {
		return err
	}
	if err := checkGradients(ev.inputs, gradient, result, memoryOf("state", state)); err != nil {
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

// gradients returns a gradient of n numbers and where the push adds to it: both, or neither.
func gradients[F core.Float](n int, gradIn, gradOut unsafe.Pointer) (gradient, result []F, err error) {
	if gradient, err = array[F]("grad_in", gradIn, C.size_t(n), gradOut == nil); err != nil {
		return nil, nil, err
	}
	result, err = array[F]("grad_out", gradOut, C.size_t(n), gradIn == nil)
	return gradient, result, err
}

// checkGradients returns an error if the result or the state overlap other memory of a call. The result may be the gradient.
func checkGradients[F core.Float](inputs []memory, gradient, result []F, state memory) error {
	if unsafe.SliceData(gradient) == unsafe.SliceData(result) {
		return checkApart(inputs, state, memoryOf("grad_out", result))
	}
	return checkApart(append(inputs, memoryOf("grad_in", gradient)), state, memoryOf("grad_out", result))
}

// rowsOf returns four rows that are one after the other in memory.
func rowsOf[F core.Float](all []F) constraint.Rows[F] {
	n := len(all) / 4
	return constraint.Rows[F]{Push: all[:n], Multiplier: all[n : 2*n], Slope: all[2*n : 3*n], Part: all[3*n:]}
}

//export modePushRows
func modePushRows(m C.uintptr_t, events *C.mode_events, state *C.double, rows unsafe.Pointer, lesson *C.double, failed *C.failure) C.int {
	return guarded(failed, func() error {
		h, err := find(m)
		if err := cmp.Or(err, checkSize("events", events)); err != nil {
			return err
		}
		of, err := ofType(events.dtype, pushRows[float32], pushRows[float64])
		if err != nil {
			return err
		}
		return of(h, events, state, rows, lesson)
	})
}

func pushRows[F core.Float](h *handle, from *C.mode_events, statePointer *C.double, rowsPointer unsafe.Pointer, lessonPointer *C.double) error {
	ev, err := eventsOf[F](from, false)
	if err != nil {
		return err
	}
	state, err := h.state("state", statePointer, true)
	if err != nil {
		return err
	}
	lesson, err := h.state("lesson", lessonPointer, false)
	if err != nil {
		return err
	}
	all, err := array[F]("rows", rowsPointer, C.size_t(4*ev.batch), false)
	if err != nil {
		return err
	}
	if err := checkApart(append(ev.inputs, memoryOf("state", state)), memoryOf("rows", all), memoryOf("lesson", lesson)); err != nil {
		return err
	}
	return constraint.Direction(rowsOf(all), lesson, ev.Events, h.cfg, constraint.Steering{State: state, Batch: ev.batch})
}

//export modePushApply
func modePushApply(n C.size_t, dtype C.int32_t, rows unsafe.Pointer, lesson *C.double, nState C.size_t, gradient, result unsafe.Pointer, state, norms *C.double, failed *C.failure) C.int {
	return guarded(failed, func() error {
		of, err := ofType(dtype, apply[float32], apply[float64])
		if err != nil {
			return err
		}
		return of(n, rows, lesson, nState, gradient, result, state, norms)
	})
}

func apply[F core.Float](n C.size_t, rowsPointer unsafe.Pointer, lessonPointer *C.double, nState C.size_t, gradIn, gradOut unsafe.Pointer, statePointer, normsPointer *C.double) error {
	if n > maxEvents/4 {
		return argumentError("n = %d events are more than rows can have", uint64(n))
	}
	all, err := array[F]("rows", rowsPointer, 4*n, false)
	if err != nil {
		return err
	}
	lesson, err := array[float64]("lesson", unsafe.Pointer(lessonPointer), nState, false)
	if err != nil {
		return err
	}
	state, err := array[float64]("state", unsafe.Pointer(statePointer), nState, true)
	if err != nil {
		return err
	}
	norms, err := array[float64]("norms", unsafe.Pointer(normsPointer), C.size_t(constraint.Parts(len(lesson))), true)
	if err != nil {
		return err
	}
	gradient, result, err := gradients[F](int(n), gradIn, gradOut)
	if err != nil {
		return err
	}
	inputs := []memory{memoryOf("rows", all), memoryOf("lesson", lesson), memoryOf("norms", norms)}
	if err := checkGradients(inputs, gradient, result, memoryOf("state", state)); err != nil {
		return err
	}
	return constraint.Apply(result, gradient, rowsOf(all), lesson, state, norms)
}
