// Package main is libmode.so: the functions of include/mode.h over package
// core. mode.c holds the public, const-correct functions; this file turns
// pointers into slices and errors into status codes.
package main

/*
#cgo CFLAGS: -I${SRCDIR}/../include -std=gnu99 -Wall -Wextra -DMODE_BUILDING
#cgo LDFLAGS: -pthread
#include <stdlib.h>

#include "mode.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/libmode/libmode/core"
)

func main() {}

var statuses = []struct {
	kind   error
	status C.int
}{
	{core.ErrOption, C.MODE_ERROR_OPTION},
	{core.ErrLength, C.MODE_ERROR_ARGUMENT},
	{core.ErrNotFinite, C.MODE_ERROR_NOT_FINITE},
	{core.ErrScoreRange, C.MODE_ERROR_SCORE_RANGE},
	{core.ErrNoEvents, C.MODE_ERROR_TOO_FEW},
	{core.ErrBin, C.MODE_ERROR_BIN},
	{core.ErrOverflow, C.MODE_ERROR_OVERFLOW},
	{core.ErrUndefined, C.MODE_ERROR_UNDEFINED},
}

func statusOf(err error) C.int {
	for _, s := range statuses {
		if errors.Is(err, s.kind) {
			return s.status
		}
	}
	return C.MODE_ERROR_INTERNAL
}

// messageBuffer is the calling thread's, in mode.c.
type messageBuffer struct {
	text     *C.char
	capacity C.size_t
}

// guarded runs f and returns its status. Nothing may panic across C.
func guarded(message messageBuffer, f func() error) (status C.int) {
	defer func() {
		if r := recover(); r != nil {
			status = message.report(fmt.Errorf("defect in libmode, please report it: %v", r))
		}
	}()
	if err := f(); err != nil {
		return message.report(err)
	}
	return C.MODE_OK
}

func (m messageBuffer) report(err error) C.int {
	buffer := unsafe.Slice((*byte)(unsafe.Pointer(m.text)), int(m.capacity))
	buffer[copy(buffer[:len(buffer)-1], err.Error())] = 0
	return statusOf(err)
}

func argumentError(format string, args ...any) error {
	return fmt.Errorf(format+"%w", append(args, quiet{core.ErrLength})...)
}

// quiet wraps a sentinel without adding to the message.
type quiet struct{ error }

func (quiet) Error() string   { return "" }
func (q quiet) Unwrap() error { return q.error }

const maxEvents = math.MaxUint32

// array returns the n elements at p. NULL is an error unless optional.
func array[E any](name string, p *E, n C.size_t, optional bool) ([]E, error) {
	if uint64(n) > maxEvents {
		return nil, argumentError("%s: %d elements are more than the %d that one call can take", name, uint64(n), uint64(maxEvents))
	}
	if p == nil && n > 0 && !optional {
		return nil, argumentError("%s is NULL, but %d elements are expected", name, uint64(n))
	}
	if p == nil {
		return nil, nil
	}
	return unsafe.Slice(p, int(n)), nil
}

// member is where an option stands in mode_options: the members lie in the order of
// the core's table, each as C aligns it.
type member struct {
	*core.Option
	offset uintptr
}

var members = membersOf(core.Options())

func membersOf(options []core.Option) []member {
	found := make([]member, len(options))
	offset := unsafe.Sizeof(C.size_t(0)) // after struct_size
	for k := range options {
		var size, align uintptr = 4, 4 // an int32_t
		switch options[k].Kind {
		case core.Number:
			size, align = 8, 8
		case core.Range:
			size, align = 16, 8
		case core.Numbers, core.Labels: // a pointer and a size_t
			align = unsafe.Sizeof(uintptr(0))
			size = 2 * align
		}
		offset = (offset + align - 1) &^ (align - 1)
		found[k] = member{&options[k], offset}
		offset += size
	}
	return found
}

// list is how mode_options holds the elements of an option that has several.
type list struct {
	first unsafe.Pointer
	count C.size_t
}

// in returns where the option is in the caller's options.
func (m *member) in(o *C.mode_options) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(o), m.offset) }

// configOf returns what the options of a C program say.
func configOf(o *C.mode_options) (core.Config, error) {
	cfg := core.DefaultConfig(core.LossKind(o.loss))
	for k := range members {
		m := &members[k]
		at := m.in(o)
		switch field := m.Field(&cfg).(type) {
		case *int:
			*field = int(*(*int32)(at))
		case *bool:
			if value := *(*int32)(at); value != C.MODE_DEFAULT {
				*field = value != 0
			}
		case *float64:
			*field = *(*float64)(at)
		case *[2]float64:
			*field = *(*[2]float64)(at)
		case *[]float64:
			given, err := array(m.Name, (*float64)((*list)(at).first), (*list)(at).count, false)
			if err != nil {
				return cfg, err
			}
			*field = slices.Clone(given)
		case *[]int32:
			given, err := array(m.Name, (*int32)((*list)(at).first), (*list)(at).count, false)
			if err != nil {
				return cfg, err
			}
			if (*list)(at).first != nil {
				*field = slices.Clone(given)
			}
		}
	}
	return cfg, nil
}

//export modeDefaults
func modeDefaults(o *C.mode_options) {
	*o = C.mode_options{struct_size: C.sizeof_mode_options}
	cfg := core.DefaultConfig(core.MoDe)
	for k := range members {
		m := &members[k]
		at := m.in(o)
		switch field := m.Field(&cfg).(type) {
		case *int:
			*(*int32)(at) = int32(*field)
		case *bool:
			if *(*int32)(at) = 0; *field {
				*(*int32)(at) = 1
			}
			if m.DiffersByLoss() {
				*(*int32)(at) = C.MODE_DEFAULT
			}
		case *float64:
			*(*float64)(at) = *field
		case *[2]float64:
			*(*[2]float64)(at) = *field
		}
	}
}

// rows are the table of options as C reads it, in memory that stays.
var rows = sync.OnceValue(func() []C.mode_option {
	rows := make([]C.mode_option, len(members))
	for k, m := range members {
		row := C.mode_option{name: C.CString(m.Name), kind: C.int32_t(m.Kind), offset: C.size_t(m.offset), none: C.double(m.None)}
		for _, loss := range m.Losses {
			row.losses |= 1 << loss
		}
		if row.n_values = C.size_t(len(m.Values)); len(m.Values) > 0 {
			values := (**C.char)(C.malloc(row.n_values * C.size_t(unsafe.Sizeof(uintptr(0)))))
			for i, name := range m.Values {
				unsafe.Slice(values, len(m.Values))[i] = C.CString(name)
			}
			row.values = values
		}
		rows[k] = row
	}
	return rows
})

//export modeOption
func modeOption(k C.size_t, row *C.mode_option, text *C.char, capacity C.size_t) C.int {
	return guarded(messageBuffer{text, capacity}, func() error {
		if row == nil {
			return argumentError("option is NULL: there is nowhere to put the row")
		}
		if uint64(k) >= uint64(len(members)) {
			return argumentError("k = %d, but there are %d options", uint64(k), len(members))
		}
		*row = rows()[k]
		return nil
	})
}

//export modeOptionCount
func modeOptionCount() C.size_t { return C.size_t(len(members)) }

//export modeCheck
func modeCheck(o *C.mode_options, text *C.char, capacity C.size_t) C.int {
	return guarded(messageBuffer{text, capacity}, func() error {
		cfg, err := configOf(o)
		if err != nil {
			return err
		}
		return cfg.Validate()
	})
}

// events gathers the arrays of a call. S and F are the same type, named by C
// and by Go.
func events[F core.Float, S any](n C.size_t, score, mass, weight *S, label unsafe.Pointer, labelType C.int) (ev core.Events[F], err error) {
	if ev.Mass, err = array("mass", (*F)(unsafe.Pointer(mass)), n, false); err != nil {
		return ev, err
	}
	if ev.Score, err = array("score", (*F)(unsafe.Pointer(score)), n, false); err != nil {
		return ev, err
	}
	if ev.Weight, err = array("weight", (*F)(unsafe.Pointer(weight)), n, true); err != nil {
		return ev, err
	}
	ev.Label, err = labels(n, label, labelType)
	return ev, err
}

// labels returns the n labels at p, which are of the type MODE_LABEL_...; NULL: none.
func labels(n C.size_t, p unsafe.Pointer, labelType C.int) (core.LabelSlice, error) {
	if p == nil {
		return nil, nil
	}
	switch labelType {
	case C.MODE_LABEL_INT32:
		return labelsOf[int32](n, p)
	case C.MODE_LABEL_INT8:
		return labelsOf[int8](n, p)
	case C.MODE_LABEL_UINT8:
		return labelsOf[uint8](n, p)
	case C.MODE_LABEL_INT64:
		return labelsOf[int64](n, p)
	case C.MODE_LABEL_FLOAT32:
		return labelsOf[float32](n, p)
	case C.MODE_LABEL_FLOAT64:
		return labelsOf[float64](n, p)
	}
	return nil, argumentError("label_type = %d: must be one of MODE_LABEL_...", int(labelType))
}

func labelsOf[L core.Label](n C.size_t, p unsafe.Pointer) (core.LabelSlice, error) {
	given, err := array("label", (*L)(p), n, true)
	return core.LabelsOf(given), err
}

func lossGrad[F core.Float, S any](o *C.mode_options, n C.size_t, score, mass, weight *S, label unsafe.Pointer, labelType C.int, loss *C.double, grad *S) error {
	if loss == nil {
		return argumentError("loss is NULL: there is nowhere to put the result")
	}
	cfg, err := configOf(o)
	if err != nil {
		return err
	}
	ev, err := events[F](n, score, mass, weight, label, labelType)
	if err != nil {
		return err
	}
	out, err := array("grad", (*F)(unsafe.Pointer(grad)), n, true)
	if err != nil {
		return err
	}
	value, err := core.LossAndGrad(out, ev, cfg)
	if err != nil {
		return err
	}
	*loss = C.double(value)
	return nil
}

//export modeLossGradF32
func modeLossGradF32(o *C.mode_options, n C.size_t, score, mass, weight *C.float, label unsafe.Pointer, labelType C.int, loss *C.double, grad *C.float, text *C.char, capacity C.size_t) C.int {
	return guarded(messageBuffer{text, capacity}, func() error {
		return lossGrad[float32](o, n, score, mass, weight, label, labelType, loss, grad)
	})
}

//export modeLossGradF64
func modeLossGradF64(o *C.mode_options, n C.size_t, score, mass, weight *C.double, label unsafe.Pointer, labelType C.int, loss *C.double, grad *C.double, text *C.char, capacity C.size_t) C.int {
	return guarded(messageBuffer{text, capacity}, func() error {
		return lossGrad[float64](o, n, score, mass, weight, label, labelType, loss, grad)
	})
}

func edges[F core.Float, S any](o *C.mode_options, n C.size_t, mass, weight *S, label unsafe.Pointer, labelType C.int, room C.size_t, out *C.double, count *C.size_t) error {
	if count == nil {
		return argumentError("n_edges is NULL: there is nowhere to put the number of edges")
	}
	cfg, err := configOf(o)
	if err != nil {
		return err
	}
	ev, err := events[F](n, mass, mass, weight, label, labelType) // no score is looked at
	if err != nil {
		return err
	}
	found, err := core.Edges(ev, cfg)
	if err != nil {
		return err
	}
	*count = C.size_t(len(found))
	if out == nil {
		return nil
	}
	if uint64(room) < uint64(len(found)) {
		return argumentError("capacity = %d is less than the %d edges of the bins used", uint64(room), len(found))
	}
	copy(unsafe.Slice((*float64)(unsafe.Pointer(out)), len(found)), found)
	return nil
}

//export modeEdgesF32
func modeEdgesF32(o *C.mode_options, n C.size_t, mass, weight *C.float, label unsafe.Pointer, labelType C.int, room C.size_t, out *C.double, count *C.size_t, text *C.char, capacity C.size_t) C.int {
	return guarded(messageBuffer{text, capacity}, func() error {
		return edges[float32](o, n, mass, weight, label, labelType, room, out, count)
	})
}

//export modeEdgesF64
func modeEdgesF64(o *C.mode_options, n C.size_t, mass, weight *C.double, label unsafe.Pointer, labelType C.int, room C.size_t, out *C.double, count *C.size_t, text *C.char, capacity C.size_t) C.int {
	return guarded(messageBuffer{text, capacity}, func() error {
		return edges[float64](o, n, mass, weight, label, labelType, room, out, count)
	})
}

func moments[F core.Float, S any](o *C.mode_options, n C.size_t, score, mass, weight *S, label unsafe.Pointer, labelType C.int, nAt C.size_t, at *C.double, nBins C.size_t, cdf, moments, bounded *C.double) error {
	cfg, err := configOf(o)
	if err != nil {
		return err
	}
	ev, err := events[F](n, score, mass, weight, label, labelType)
	if err != nil {
		return err
	}
	scores, err := array("at", (*float64)(unsafe.Pointer(at)), nAt, false)
	if err != nil {
		return err
	}
	table, err := core.MomentsAt(scores, ev, cfg)
	if err != nil {
		return err
	}
	if bins := len(table.Edges) - 1; uint64(nBins) != uint64(bins) {
		return argumentError("n_bins = %d, but %d bins are used: ask mode_edges_f32 or mode_edges_f64", uint64(nBins), bins)
	}
	copyRows(cdf, table.CDF)
	copyRows(moments, table.Moments)
	copyRows(bounded, table.Bounded)
	return nil
}

//export modeMomentsF32
func modeMomentsF32(o *C.mode_options, n C.size_t, score, mass, weight *C.float, label unsafe.Pointer, labelType C.int, nAt C.size_t, at *C.double, nBins C.size_t, cdf, c, bounded *C.double, text *C.char, capacity C.size_t) C.int {
	return guarded(messageBuffer{text, capacity}, func() error {
		return moments[float32](o, n, score, mass, weight, label, labelType, nAt, at, nBins, cdf, c, bounded)
	})
}

//export modeMomentsF64
func modeMomentsF64(o *C.mode_options, n C.size_t, score, mass, weight *C.double, label unsafe.Pointer, labelType C.int, nAt C.size_t, at *C.double, nBins C.size_t, cdf, c, bounded *C.double, text *C.char, capacity C.size_t) C.int {
	return guarded(messageBuffer{text, capacity}, func() error {
		return moments[float64](o, n, score, mass, weight, label, labelType, nAt, at, nBins, cdf, c, bounded)
	})
}

// copyRows writes rows one after another to dst, unless that is NULL.
func copyRows(dst *C.double, rows [][]float64) {
	if dst == nil {
		return
	}
	for k, row := range rows {
		out := unsafe.Slice((*float64)(unsafe.Add(unsafe.Pointer(dst), k*len(row)*8)), len(row))
		copy(out, row)
	}
}

//export modeSetThreads
func modeSetThreads(n C.int) { core.SetThreads(int(n)) }

//export modeThreads
func modeThreads() C.int { return C.int(core.Threads()) }
