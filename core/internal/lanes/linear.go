package lanes

// Row has the contributions of a bin to the sums of a Linear.
type Row struct {
	Y [4]float64 // y_0, y_1, y_2 and f
	X [4]float64 // x_0, x_1, x_2 and rise
}

// Linear follows a part of a quadratic form of the CDFs of bins. An event of weight w in bin b changes it by
//
//	w (f_b + y_b.Y - x_b.X)   and f_b by w rise_b, Y by w y_b, X by w x_b
type Linear struct {
	Rows []Row
	Y    [4]float64 // Y_0, Y_1, Y_2, 1
	X    [4]float64 // -X_0, -X_1, -X_2, 0
}

// Cross crosses events, and adds the changes to d.
var Cross = crossGo

func crossGo(li *Linear, bins []uint32, weights, d []float64) {
	rows := li.Rows
	y0, y1, y2, x0, x1, x2 := li.Y[0], li.Y[1], li.Y[2], li.X[0], li.X[1], li.X[2]
	weights, d = weights[:len(bins)], d[:len(bins)]
	for i, b := range bins {
		row, w := &rows[b], weights[i]
		p0, p1 := float64(row.Y[0]*y0)+float64(row.X[0]*x0), float64(row.Y[1]*y1)+float64(row.X[1]*x1)
		p2 := float64(row.Y[2]*y2) + float64(row.X[2]*x2)
		d[i] += float64(w * ((p0 + p1) + (p2 + row.Y[3])))
		y0, y1, y2 = y0+float64(w*row.Y[0]), y1+float64(w*row.Y[1]), y2+float64(w*row.Y[2])
		x0, x1, x2 = x0-float64(w*row.X[0]), x1-float64(w*row.X[1]), x2-float64(w*row.X[2])
		row.Y[3] += float64(w * row.X[3])
	}
	li.Y, li.X = [4]float64{y0, y1, y2, li.Y[3]}, [4]float64{x0, x1, x2, li.X[3]}
}
