package main

/*
#include "call.h"
*/
import "C"

import (
	"cmp"
	"unsafe"

	"github.com/libmode/libmode/core"
)

// given has the events of a call, and the memory of the caller that no output may overlap.
type given[F core.Float] struct {
	core.Events[F]
	n, batch int
	inputs   []memory
}

// eventsOf returns the events of a call. Scores may be NULL if the call does not read them.
func eventsOf[F core.Float](from *C.mode_events, withoutScore bool) (ev given[F], err error) {
	n, d := from.n, max(1, int(from.n_mass))
	switch {
	case from.batch > n:
		return ev, argumentError("batch = %d is more than the n = %d events", uint64(from.batch), uint64(n))
	case from.n_mass < 0 || d > core.MaxVariables:
		return ev, argumentError("n_mass = %d: mass has 1 to %d variables", int(from.n_mass), core.MaxVariables)
	case from.category != nil && (from.category_type == C.MODE_FLOAT32 || from.category_type == C.MODE_FLOAT64):
		return ev, argumentError("category_type = %d: categories are integers", int(from.category_type))
	}
	ev.n, ev.batch = int(n), cmp.Or(int(from.batch), int(n))
	ev.Score = array[F](&err, "score", from.score, n, withoutScore)
	ev.Mass = array[F](&err, "mass", from.mass, n, false)
	ev.Weight = array[F](&err, "weight", from.weight, n, true)
	ev.inputs = []memory{one("events", from), memoryOf("score", ev.Score), memoryOf("weight", ev.Weight)}
	ev.Label = labels(&err, &ev.inputs, "label", n, from.label, from.label_type)
	ev.Category = labels(&err, &ev.inputs, "category", n, from.category, from.category_type)
	if d > 1 && err == nil {
		all := unsafe.Slice(unsafe.SliceData(ev.Mass), d*ev.n)
		for k := range d {
			ev.Masses = append(ev.Masses, all[k*ev.n:][:ev.n])
		}
		ev.Mass = nil
	}
	for _, mass := range ev.Variables() {
		ev.inputs = append(ev.inputs, memoryOf("mass", mass))
	}
	return ev, err
}

// labels returns the n labels or categories at p, which are of a type of mode.h; NULL: none. It adds their memory to the inputs.
func labels(err *error, inputs *[]memory, name string, n C.size_t, p unsafe.Pointer, labelType C.int32_t) core.LabelSlice {
	if p == nil {
		return nil
	}
	switch labelType {
	case C.MODE_INT32:
		return labelsOf[int32](err, inputs, name, n, p)
	case C.MODE_INT8:
		return labelsOf[int8](err, inputs, name, n, p)
	case C.MODE_UINT8:
		return labelsOf[uint8](err, inputs, name, n, p)
	case C.MODE_INT64:
		return labelsOf[int64](err, inputs, name, n, p)
	case C.MODE_FLOAT32:
		return labelsOf[float32](err, inputs, name, n, p)
	case C.MODE_FLOAT64:
		return labelsOf[float64](err, inputs, name, n, p)
	}
	*err = cmp.Or(*err, argumentError("%s_type = %d: must be one of MODE_INT32, MODE_FLOAT32, MODE_FLOAT64, MODE_INT64, MODE_INT8, MODE_UINT8",
		name, int(labelType)))
	return nil
}

func labelsOf[L core.Label](err *error, inputs *[]memory, name string, n C.size_t, p unsafe.Pointer) core.LabelSlice {
	given := array[L](err, name, p, n, true)
	*inputs = append(*inputs, memoryOf(name, given))
	return core.LabelsOf(given)
}
