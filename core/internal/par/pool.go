package par

// Pool keeps what goroutines of one call have done with, for the next of them.
type Pool[E any] struct {
	kept chan E
	make func() E
}

// NewPool returns a pool that makes what it has not.
func NewPool[E any](new func() E) Pool[E] { return Pool[E]{make(chan E, Threads()), new} }

// Take returns one that was given back, or a new one.
func (p Pool[E]) Take() E {
	select {
	case e := <-p.kept:
		return e
	default:
		return p.make()
	}
}

// Give keeps one for the next that is taken.
func (p Pool[E]) Give(e E) {
	select {
	case p.kept <- e:
	default:
	}
}
