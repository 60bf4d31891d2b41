package main

/*
#include "call.h"
*/
import "C"

import (
	"math"
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

// rowsOf returns the rows of n events with the lesson, and the memory of all of them.
func rowsOf[F core.Float](of *C.mode_rows_f64, n, lengthOfLesson C.size_t) (rows constraint.Rows[F], lesson []float64, all []core.Array, err error) {
	for _, row := range []struct {
		name string
		at   *C.double
		to   *[]F
	}{{"push", of.push, &rows.Push}, {"multiplier", of.multiplier, &rows.Multiplier}, {"slope", of.slope, &rows.Slope}, {"part", of.part, &rows.Part}} {
		if *row.to, err = array(row.name, (*F)(unsafe.Pointer(row.at)), n, false); err != nil {
			return rows, nil, nil, err
		}
		all = append(all, core.ArrayOf(row.name, *row.to))
	}
	lesson, err = array("lesson", (*float64)(of.lesson), lengthOfLesson, false)
	return rows, lesson, append(all, core.ArrayOf("lesson", lesson), one("rows", of)), err
}

func push[F core.Float](c *C.call) error {
	in, err := argumentsOf[F](c, false)
	if err != nil {
		return err
	}
	how := (*C.mode_constraint)(c.how)
	if how.batch > in.n {
		return argumentError("batch = %d is more than the n = %d events", uint64(how.batch), uint64(in.n))
	}
	st := constraint.Steering{
		Strength: float64(how.strength), Floor: float64(how.floor), TrainingEvents: float64(how.training_events),
		Batch: int(how.batch), Logits: how.logits != 0, Categories: int(how.categories),
	}
	if how.state != nil {
		if st.State, err = array("state", (*float64)(unsafe.Pointer(how.state)), how.n_state, false); err != nil {
			return err
		}
	}
	pushed := in.n
	if how.batch > 0 {
		pushed = how.batch
	}
	rows, lesson, all, err := rowsOf[F]((*C.mode_rows_f64)(c.out), pushed, how.n_state)
	if err != nil {
		return err
	}
	if err := core.CheckApart(append(in.inputs, one("constraint", how), core.ArrayOf("state", st.State)), all...); err != nil {
		return err
	}
	return constraint.Direction(rows, lesson, in.ev, in.cfg, st)
}

func apply[F core.Float](c *C.call) error {
	rows, lesson, all, err := rowsOf[F]((*C.mode_rows_f64)(c.out), c.n, c.n_state)
	if err != nil {
		return err
	}
	gradient, err := array("gradient", (*F)(c.array), c.n, c.result == nil)
	if err != nil {
		return err
	}
	result, err := array("result", (*F)(c.result), c.n, c.array == nil)
	if err != nil {
		return err
	}
	state, err := array("state", (*float64)(unsafe.Pointer(c.number)), c.n_state, true)
	if err != nil {
		return err
	}
	var norms []float64
	if c.norms != nil {
		if norms, err = array("norms", (*float64)(c.norms), C.size_t(constraint.Parts(len(lesson))), false); err != nil {
			return err
		}
	}
	outputs := []core.Array{core.ArrayOf("state", state)}
	if c.result != c.array {
		outputs, all = append(outputs, core.ArrayOf("result", result)), append(all, core.ArrayOf("gradient", gradient))
	}
	if err := core.CheckApart(append(all, core.ArrayOf("gradient", gradient)), outputs...); err != nil {
		return err
	}
	return constraint.Apply(result, gradient, rows, lesson, state, norms)
}
