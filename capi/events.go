package main

/*
#include "call.h"
*/
import "C"

import (
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
	if from.batch > from.n {
		return ev, argumentError("batch = %d is more than the n = %d events", uint64(from.batch), uint64(from.n))
	}
	if ev.Score, err = array[F]("score", from.score, from.n, withoutScore); err != nil {
		return ev, err
	}
	d := max(1, int(from.n_mass))
	if from.n_mass < 0 || d > core.MaxVariables {
		return ev, argumentError("n_mass = %d: mass has 1 to %d variables", int(from.n_mass), core.MaxVariables)
	}
	if ev.Mass, err = array[F]("mass", from.mass, from.n, false); err != nil {
		return ev, err
	}
	ev.n = int(from.n)
	if ev.batch = int(from.batch); ev.batch == 0 {
		ev.batch = ev.n
	}
	if d > 1 {
		all := unsafe.Slice(unsafe.SliceData(ev.Mass), d*ev.n)
		for k := range d {
			ev.Masses = append(ev.Masses, all[k*ev.n:][:ev.n])
		}
		ev.Mass = nil
	}
	if ev.Weight, err = array[F]("weight", from.weight, from.n, true); err != nil {
		return ev, err
	}
	ev.inputs = []memory{one("events", from), memoryOf("score", ev.Score), memoryOf("weight", ev.Weight)}
	for _, mass := range ev.Variables() {
		ev.inputs = append(ev.inputs, memoryOf("mass", mass))
	}
	if ev.Label, err = labels(&ev.inputs, "label", from.n, from.label, from.label_type); err != nil {
		return ev, err
	}
	if t := from.category_type; from.category != nil && (t == C.MODE_FLOAT32 || t == C.MODE_FLOAT64) {
		return ev, argumentError("category_type = %d: categories are integers", int(t))
	}
	ev.Category, err = labels(&ev.inputs, "category", from.n, from.category, from.category_type)
	return ev, err
}

// labels returns the n labels or categories at p, which are of a type of mode.h; NULL: none. It adds their memory to the inputs.
func labels(inputs *[]memory, name string, n C.size_t, p unsafe.Pointer, labelType C.int32_t) (core.LabelSlice, error) {
	if p == nil {
		return nil, nil
	}
	switch labelType {
	case C.MODE_INT32:
		return labelsOf[int32](inputs, name, n, p)
	case C.MODE_INT8:
		return labelsOf[int8](inputs, name, n, p)
	case C.MODE_UINT8:
		return labelsOf[uint8](inputs, name, n, p)
	case C.MODE_INT64:
		return labelsOf[int64](inputs, name, n, p)
	case C.MODE_FLOAT32:
		return labelsOf[float32](inputs, name, n, p)
	case C.MODE_FLOAT64:
		return labelsOf[float64](inputs, name, n, p)
	}
	return nil, argumentError("%s_type = %d: must be one of MODE_INT32, MODE_FLOAT32, MODE_FLOAT64, MODE_INT64, MODE_INT8, MODE_UINT8", name, int(labelType))
}

func labelsOf[L core.Label](inputs *[]memory, name string, n C.size_t, p unsafe.Pointer) (core.LabelSlice, error) {
	given, err := array[L](name, p, n, true)
	*inputs = append(*inputs, memoryOf(name, given))
	return core.LabelsOf(given), err
}
