package main

/*
#include "mode.h"
*/
import "C"

import (
	"math"
	"unsafe"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/constraint"
)

//export modeStateSize
func modeStateSize(labels C.size_t) C.size_t {
	if labels > math.MaxInt {
		return 0
	}
	return C.size_t(constraint.StateSize(int(labels)))
}

func direction[F core.Float](o *C.mode_options, from *C.mode_events_f64, how *C.mode_steering, found *C.mode_pushed, push, multiplier, slope unsafe.Pointer) error {
	ev, cfg, err := arguments[F](o, from, false)
	if err != nil {
		return err
	}
	st := constraint.Steering{
		RelativeStrength: float64(how.relative_strength), Tolerance: float64(how.tolerance), Logits: how.logits != 0,
	}
	if how.state != nil {
		if st.State, err = array("state", (*float64)(unsafe.Pointer(how.state)), how.n_state, false); err != nil {
			return err
		}
	}
	if how.batch > from.n {
		return argumentError("batch = %d is more than the n = %d events", uint64(how.batch), uint64(from.n))
	}
	pushed := from.n
	if how.batch > 0 {
		pushed, st.Batch = how.batch, int(how.batch)
	}
	dst, err := array("push", (*F)(push), pushed, false)
	if err != nil {
		return err
	}
	multipliers, err := array("multiplier", (*F)(multiplier), pushed, false)
	if err != nil {
		return err
	}
	var slopes []F
	if slope != nil {
		slopes = unsafe.Slice((*F)(slope), len(dst))
	}
	if err := apart(inputs(ev), regionOf("push", dst), regionOf("multiplier", multipliers), regionOf("slope", slopes)); err != nil {
		return err
	}
	result, err := constraint.Direction(dst, multipliers, slopes, ev, cfg, st)
	if err != nil {
		return err
	}
	found.loss, found.bias = C.double(result.Loss), C.double(result.Bias)
	found.events, found.size = C.double(result.Events), C.double(result.Size)
	return nil
}

//export modeDirection
func modeDirection(single C.int, o *C.mode_options, from *C.mode_events_f64, how *C.mode_steering, found *C.mode_pushed, push, multiplier, slope unsafe.Pointer, text *C.char, capacity C.size_t) C.int {
	return guarded(text, capacity, func() error {
		if single != 0 {
			return direction[float32](o, from, how, found, push, multiplier, slope)
		}
		return direction[float64](o, from, how, found, push, multiplier, slope)
	})
}
