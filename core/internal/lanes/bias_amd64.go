//go:build goexperiment.simd && go1.26 && !go1.27

package lanes

import "simd/archsimd"

func unbiasAVX2(bi *Bias, groups []Group, bins []uint32) {
	var sums [12]Four // in turns
	unbiasGroups(bi, groups, bins, &sums)
}

func unbiasGroups(bi *Bias, groups []Group, bins []uint32, sums *[12]Four) {
	var last four
	for i := range groups {
		g, bins := &groups[i], (*[4]uint32)(bins[4*i:])
		r0, r1, r2, r3 := &bi.Rows[bins[0]], &bi.Rows[bins[1]], &bi.Rows[bins[2]], &bi.Rows[bins[3]]
		for k := range bi.Sums {
			s := archsimd.LoadFloat64x4(&bi.Sums[k])
			s0, s := sumWith(s, &r0[k], g.V[0], g.Stays[0])
			s1, s := sumWith(s, &r1[k], g.V[1], g.Stays[1])
			s2, s := sumWith(s, &r2[k], g.V[2], g.Stays[2])
			s3, s := sumWith(s, &r3[k], g.V[3], g.Stays[3])
			s.Store(&bi.Sums[k])
			s0, s1, s2, s3 = transpose(s0, s1, s2, s3)
			s0.Store(&sums[4*k])
			s1.Store(&sums[4*k+1])
			s2.Store(&sums[4*k+2])
			s3.Store(&sums[4*k+3])
		}
		bias := biasAt(sums, bi.Gram, &g.Moments[1], &g.Moments[2])
		before, next := g.hold().of(last, bias)
		archsimd.LoadFloat64x4(&g.D).Sub(bias.Sub(before)).Store(&g.D)
		last = next
	}
	archsimd.ClearAVXUpperBits()
}

// sumWith returns sums with v times a row, and as they stay.
func sumWith(sums four, row *[4]float64, v, stay float64) (with, stays four) {
	step := archsimd.LoadFloat64x4(row).Mul(all(v))
	return sums.Add(step), sums.Add(step.Mul(all(stay)))
}

// biasAt is Bias.At after each of four events.
func biasAt(s *[12]Four, g *[9]float64, slope, curve *Moment) four {
	by0, own1 := archsimd.LoadFloat64x4(&slope.ByBase), archsimd.LoadFloat64x4(&slope.Slope)
	by1, own2 := archsimd.LoadFloat64x4(&curve.ByBase), archsimd.LoadFloat64x4(&curve.Slope)
	two, g8 := all(2), all(g[8])
	s7 := archsimd.LoadFloat64x4(&s[7])
	y0 := by0.Mul(archsimd.LoadFloat64x4(&s[6])).Add(own1.Mul(s7))
	y1 := by0.Mul(s7).Add(own1.Mul(archsimd.LoadFloat64x4(&s[8])))
	y2 := by0.Mul(archsimd.LoadFloat64x4(&s[9])).Add(own1.Mul(archsimd.LoadFloat64x4(&s[10])))
	y := by0.Mul(y0).Add(own1.Mul(y1))
	linear := by0.Mul(archsimd.LoadFloat64x4(&s[1]).Add(by1.Mul(archsimd.LoadFloat64x4(&s[3]))))
	linear = linear.Add(own1.Mul(archsimd.LoadFloat64x4(&s[2]).Add(by1.Mul(archsimd.LoadFloat64x4(&s[4])))))
	linear = linear.Add(own2.Mul(archsimd.LoadFloat64x4(&s[5])))
	mixed := all(g[5]).Add(g8.Mul(by1))
	square := all(g[4]).Add(by1.Mul(all(g[5]).Add(mixed)))
	own := own2.Mul(two.Mul(mixed.Mul(y2)).Add(g8.Mul(own2).Mul(archsimd.LoadFloat64x4(&s[11]))))
	return archsimd.LoadFloat64x4(&s[0]).Add(two.Mul(linear)).Add(square.Mul(y).Add(own))
}
