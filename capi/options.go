package main

/*
#include <stdlib.h>

#include "call.h"
*/
import "C"

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/libmode/libmode/core"
)

// member is the place of an option in mode_options, and of the number of its elements if it is a list.
type member struct {
	*core.Option
	offset, count uintptr
}

var members = membersOf(core.Options())

func membersOf(options []core.Option) []member {
	found, of := make([]member, len(options)), reflect.TypeFor[C.mode_options]()
	offsetOf := func(name string) uintptr {
		field, ok := of.FieldByName(name)
		if !ok {
			panic("mode_options has no member " + name)
		}
		return field.Offset
	}
	for k := range options {
		m := member{Option: &options[k], offset: offsetOf(options[k].Name)}
		if m.Kind >= core.Numbers {
			m.count = offsetOf("n_" + m.Name)
		}
		found[k] = m
	}
	return found
}

// in returns where the option is in the caller's options.
func (m *member) in(o *C.mode_options) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(o), m.offset) }

// listIn returns the elements of an option that is a list.
func listIn[E any](m *member, o *C.mode_options) ([]E, error) {
	return array(m.Name, *(**E)(m.in(o)), m.countIn(o), false)
}

func (m *member) countIn(o *C.mode_options) C.size_t {
	return *(*C.size_t)(unsafe.Add(unsafe.Pointer(o), m.count))
}

// configOf returns the configuration for the options of a C program, whose lists are those of the program.
func configOf(o *C.mode_options) (cfg core.Config, err error) {
	cfg = core.DefaultConfig()
	for k := range members {
		m := &members[k]
		at := m.in(o)
		switch field := m.Field(&cfg).(type) {
		case *int:
			*field = int(*(*int32)(at))
		case *bool:
			*field = (*(*int32)(at) != 0) != m.Negated
		case *float64:
			*field = *(*float64)(at)
		case *[2]float64:
			*field = *(*[2]float64)(at)
		case *[]float64:
			*field, err = listIn[float64](m, o)
		case *[]int32:
			var given []int32
			if given, err = listIn[int32](m, o); given != nil { // NULL is the default
				*field = given
			}
		case *[]core.Variable:
			*field, err = variablesIn(m, o)
		}
		if err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

// variablesIn returns the options of each variable, or nil if there are none.
func variablesIn(m *member, o *C.mode_options) ([]core.Variable, error) {
	if n := m.countIn(o); uint64(n) > core.MaxVariables {
		return nil, argumentError("n_variables = %d: a call can have %d variables", uint64(n), core.MaxVariables)
	}
	given, err := listIn[C.mode_variable](m, o)
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
		found[k] = core.Variable{Bins: int(v.bins), MassRange: massRange, Edges: edges}
	}
	return found, nil
}

//export modeDefaults
func modeDefaults(o *C.mode_options) {
	*o = C.mode_options{struct_size: C.sizeof_mode_options}
	cfg := core.DefaultConfig()
	for k := range members {
		m := &members[k]
		at := m.in(o)
		switch field := m.Field(&cfg).(type) {
		case *int:
			*(*int32)(at) = int32(*field)
		case *bool:
			if *(*int32)(at) = 0; *field != m.Negated {
				*(*int32)(at) = 1
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
		row := C.mode_option{
			struct_size: C.sizeof_mode_option, name: C.CString(m.Name), kind: C.int32_t(m.Kind),
			offset: C.size_t(m.offset), none: C.double(m.None),
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

func optionCount(c *C.call) error { return setCount(c, "count", uint64(len(members))) }

func optionAt(c *C.call) error {
	if uint64(c.n) >= uint64(len(members)) {
		return argumentError("k = %d, but there are %d options", uint64(c.n), len(members))
	}
	*(*C.mode_option)(c.out) = rows()[c.n]
	return nil
}
