package main

/*
#include "call.h"
*/
import "C"

import (
	"math"
	"unsafe"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/disco"
)

//export modeLoss
func modeLoss(m C.uintptr_t, events *C.mode_events, result *C.mode_result, grad unsafe.Pointer, failed *C.failure) C.int {
	return ofEvents(failed, m, events, checkSize("result", result),
		func(h *handle) error { return loss[float32](h, events, result, grad) },
		func(h *handle) error { return loss[float64](h, events, result, grad) })
}

// loss evaluates events. Bias and events are NaN if they are not wanted.
func loss[F core.Float](h *handle, from *C.mode_events, result *C.mode_result, gradient unsafe.Pointer) error {
	ev, err := eventsOf[F](from, false)
	grad := array[F](&err, "grad", gradient, from.n, true)
	hess := array[F](&err, "hess", result.hess, from.n, true)
	if err != nil {
		return err
	}
	averages := (*[3]float64)(unsafe.Pointer(result.averages))
	if hess != nil && averages != nil {
		return argumentError("hess and averages: a strength has no bound of the curvature: leave one of them NULL")
	}
	if err = checkApart(ev.inputs, memoryOf("grad", grad), memoryOf("hess", hess), one("averages", averages), one("result", result)); err != nil {
		return err
	}
	if grad == nil && averages != nil {
		grad = make([]F, ev.n)
	}
	found := core.Result{Bias: math.NaN(), Events: math.NaN()}
	switch {
	case hess != nil:
		found, err = core.Curvature(grad, hess, float64(result.smoothing), ev.Events, h.cfg)
	case result.quality != 0:
		found, err = core.Evaluate(grad, ev.Events, h.cfg)
	default:
		found.Loss, err = core.LossAndGrad(grad, ev.Events, h.cfg)
	}
	if err != nil {
		return err
	}
	if averages != nil {
		scale, err := core.Strengthen(grad, ev.Events, h.cfg, core.Strength{Batch: ev.batch, Averages: averages})
		if err != nil {
			return err
		}
		found.Loss *= scale
		found.Bias *= scale
	}
	result.loss, result.bias, result.events = C.double(found.Loss), C.double(found.Bias), C.double(found.Events)
	return nil
}

//export modeTableOf
func modeTableOf(m C.uintptr_t, events *C.mode_events, table *C.mode_table, failed *C.failure) C.int {
	return ofEvents(failed, m, events, checkSize("table", table),
		func(h *handle) error { return fill[float32](h, events, table) },
		func(h *handle) error { return fill[float64](h, events, table) })
}

// fill fills a mode_table. Without a wish for parts of the loss it reads no scores.
func fill[F core.Float](h *handle, from *C.mode_events, out *C.mode_table) error {
	edgesAlone := out.cdf == nil && out.moments == nil && out.bounded == nil
	ev, err := eventsOf[F](from, edgesAlone)
	if err != nil {
		return err
	}
	if err = checkApart(ev.inputs, one("table", out)); err != nil {
		return err
	}
	found := new(core.Table)
	if edgesAlone {
		found.Edges, err = core.Edges(ev.Events, h.cfg)
	} else {
		at := array[float64](&err, "at", unsafe.Pointer(out.at), out.n_at, false)
		if err != nil {
			return err
		}
		ev.inputs = append(ev.inputs, memoryOf("at", at))
		found, err = core.MomentsAt(at, ev.Events, h.cfg)
	}
	if err != nil {
		return err
	}
	bins, rows := len(found.Edges)-1, len(found.CDF)
	isEnough := uint64(out.capacity) >= uint64(bins)
	room := func(to *C.double, n int) []float64 {
		if to == nil || !isEnough {
			return nil
		}
		return unsafe.Slice((*float64)(unsafe.Pointer(to)), n)
	}
	edges, cdf := room(out.edges, bins+1), room(out.cdf, rows*bins)
	moments, bounded := room(out.moments, rows*(h.cfg.Order+1)), room(out.bounded, rows*(h.cfg.Order+1))
	if err = checkApart(ev.inputs, memoryOf("edges", edges), memoryOf("cdf", cdf), memoryOf("moments", moments),
		memoryOf("bounded", bounded), one("table", out)); err != nil {
		return err
	}
	out.n_bins = C.size_t(bins)
	if !isEnough && (out.edges != nil || out.cdf != nil) {
		return argumentError("table.capacity = %d is less than the %d bins used", uint64(out.capacity), bins)
	}
	copy(edges, found.Edges)
	copyRows(cdf, found.CDF)
	copyRows(moments, found.Moments)
	copyRows(bounded, found.Bounded)
	return nil
}

// copyRows writes rows one after another to dst, unless it is nil.
func copyRows(dst []float64, rows [][]float64) {
	for _, row := range rows {
		dst = dst[copy(dst, row):]
	}
}

//export modeDistanceCorrelation
func modeDistanceCorrelation(n C.size_t, dtype C.int32_t, x, y, weight unsafe.Pointer, unbiased C.int, value *C.double, gradX, gradY unsafe.Pointer, failed *C.failure) C.int {
	arrays := [...]unsafe.Pointer{x, y, weight, gradX, gradY}
	return guarded(failed, func() error {
		return ofType(dtype,
			func() error { return correlate[float32](n, arrays, unbiased != 0, value) },
			func() error { return correlate[float64](n, arrays, unbiased != 0, value) })
	})
}

func correlate[F core.Float](n C.size_t, at [5]unsafe.Pointer, unbiased bool, value *C.double) (err error) {
	if value == nil {
		return argumentError("value is NULL: there is nowhere to put the result")
	}
	var arrays [len(at)][]F
	var all []memory
	for k, name := range [...]string{"x", "y", "weight", "grad_x", "grad_y"} {
		arrays[k] = array[F](&err, name, at[k], n, k > 1)
		all = append(all, memoryOf(name, arrays[k]))
	}
	if err == nil {
		err = checkApart(all[:3], append(all[3:], one("value", value))...)
	}
	if err != nil {
		return err
	}
	found, err := disco.Correlation(arrays[3], arrays[4], arrays[0], arrays[1], arrays[2], unbiased)
	if err == nil {
		*value = C.double(found)
	}
	return err
}
