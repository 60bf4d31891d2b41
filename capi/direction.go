package main

/*
#include "failure.h"
*/
import "C"

import (
	"math"
	"sync"
	"unsafe"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/constraint"
)

// count returns a number of labels or categories as an int, where one that is too large is as large as an int can be.
func count(n C.size_t) int { return int(min(uint64(n), math.MaxInt)) }

//export modeStateSize
func modeStateSize(labels, categories C.size_t) C.size_t {
	return C.size_t(constraint.StateSize(count(labels), count(categories)))
}

// steeringOf returns how a constraint acts, but for the size of a batch.
func steeringOf(how *C.mode_constraint) (st constraint.Steering, err error) {
	st = constraint.Steering{
		RelativeStrength: float64(how.relative_strength), Tolerance: float64(how.tolerance), TrainingEvents: float64(how.training_events),
		Logits: how.logits != 0, Categories: int(how.categories),
	}
	if how.state != nil {
		st.State, err = array("state", (*float64)(unsafe.Pointer(how.state)), how.n_state, false)
	}
	return st, err
}

//export modeStateCheck
func modeStateCheck(state *C.double, n, labels, categories C.size_t, failed *C.failure) C.int {
	return guarded(failed, func() error {
		numbers, err := array("state", (*float64)(unsafe.Pointer(state)), n, false)
		if err != nil {
			return err
		}
		return constraint.CheckState(numbers, count(labels), count(categories))
	})
}

// fields are the rows of mode_state_field_at.
var fields = sync.OnceValue(func() (rows []C.mode_state_field) {
	for _, f := range constraint.Layout {
		rows = append(rows, C.mode_state_field{
			struct_size: C.sizeof_mode_state_field, name: C.CString(f.Name), offset: C.size_t(f.At), stride: C.size_t(f.Stride),
			rows: C.size_t(f.Rows), columns: C.size_t(f.Columns),
		})
	}
	return rows
})

//export modeStateField
func modeStateField(k C.size_t, field *C.mode_state_field, failed *C.failure) C.int {
	return guarded(failed, func() error {
		if uint64(k) >= uint64(len(fields())) {
			return argumentError("k = %d, but there are %d fields", uint64(k), len(fields()))
		}
		*field = fields()[k]
		return nil
	})
}

//export modeStateFieldCount
func modeStateFieldCount() C.size_t { return C.size_t(len(fields())) }

func direction[F core.Float](o *C.mode_options, from *C.mode_events_f64, how *C.mode_constraint, found *C.mode_constraint_result, push, multiplier, slope unsafe.Pointer) error {
	in, err := argumentsOf[F](o, from, false)
	if err != nil {
		return err
	}
	st, err := steeringOf(how)
	if err != nil {
		return err
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
	if err := core.CheckApart(append(in.inputs, one("constraint", how)), core.ArrayOf("state", st.State), core.ArrayOf("push", dst),
		core.ArrayOf("multiplier", multipliers), core.ArrayOf("slope", slopes), one("found", found)); err != nil {
		return err
	}
	result, err := constraint.Direction(dst, multipliers, slopes, in.ev, in.cfg, st)
	if err != nil {
		return err
	}
	found.loss, found.bias = C.double(result.Loss), C.double(result.Bias)
	found.events, found.size = C.double(result.Events), C.double(result.Size)
	return nil
}

//export modeConstraintPush
func modeConstraintPush(single C.int, o *C.mode_options, from *C.mode_events_f64, how *C.mode_constraint, found *C.mode_constraint_result, push, multiplier, slope unsafe.Pointer, failed *C.failure) C.int {
	return guarded(failed, func() error {
		if single != 0 {
			return direction[float32](o, from, how, found, push, multiplier, slope)
		}
		return direction[float64](o, from, how, found, push, multiplier, slope)
	})
}
