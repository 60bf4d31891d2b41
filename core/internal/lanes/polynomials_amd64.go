//go:build goexperiment.simd && go1.26 && !go1.27

package lanes

import "simd/archsimd"

// at returns four of 16 numbers.
func at(p *[16]float64, i int) four { return archsimd.LoadFloat64x4((*[4]float64)(p[i : i+4])) }

func recurAVX2(q [][]float64, x []float64, steps []Step) {
	i := 0
	for ; i+16 <= len(x); i += 16 {
		x := (*[16]float64)(x[i:])
		x0, x1, x2, x3 := at(x, 0), at(x, 4), at(x, 8), at(x, 12)
		b, c := (*[16]float64)(q[0][i:]), (*[16]float64)(q[1][i:])
		b0, b1, b2, b3 := at(b, 0), at(b, 4), at(b, 8), at(b, 12)
		c0, c1, c2, c3 := at(c, 0), at(c, 4), at(c, 8), at(c, 12)
		for k := range steps {
			step := &steps[k]
			alpha, beta, factor := all(step.Alpha), all(step.Beta), all(step.Factor)
			n0 := factor.Mul(x0.Sub(alpha).Mul(c0).Sub(beta.Mul(b0)))
			n1 := factor.Mul(x1.Sub(alpha).Mul(c1).Sub(beta.Mul(b1)))
			n2 := factor.Mul(x2.Sub(alpha).Mul(c2).Sub(beta.Mul(b2)))
			n3 := factor.Mul(x3.Sub(alpha).Mul(c3).Sub(beta.Mul(b3)))
			store16(q[k+2][i:], n0, n1, n2, n3)
			b0, b1, b2, b3 = c0, c1, c2, c3
			c0, c1, c2, c3 = n0, n1, n2, n3
		}
	}
	archsimd.ClearAVXUpperBits()
	recurFrom(i, q, x, steps)
}

// overlapsAVX2 takes four of the others at a time, and at the end two; in place of one that is missing, the last.
func overlapsAVX2(sums, u, q []float64, others [][]float64) {
	whole := len(u) &^ 3
	for j := 0; j < len(others); {
		var found [4]float64
		count, last := 4, len(others)-1
		if last-j < 2 {
			count = 2
			overlapTwo(&found, u[:whole], q, others[j], others[min(j+1, last)])
		} else {
			overlapFour(&found, u[:whole], q, others[j], others[j+1], others[j+2], others[min(j+3, last)])
		}
		for _, sum := range found[:min(count, last+1-j)] {
			sums[j] += sum
			j++
		}
	}
	archsimd.ClearAVXUpperBits()
	overlapsOfRest(sums, u[whole:], q[whole:], others, whole)
}

func overlapFour(found *[4]float64, u, q, a, b, c, d []float64) {
	var s0, s1, s2, s3 four
	i := 0
	for ; i+16 <= len(u); i += 16 {
		u, q := (*[16]float64)(u[i:]), (*[16]float64)(q[i:])
		a, b, c, d := (*[16]float64)(a[i:]), (*[16]float64)(b[i:]), (*[16]float64)(c[i:]), (*[16]float64)(d[i:])
		p0, p1, p2, p3 := at(u, 0).Mul(at(q, 0)), at(u, 4).Mul(at(q, 4)), at(u, 8).Mul(at(q, 8)), at(u, 12).Mul(at(q, 12))
		s0 = s0.Add(p0.Mul(at(a, 0))).Add(p1.Mul(at(a, 4))).Add(p2.Mul(at(a, 8))).Add(p3.Mul(at(a, 12)))
		s1 = s1.Add(p0.Mul(at(b, 0))).Add(p1.Mul(at(b, 4))).Add(p2.Mul(at(b, 8))).Add(p3.Mul(at(b, 12)))
		s2 = s2.Add(p0.Mul(at(c, 0))).Add(p1.Mul(at(c, 4))).Add(p2.Mul(at(c, 8))).Add(p3.Mul(at(c, 12)))
		s3 = s3.Add(p0.Mul(at(d, 0))).Add(p1.Mul(at(d, 4))).Add(p2.Mul(at(d, 8))).Add(p3.Mul(at(d, 12)))
	}
	for ; i < len(u); i += 4 {
		p := archsimd.LoadFloat64x4Slice(u[i:]).Mul(archsimd.LoadFloat64x4Slice(q[i:]))
		s0, s1 = s0.Add(p.Mul(archsimd.LoadFloat64x4Slice(a[i:]))), s1.Add(p.Mul(archsimd.LoadFloat64x4Slice(b[i:])))
		s2, s3 = s2.Add(p.Mul(archsimd.LoadFloat64x4Slice(c[i:]))), s3.Add(p.Mul(archsimd.LoadFloat64x4Slice(d[i:])))
	}
	sumLanes(s0, s1, s2, s3).Store(found)
}

func overlapTwo(found *[4]float64, u, q, a, b []float64) {
	var s0, s1 four
	i := 0
	for ; i+16 <= len(u); i += 16 {
		u, q, a, b := (*[16]float64)(u[i:]), (*[16]float64)(q[i:]), (*[16]float64)(a[i:]), (*[16]float64)(b[i:])
		p0, p1, p2, p3 := at(u, 0).Mul(at(q, 0)), at(u, 4).Mul(at(q, 4)), at(u, 8).Mul(at(q, 8)), at(u, 12).Mul(at(q, 12))
		s0 = s0.Add(p0.Mul(at(a, 0))).Add(p1.Mul(at(a, 4))).Add(p2.Mul(at(a, 8))).Add(p3.Mul(at(a, 12)))
		s1 = s1.Add(p0.Mul(at(b, 0))).Add(p1.Mul(at(b, 4))).Add(p2.Mul(at(b, 8))).Add(p3.Mul(at(b, 12)))
	}
	for ; i < len(u); i += 4 {
		p := archsimd.LoadFloat64x4Slice(u[i:]).Mul(archsimd.LoadFloat64x4Slice(q[i:]))
		s0, s1 = s0.Add(p.Mul(archsimd.LoadFloat64x4Slice(a[i:]))), s1.Add(p.Mul(archsimd.LoadFloat64x4Slice(b[i:])))
	}
	sumLanes(s0, s1, s0, s1).Store(found)
}

func combineAVX2(dst, factors []float64, columns [][]float64) {
	i := 0
	for ; i+16 <= len(dst); i += 16 {
		var s0, s1, s2, s3 four
		for j, column := range columns {
			c, f := (*[16]float64)(column[i:]), all(factors[j])
			s0, s1 = s0.Add(f.Mul(at(c, 0))), s1.Add(f.Mul(at(c, 4)))
			s2, s3 = s2.Add(f.Mul(at(c, 8))), s3.Add(f.Mul(at(c, 12)))
		}
		store16(dst[i:], s0, s1, s2, s3)
	}
	archsimd.ClearAVXUpperBits()
	combineFrom(i, dst, factors, columns)
}

func sumSquaresAVX2(dst, u []float64, columns [][]float64) {
	i := 0
	for ; i+16 <= len(dst); i += 16 {
		var s0, s1, s2, s3 four
		for _, column := range columns {
			c := (*[16]float64)(column[i:])
			c0, c1, c2, c3 := at(c, 0), at(c, 4), at(c, 8), at(c, 12)
			s0, s1, s2, s3 = s0.Add(c0.Mul(c0)), s1.Add(c1.Mul(c1)), s2.Add(c2.Mul(c2)), s3.Add(c3.Mul(c3))
		}
		u := (*[16]float64)(u[i:])
		u0, u1, u2, u3 := at(u, 0), at(u, 4), at(u, 8), at(u, 12)
		store16(dst[i:], s0.Mul(u0.Mul(u0)), s1.Mul(u1.Mul(u1)), s2.Mul(u2.Mul(u2)), s3.Mul(u3.Mul(u3)))
	}
	archsimd.ClearAVXUpperBits()
	sumSquaresFrom(i, dst, u, columns)
}

// store16 stores the first 16 numbers.
func store16(dst []float64, s0, s1, s2, s3 four) {
	to := (*[16]float64)(dst)
	s0.Store((*[4]float64)(to[0:4]))
	s1.Store((*[4]float64)(to[4:8]))
	s2.Store((*[4]float64)(to[8:12]))
	s3.Store((*[4]float64)(to[12:16]))
}
