package loss

import (
	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/walk"
)

// Plan has the options of a call, with limits that are rounded to the type of the events.
type Plan struct {
	Flat      bool        // the flatness loss, not MoDe
	Joint     bool        // bin several variables together
	Variables []bins.Axis // one for each variable of mass
	Labels    []int32     // of background
	Walk      walk.Options
	Watch     func(View) // is called by several goroutines, once for each subset and variable of mass; nil: nobody watches
}
