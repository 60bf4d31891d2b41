package main

/*
#include <stdlib.h>

#include "mode.h"
*/
import "C"

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/libmode/libmode/core"
)

// member is the place of an option in mode_options.
type member struct {
	*core.Option
	offset uintptr
}

var members = membersOf(core.Options())

func membersOf(options []core.Option) []member {
	found, of := make([]member, len(options)), reflect.TypeFor[C.mode_options]()
	for k := range options {
		field, ok := of.FieldByName(options[k].Name)
		if !ok {
			panic("mode_options has no member " + options[k].Name)
		}
		found[k] = member{&options[k], field.Offset}
	}
	return found
}

// list is an option with several elements as mode_options holds it.
type list struct {
	first unsafe.Pointer
	count C.size_t
}

// in returns where the option is in the caller's options.
func (m *member) in(o *C.mode_options) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(o), m.offset) }

// defaults are the default options of each loss, by its number.
var defaults = []core.Config{core.DefaultConfig(core.MoDe), core.DefaultConfig(core.DisCo), core.DefaultConfig(core.Flatness)}

// configOf returns the configuration for the options of a C program.
func configOf(o *C.mode_options) (core.Config, error) {
	var cfg core.Config // of a loss that there is not, Validate says so
	if loss := int(o.loss); loss >= 0 && loss < len(defaults) {
		cfg = defaults[loss]
	}
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
		case *[]core.Variable:
			given, err := variablesOf((*list)(at))
			if err != nil {
				return cfg, err
			}
			*field = given
		}
	}
	return cfg, nil
}

// variablesOf returns the options of each variable, or nil if there are none.
func variablesOf(l *list) ([]core.Variable, error) {
	if uint64(l.count) > core.MaxVariables {
		return nil, argumentError("n_variables = %d: a call can have %d variables", uint64(l.count), core.MaxVariables)
	}
	given, err := array("variables", (*C.mode_variable)(l.first), l.count, false)
	if err != nil || len(given) == 0 {
		return nil, err
	}
	found := make([]core.Variable, len(given))
	for k := range given {
		v := &given[k]
		edges, err := array(fmt.Sprintf("edges of variable %d", k), (*float64)(unsafe.Pointer(v.edges)), v.n_edges, false)
		if err != nil {
			return nil, err
		}
		massRange := *(*[2]float64)(unsafe.Pointer(&v.mass_range))
		found[k] = core.Variable{Bins: int(v.bins), MassRange: massRange, Edges: slices.Clone(edges)}
	}
	return found, nil
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
	return guarded(text, capacity, func() error {
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
