package main

/*
#include "failure.h"
*/
import "C"

import (
	"unsafe"

	"github.com/libmode/libmode/core/constraint"
)

//export modeConstraintVerdict
func modeConstraintVerdict(o *C.mode_options, how *C.mode_constraint, found *C.mode_verdict, failed *C.failure) C.int {
	return guarded(failed, func() error {
		cfg, err := configOf(o)
		if err != nil {
			return err
		}
		st, err := steeringOf(how)
		if err != nil {
			return err
		}
		v, err := constraint.Judge(cfg, st)
		if err != nil {
			return err
		}
		found.flat, found.label, found.category, found.worst = C.int32_t(v.Answer), C.int32_t(v.Label), C.int32_t(v.Category), C.int32_t(v.Worst)
		for _, one := range []struct {
			to   *C.double
			from float64
		}{
			{&found.batches, v.Batches}, {&found.events, v.Events}, {&found.tolerance, v.Tolerance}, {&found.limit, v.Limit},
			{&found.zero, v.Zero}, {&found.zero_at, v.ZeroAt}, {&found.peak, v.Peak}, {&found.peak_at, v.PeakAt},
		} {
			*one.to = C.double(one.from)
		}
		for _, table := range []struct {
			to   *C.double
			from []float64
		}{
			{&found.efficiency[0], v.Efficiency[:]}, {&found.errors[0], v.Errors[:]}, {&found.doubt[0], v.Doubt[:]},
			{&found.height[0], v.Height[:]}, {&found.mass[0], v.Mass[:]},
		} {
			copy(unsafe.Slice((*float64)(table.to), len(table.from)), table.from)
		}
		return nil
	})
}
