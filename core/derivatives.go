package core

// derivatives are where those of the loss by each score go: the gradient, and the curvature bound of curvature.go.
// Each has an element for each event; nil: it is not wanted.
type derivatives[T Float] [2][]T

func (d derivatives[T]) grad() []T { return d[0] }
func (d derivatives[T]) hess() []T { return d[1] }

// checkLengths returns an error for one that is not of n events.
func (d derivatives[T]) checkLengths(n int) error {
	for k, name := range [...]string{"grad", "hess"} {
		if d[k] != nil && len(d[k]) != n {
			return errorOf(ErrLength, "%s has length %d, but score has length %d", name, len(d[k]), n)
		}
	}
	return nil
}

func (d derivatives[T]) clear() {
	for _, of := range d {
		clear(of)
	}
}

// cut returns those of the events lo..hi-1.
func (d derivatives[T]) cut(lo, hi int) derivatives[T] {
	for k, of := range d {
		if of != nil {
			d[k] = of[lo:hi]
		}
	}
	return d
}

// scale multiplies all with a factor.
func (d derivatives[T]) scale(factor float64) {
	for _, of := range d {
		for i, element := range of {
			of[i] = T(float64(element) * factor)
		}
	}
}

// forEvents returns new ones of n events, of those that are wanted.
func (d derivatives[T]) forEvents(n int) (own derivatives[T]) {
	for k, of := range d {
		if of != nil {
			own[k] = make([]T, n)
		}
	}
	return own
}
