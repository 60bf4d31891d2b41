package lanes

// Variables, so that what the processor can do decides.
var (
	cross  = crossGo
	finish = finishGo
)

// Cross adds to d what four columns of a quadratic form contribute: w row.X, with the row of the event's bin, where X moves by
// sign w row.
func Cross(rows [][4]float64, sign float64, x *[4]float64, bins []uint32, weights, d []float64) {
	cross(rows, sign, x, bins, weights, d)
}

// Finish returns the sum of d (end - score), and multiplies d with scale.
func Finish(d, scores []float64, end, scale float64) float64 { return finish(d, scores, end, scale) }

func crossGo(rows [][4]float64, sign float64, x *[4]float64, bins []uint32, weights, d []float64) {
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	weights, d = weights[:len(bins)], d[:len(bins)]
	for i, b := range bins {
		row, w := &rows[b], weights[i]
		d[i] += float64(w * ((float64(row[0]*x0) + float64(row[1]*x1)) + (float64(row[2]*x2) + float64(row[3]*x3))))
		w = float64(w * sign)
		x0, x1, x2, x3 = x0+float64(w*row[0]), x1+float64(w*row[1]), x2+float64(w*row[2]), x3+float64(w*row[3])
	}
	*x = [4]float64{x0, x1, x2, x3}
}

func finishGo(d, scores []float64, end, scale float64) float64 {
	var s0, s1, s2, s3 float64
	scores = scores[:len(d)]
	whole := len(d) &^ 3
	for i := 0; i < whole; i += 4 {
		d, scores := d[i:i+4:i+4], scores[i:i+4:i+4]
		s0 += float64(d[0] * (end - scores[0]))
		s1 += float64(d[1] * (end - scores[1]))
		s2 += float64(d[2] * (end - scores[2]))
		s3 += float64(d[3] * (end - scores[3]))
		d[0], d[1], d[2], d[3] = scale*d[0], scale*d[1], scale*d[2], scale*d[3]
	}
	sums := [4]float64{s0, s1, s2, s3}
	for i := range d[whole:] {
		sums[i] += float64(d[whole+i] * (end - scores[whole+i]))
		d[whole+i] *= scale
	}
	return (sums[0] + sums[1]) + (sums[2] + sums[3])
}
