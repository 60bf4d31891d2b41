package core

// Result is a loss and what says whether it is significant. With n events, N of which a user wants to see nothing,
// the response is as flat as N events can tell where the unbiased loss, Loss or Loss - Bias, is at most Bias n/N.
type Result struct {
	Loss float64 // as LossAndGrad returns it
	// Bias is by how much the plain loss of these events exceeds, in the mean, that of an infinite sample: what
	// Config.Unbiased subtracts, whether or not it is set.
	Bias float64
	// Events is how many events of equal weights there are in effect, (sum w)^2 / sum w^2 of those that take part:
	// the sum over labels and categories, and the mean over several variables one by one.
	Events float64
}

// Evaluate is LossAndGrad that returns the bias and the number of events too. It takes a third longer, without bins
// twice as long. DisCo and flatness have no such bias: an error.
func Evaluate[T Float](grad []T, ev Events[T], cfg Config) (Result, error) {
	if err := cfg.Validate(); err != nil {
		return Result{}, err
	}
	if cfg.Loss != MoDe {
		return Result{}, optionError("loss", lossNames[cfg.Loss], "has no bias that can be told: it is of loss = %s alone", lossNames[MoDe])
	}
	cfg.measured = true
	return evaluate(derivatives[T]{grad}, &ev, &cfg)
}

// add adds another one, times a factor, with a share of its events.
func (r *Result) add(other Result, factor, share float64) {
	r.Loss += factor * other.Loss
	r.Bias += factor * other.Bias
	r.Events += share * other.Events
}

// effective returns the number of events in effect.
func (rs *records[T]) effective() float64 {
	if rs.weights == nil {
		return float64(len(rs.words))
	}
	var sum, squares float64
	for _, w := range rs.weights[:len(rs.words)] {
		sum += w
		squares += w * w
	}
	return sum * sum / squares
}
