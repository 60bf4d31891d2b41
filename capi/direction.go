package main

/*
#include "mode.h"
*/
import "C"

import (
	"unsafe"

	"github.com/libmode/libmode/core"
)

//export modeDirectionSize
func modeDirectionSize(variables, labels C.size_t) C.size_t {
	if variables < 1 || variables > core.MaxVariables || labels < 1 {
		return 0
	}
	return C.size_t(core.DirectionSize(int(variables), int(labels)))
}

func direction[F core.Float](o *C.mode_options, from *C.mode_events, how *C.mode_steering, found *C.mode_pushed, push unsafe.Pointer, residual *C.double, message messageBuffer) error {
	if found == nil {
		return argumentError("found is NULL: there is nowhere to put the result")
	}
	ev, cfg, err := arguments[F](o, from, false)
	if err != nil {
		return err
	}
	st := core.Steering{
		Norm: float64(how.norm), Rate: float64(how.rate), Factor: float64(how.factor), Logits: how.logits != 0,
	}
	if how.batch > from.n {
		return argumentError("batch = %d is more than the n = %d events", uint64(how.batch), uint64(from.n))
	}
	st.Batch = int(how.batch)
	if how.sum != nil {
		if st.Sum, err = array("sum", (*float64)(unsafe.Pointer(how.sum)), how.n_sum, false); err != nil {
			return err
		}
	}
	pushed := from.n
	if how.batch > 0 {
		pushed = how.batch
	}
	out, err := array("push", (*F)(push), pushed, false)
	if err != nil {
		return err
	}
	result, err := core.Direction(out, ev, cfg.WithWarnings(message.write), st)
	if err != nil {
		return err
	}
	if residual != nil {
		copy(unsafe.Slice((*float64)(unsafe.Pointer(residual)), len(result.Residual)), result.Residual)
	}
	*found = C.mode_pushed{
		loss: C.double(result.Loss), bias: C.double(result.Bias), events: C.double(result.Events),
		norm: C.double(result.Norm), spread: C.double(result.Spread), moved: C.size_t(result.Moved),
	}
	return nil
}

//export modeDirection
func modeDirection(single C.int, o *C.mode_options, from *C.mode_events, how *C.mode_steering, found *C.mode_pushed, push unsafe.Pointer, residual *C.double, text *C.char, capacity C.size_t) C.int {
	return guarded(text, capacity, func(message messageBuffer) error {
		if single != 0 {
			return direction[float32](o, from, how, found, push, residual, message)
		}
		return direction[float64](o, from, how, found, push, residual, message)
	})
}
