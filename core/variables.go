package core

// of returns the configuration of the loss of one variable alone.
func (c *Config) of(k int) Config {
	one := *c
	one.Joint, one.Variables = false, nil
	if len(c.Variables) > 0 {
		v := c.Variables[k]
		one.MassRange, one.Edges, one.Knots = v.MassRange, v.Edges, v.Knots
		if v.Bins > 0 {
			one.Bins = v.Bins
		}
	}
	return one
}

// checkCount returns an error where the options are not for so many variables.
func (c *Config) checkCount(variables int) error {
	if len(c.Variables) > 0 && len(c.Variables) != variables {
		return errorOf(ErrOption, "bins, mass_range, edges or knots have one entry for each of %d variables, but mass has %d variables",
			len(c.Variables), variables)
	}
	if len(c.Variables) > 0 || variables == 1 {
		return nil
	}
	for _, name := range []string{"mass_range", "edges", "knots"} {
		if o := optionOf(name); !o.isDefault(c) {
			return optionError(name, o.shown(c), "is one for all, but mass has %d variables: give one for each", variables)
		}
	}
	return nil
}

// massLoss is a loss of one protected variable or of several.
func massLoss[T Float](out derivatives[T], ev Events[T], index []uint32, cfg *Config, sc *scratch) (Result, error) {
	if ev.Masses == nil && cfg.Variables == nil && !cfg.Joint {
		return ofOneVariable[T](cfg)(out, ev, index, cfg, sc)
	}
	if err := cfg.checkCount(len(ev.variables())); err != nil {
		return Result{}, err
	}
	if len(ev.variables()) == 1 {
		one := cfg.of(0)
		ev.Mass, ev.Masses = ev.variables()[0], nil
		return ofOneVariable[T](&one)(out, ev, index, &one, sc)
	}
	if cfg.Joint {
		return jointLoss(out, ev, index, cfg, sc)
	}
	return oneByOne(out, ev, index, cfg, sc)
}

// oneByOne is the mean of the losses of the variables. One of which no event has a value is left out.
func oneByOne[T Float](out derivatives[T], ev Events[T], index []uint32, cfg *Config, sc *scratch) (Result, error) {
	var present []variable[T]
	for k, mass := range ev.Masses {
		v := variable[T]{number: k, mass: mass, cfg: cfg.of(k)}
		if v.occurs() {
			present = append(present, v)
		}
	}
	if len(present) == 0 {
		return Result{}, errorOf(ErrNoEvents, "no event selected: none of the %d selected events has a value of any variable of mass inside its range: "+
			"check mass_range (or edges) and the unit of mass", len(ev.Score))
	}
	share := 1 / float64(len(present))
	own := out.forEvents(len(ev.Score))
	var sums [len(own)][]float64
	for d, of := range own {
		sums[d] = make([]float64, len(of))
	}
	var total Result
	for k := range present {
		v := &present[k]
		one := Events[T]{Score: ev.Score, Mass: v.mass, Weight: ev.Weight}
		own.clear(sc.team)
		loss, err := ofOneVariable[T](&v.cfg)(own, one, index, &v.cfg, sc)
		if err != nil {
			return Result{}, v.named(err)
		}
		total.add(loss, share, share)
		for d, of := range own {
			sc.team.Blocks(len(of), clearedAtATime, func(lo, hi int) {
				for i, element := range of[lo:hi] {
					sums[d][lo+i] += share * float64(element)
				}
			})
		}
	}
	for d, sum := range sums {
		for i, element := range sum {
			out[d][i] = T(element)
		}
	}
	return total, nil
}

// variable is one of several protected variables.
type variable[T Float] struct {
	number int
	mass   []T
	cfg    Config // of its loss alone
}

// occurs reports whether some event has a value inside the range, or a bad one, which is an error later.
func (v *variable[T]) occurs() bool {
	lo, hi := v.cfg.massLimits()
	for _, m := range v.mass {
		switch {
		case m != m:
			if v.cfg.Missing == MissingError {
				return true
			}
		case float64(m) >= lo && float64(m) <= hi || !finite(float64(m)):
			return true
		}
	}
	return false
}

// named says which variable an error is about.
func (v *variable[T]) named(err error) error {
	return errorOf(err, "variable %d of mass: %v", v.number, err)
}

// massLimits returns the range in which an event takes part, which may be infinite.
func (c *Config) massLimits() (lo, hi float64) {
	if c.Binning == GivenEdges {
		return c.Edges[0], c.Edges[len(c.Edges)-1]
	}
	return c.MassRange[0], c.MassRange[1]
}

// bins returns the bins of a variable, and the selection that has in it which events are where.
func (v *variable[T]) bins(ev Events[T], index []uint32, sc *scratch) (*bins, *selection[T], error) {
	sel, err := selectMasses(Events[T]{Score: ev.Score, Mass: v.mass, Weight: ev.Weight}, index, &v.cfg, sc)
	if err != nil {
		return nil, nil, err
	}
	bs, err := newBins(sel, &v.cfg, sel.unit(), sc)
	return bs, sel, err
}
