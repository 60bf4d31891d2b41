package core

// spread holds what the bias of a finite sample is made of,
//
//	bias(s) = sum_b V_b [ sum_a R_ab^2 + slope_penalty A_1b^2 ],  R = 1 - P (d c~/dc) A
//	V_b(s)  = [S_b (1 - 2 F_b) + F_b^2 T_b] / W_b^2 / (1 - T_b/W_b^2)
//
// where S_b is the sum of squared weights up to s and T_b that of the whole bin.
// V_b estimates the variance of F_b; R is by how much the residual of bin a
// moves with F_b. Here S and T are in units of W_b^2: sums of squared steps.
type spread struct {
	totals []float64 // T_b/W_b^2
	factor []float64 // 1/(1 - T_b/W_b^2)
	edges  []float64 // for messages
}

func newSpread(edges []float64) *spread {
	nb := len(edges) - 1
	return &spread{make([]float64, nb), make([]float64, nb), edges}
}

func (sp *spread) setTotals(totals []float64) error {
	copy(sp.totals, totals)
	for b, t := range totals {
		if !(t < 1-roundingFloor) {
			return binError(sp.edges, b, "has (sum of weights)^2 / (sum of squared weights) = %.4g effective events, "+
				"and unbiased needs more than 1: use fewer bins or larger batches", 1/t)
		}
		sp.factor[b] = 1 / (1 - t)
	}
	return nil
}

// variance returns V_b where the bin's CDF is f and its sum of squared steps s.
func (sp *spread) variance(b int, f, s float64) float64 {
	return (s*(1-2*f) + f*f*sp.totals[b]) * sp.factor[b]
}

// change returns by how much V_b changes with a step, from f and s on.
func (sp *spread) change(st step, f, s float64) float64 {
	after := f + st.e
	return (st.square*(1-2*after) - 2*s*st.e + st.e*(f+after)*sp.totals[st.bin]) * sp.factor[st.bin]
}
