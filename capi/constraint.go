package main

/*
#include "call.h"
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

func stateSize(c *C.call) error {
	size := constraint.StateSize(count(c.labels), count(c.categories))
	if size == 0 {
		return argumentError("labels = %d and categories = %d: give 1 label or more, and fewer of both", uint64(c.labels), uint64(c.categories))
	}
	return setCount(c, "size", uint64(size))
}

func stateCheck(c *C.call) error {
	numbers, err := array("state", (*float64)(c.array), c.n, false)
	if err != nil {
		return err
	}
	return constraint.CheckState(numbers, count(c.labels), count(c.categories))
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

func fieldCount(c *C.call) error { return setCount(c, "count", uint64(len(fields()))) }

func fieldAt(c *C.call) error {
	if uint64(c.n) >= uint64(len(fields())) {
		return argumentError("k = %d, but there are %d fields", uint64(c.n), len(fields()))
	}
	*(*C.mode_state_field)(c.out) = fields()[c.n]
	return nil
}

// steeringOf returns how a constraint acts, but for the size of a batch.
func steeringOf(c *C.call) (how *C.mode_constraint, st constraint.Steering, err error) {
	how = (*C.mode_constraint)(c.how)
	st = constraint.Steering{
		RelativeStrength: float64(how.relative_strength), Tolerance: float64(how.tolerance), TrainingEvents: float64(how.training_events),
		Logits: how.logits != 0, Categories: int(how.categories),
	}
	if how.state != nil {
		st.State, err = array("state", (*float64)(unsafe.Pointer(how.state)), how.n_state, false)
	}
	return how, st, err
}

func push[F core.Float](c *C.call) error {
	out := (*C.mode_constraint_result_f64)(c.out)
	in, err := argumentsOf[F](c, false)
	if err != nil {
		return err
	}
	how, st, err := steeringOf(c)
	if err != nil {
		return err
	}
	if how.batch > in.n {
		return argumentError("batch = %d is more than the n = %d events", uint64(how.batch), uint64(in.n))
	}
	pushed := in.n
	if how.batch > 0 {
		pushed, st.Batch = how.batch, int(how.batch)
	}
	var arrays [3][]F
	all := []core.Array{core.ArrayOf("state", st.State)}
	for k, of := range [...]struct {
		name string
		at   *C.double
	}{{"push", out.push}, {"multiplier", out.multiplier}, {"slope", out.slope}} {
		if arrays[k], err = array(of.name, (*F)(unsafe.Pointer(of.at)), pushed, k > 1); err != nil {
			return err
		}
		all = append(all, core.ArrayOf(of.name, arrays[k]))
	}
	if err := core.CheckApart(append(in.inputs, one("constraint", how)), append(all, one("result", out))...); err != nil {
		return err
	}
	found, err := constraint.Direction(arrays[0], arrays[1], arrays[2], in.ev, in.cfg, st)
	if err != nil {
		return err
	}
	out.loss, out.bias = C.double(found.Loss), C.double(found.Bias)
	out.events, out.size = C.double(found.Events), C.double(found.Size)
	return nil
}

func verdict(c *C.call) error {
	out := (*C.mode_verdict)(c.out)
	cfg, err := configOf(c.options)
	if err != nil {
		return err
	}
	_, st, err := steeringOf(c)
	if err != nil {
		return err
	}
	v, err := constraint.Judge(cfg, st)
	if err != nil {
		return err
	}
	out.flat, out.label, out.category, out.worst = C.int32_t(v.Answer), C.int32_t(v.Label), C.int32_t(v.Category), C.int32_t(v.Worst)
	out.batches, out.events, out.tolerance = C.double(v.Batches), C.double(v.Events), C.double(v.Tolerance)
	out.limit, out.zero, out.zero_at = C.double(v.Limit), C.double(v.Zero), C.double(v.ZeroAt)
	out.peak, out.peak_at = C.double(v.Peak), C.double(v.PeakAt)
	out.slope, out.slope_at = C.double(v.Slope), C.double(v.SlopeAt)
	out.turn, out.turn_at = C.double(v.Turn), C.double(v.TurnAt)
	for _, table := range []struct {
		to   *C.double
		from []float64
	}{
		{&out.efficiency[0], v.Efficiency[:]}, {&out.errors[0], v.Errors[:]}, {&out.doubt[0], v.Doubt[:]},
		{&out.height[0], v.Height[:]}, {&out.mass[0], v.Mass[:]},
	} {
		copy(unsafe.Slice((*float64)(table.to), len(table.from)), table.from)
	}
	return nil
}
