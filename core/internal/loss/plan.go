package loss

import (
	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/walk"
)

// Kind names a loss.
type Kind int

// The kinds, in the order of the option loss.
const (
	MoDe Kind = iota
	DisCo
	Flatness
)

// Plan has the options of a call, with limits that are rounded to the type of the events.
type Plan struct {
	Kind      Kind
	Joint     bool        // bin several variables together
	Variables []bins.Axis // one for each variable of mass
	Labels    []int32     // of background
	Walk      walk.Options
}

// withWarningsTo returns the plan with which a loss writes its first warning to a place, if warnings are wanted.
func (p *Plan) withWarningsTo(place *string) *Plan {
	if p.Walk.Moments.Warn == nil {
		return p
	}
	own := *p
	own.Walk.Moments.Warn = func(says string) {
		if *place == "" {
			*place = says
		}
	}
	return &own
}
