package lanes

// Bias has the sums over bins, weighted with V_b, from which the bias of bounded moments follows
// at any d c~/dc, that is, of
//
//	0       1 + slope_penalty A_1^2 + G_00 A_0^2 - 2 P_0 A_0
//	1..5    A_0 K_1, A_1 K_1, A_0 K_2, A_1 K_2, A_2 K_2,   K_l = G_0l A_0 - P_l
//	6..11   A_0^2, A_0 A_1, A_1^2, A_0 A_2, A_1 A_2, A_2^2
//
// with P_b, A_b and G = P'P of biasSums.
type Bias struct {
	Rows []BiasRow // by bin
	Sums BiasRow
	Gram *[9]float64
}

// BiasRow has a number for each of these, in three vectors.
type BiasRow [3][4]float64

// Set makes a row of what a bin has.
func (row *BiasRow) Set(p, a []float64, gram *[9]float64, penalty, factor float64) {
	k1, k2 := gram[1]*a[0]-p[1], gram[2]*a[0]-p[2]
	*row = BiasRow{
		{1 + penalty*a[1]*a[1] + gram[0]*a[0]*a[0] - 2*p[0]*a[0], a[0] * k1, a[1] * k1, a[0] * k2},
		{a[1] * k2, a[2] * k2, a[0] * a[0], a[0] * a[1]},
		{a[1] * a[1], a[0] * a[2], a[1] * a[2], a[2] * a[2]},
	}
	row.scale(factor)
}

func (row *BiasRow) scale(factor float64) {
	for i := range row {
		for j := range row[i] {
			row[i][j] *= factor
		}
	}
}

// Add adds v times a row.
func (row *BiasRow) Add(v float64, other *BiasRow) {
	for i := range row {
		for j, x := range other[i] {
			row[i][j] += float64(v * x)
		}
	}
}

var unbias = unbiasGo

// Cross crosses events, which change V_b by V times a factor that is in the rows, and subtracts from D what
// the bias changes by. It is so small that it may be found as a difference of two values of
// it. What that says of the first event takes it that before it the bias was 0.
func (bi *Bias) Cross(groups []Group, bins []uint32) { unbias(bi, groups, bins) }

func unbiasGo(bi *Bias, groups []Group, bins []uint32) {
	var before float64
	for i := range groups {
		g := &groups[i]
		slope, curve := &g.Moments[1], &g.Moments[2]
		for j, b := range bins[4*i : 4*i+4] {
			sums := bi.Sums
			bi.Sums.Add(g.V[j], &bi.Rows[b])
			bias := bi.At(slope.ByBase[j], slope.Slope[j], curve.ByBase[j], curve.Slope[j])
			g.D[j] -= bias - before
			if g.Stays[j] != 0 {
				before = bias
			} else {
				bi.Sums = sums
			}
		}
	}
}

// At returns the bias where d c~/dc has the rows D_1 = (by0, own1, 0) and D_2 = by1 D_1 + (0, 0, own2).
func (bi *Bias) At(by0, own1, by1, own2 float64) float64 {
	s, g := &bi.Sums, bi.Gram
	y0 := float64(by0*s[1][2]) + float64(own1*s[1][3]) // D_1 Y, and D_1 Y D_1'
	y1 := float64(by0*s[1][3]) + float64(own1*s[2][0])
	y2 := float64(by0*s[2][1]) + float64(own1*s[2][2])
	y := float64(by0*y0) + float64(own1*y1)
	linear := float64(by0*(s[0][1]+float64(by1*s[0][3]))) + float64(own1*(s[0][2]+float64(by1*s[1][0]))) + float64(own2*s[1][1])
	mixed := g[5] + float64(g[8]*by1)
	square := g[4] + float64(by1*(g[5]+mixed))
	own := float64(own2 * (float64(2*float64(mixed*y2)) + float64(float64(g[8]*own2)*s[2][3])))
	return (s[0][0] + float64(2*linear)) + (float64(square*y) + own)
}
