package main

/*
#include <stdlib.h>

#include "call.h"
*/
import "C"

import (
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/libmode/libmode/core"
)

// handle is what a mode_handle stands for. It does not change: mode_set_edges puts another in its place.
type handle struct {
	cfg  core.Config
	text *C.char
}

// handles maps a number, which C takes for a pointer, to its handle. No number is used twice, so that a freed handle is an error. The
// numbers begin with that of the process, so that a handle of its parent is an error in a forked child.
var (
	handles sync.Map
	latest  atomic.Uintptr
)

func init() { latest.Store(uintptr(os.Getpid()) << 20) }

func newHandle(cfg core.Config) *handle { return &handle{cfg, C.CString(cfg.Text())} }

// find returns the handle of a number.
func find(m C.uintptr_t) (*handle, error) {
	if h, there := handles.Load(uintptr(m)); there {
		return h.(*handle), nil
	}
	return nil, argumentError("m = %#x is no handle of mode_new, or it was freed", uintptr(m))
}

//export modeNew
func modeNew(text *C.char, failed *C.failure) (m C.uintptr_t) {
	guarded(failed, func() error {
		cfg, err := core.Parse(C.GoString(text))
		if err != nil {
			return err
		}
		m = C.uintptr_t(latest.Add(1))
		handles.Store(uintptr(m), newHandle(cfg))
		return nil
	})
	return m
}

//export modeFree
func modeFree(m C.uintptr_t) {
	if h, there := handles.LoadAndDelete(uintptr(m)); there {
		C.free(unsafe.Pointer(h.(*handle).text))
	}
}

//export modeText
func modeText(m C.uintptr_t, failed *C.failure) (text *C.char) {
	guarded(failed, func() error {
		h, err := find(m)
		if err == nil {
			text = h.text
		}
		return err
	})
	return text
}

//export modeSetEdges
func modeSetEdges(m C.uintptr_t, variable, n C.size_t, edges *C.double, failed *C.failure) C.int {
	return guarded(failed, func() error {
		h, err := find(m)
		given := array[float64](&err, "edges", unsafe.Pointer(edges), n, false)
		if err != nil {
			return err
		}
		cfg := h.cfg
		if err := setEdges(&cfg, uint64(variable), slices.Clone(given)); err != nil {
			return err
		}
		handles.Store(uintptr(m), newHandle(cfg))
		C.free(unsafe.Pointer(h.text))
		return nil
	})
}

// setEdges sets the edges of a variable: of the only one, of one that the options have, or of one more.
func setEdges(cfg *core.Config, variable uint64, edges []float64) error {
	cfg.Variables = slices.Clone(cfg.Variables)
	if variable > 0 && len(cfg.Variables) == 0 && len(cfg.Edges) > 0 { // the edges so far become those of the first variable
		first := core.DefaultVariable()
		first.Edges, cfg.Edges = cfg.Edges, nil
		cfg.Variables = []core.Variable{first}
	}
	switch known := uint64(len(cfg.Variables)); {
	case known == 0 && variable == 0:
		cfg.Edges = edges
	case variable > known || known == 0 || variable >= core.MaxVariables:
		return argumentError("variable = %d: set the edges of variables 0 to %d one after the other", variable, core.MaxVariables-1)
	default:
		if variable == known {
			cfg.Variables = append(cfg.Variables, core.DefaultVariable())
		}
		cfg.Variables[variable].Edges = edges
	}
	if cfg.Binning == core.Quantile {
		cfg.Binning = core.GivenEdges
	}
	return cfg.Validate()
}

// table is the table of options, in memory that stays.
var table = sync.OnceValue(func() *C.char { return C.CString(core.OptionTable()) })

//export modeOptionsTable
func modeOptionsTable() *C.char { return table() }
