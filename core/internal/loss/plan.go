// Package loss computes the losses: it takes events through bins, order and walk, for each label, category and variable of
// mass.
package loss

import (
	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/walk"
)

// Kind says which loss is computed.
type Kind int

// The kinds, in the order of the option loss.
const (
	MoDe Kind = iota
	DisCo
	Flatness
)

// Plan says what is computed, with limits that are rounded to the type of the events.
type Plan struct {
	Kind      Kind
	Joint     bool       // bin several variables together
	Variables []Variable // one for each variable of mass
	Labels    []int32    // of background
	Walk      walk.Options
}

// Variable says how one variable of mass is treated.
type Variable struct {
	bins.Axis
	Knots []float64 // of B-splines, in units of this mass
}

// walk returns what is wanted of the walk of one variable.
func (p *Plan) walk(k int) *walk.Options {
	o := p.Walk
	o.Moments.Knots = p.Variables[k].Knots
	return &o
}
