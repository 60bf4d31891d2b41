package disco

// setSlopes sets the derivatives of dCov^2(x, y) by y, and where they are wanted those by x.
func (dc *call) setSlopes(fm *form, ofX bool) {
	dc.team.Run(2, func(k int) {
		if k == 1 {
			all := dc.x.total()
			for k, r := range dc.rank {
				dc.y.factor[k] = fm.factor(dc.y.w[k], dc.events[r].ofY, all)
			}
			signedSums(dc.y.slope, dc.y.z, dc.y.w, dc.y.factor)
		} else if ofX {
			all := dc.y.total()
			for r := range dc.events {
				dc.x.factor[r] = fm.factor(dc.x.w[r], dc.events[r].ofX, all)
			}
			signedSums(dc.x.slope, dc.x.z, dc.x.w, dc.x.factor)
		}
	})
	dc.pairs.sum(dc)
	dc.addPairs(ofX, func(w, g float64) float64 { return fm.ofPairs(w, g, 0) })
	if fm.squares {
		dc.square()
		dc.pairs.sum(dc)
		dc.addPairs(ofX, func(w, g float64) float64 { return fm.ofPairs(w, 0, g) })
	}
}

// addPairs adds what the sums over pairs, g, contribute to the slopes.
func (dc *call) addPairs(ofX bool, contribution func(w, g float64) float64) {
	dc.team.Blocks(len(dc.rank), 1<<14, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			dc.y.slope[k] += contribution(dc.y.w[k], dc.pairs.ofY[dc.rank[k]])
			if ofX {
				dc.x.slope[k] += contribution(dc.x.w[k], dc.pairs.ofX[k])
			}
		}
	})
}

// square gives the events the squares of the weights, and the row sums of these. The axes keep their weights.
func (dc *call) square() {
	dc.ofAxes(func(_ int, ax *axis) {
		for p, w := range ax.w {
			ax.factor[p] = w * w
		}
		rowSums(ax.row, ax.z, ax.factor)
	})
	dc.team.Blocks(len(dc.rank), 1<<14, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			dc.events[dc.rank[k]].ofX = dc.y.row[k]
			dc.events[k].w, dc.events[k].ofY = dc.x.factor[k], dc.x.row[k]
		}
	})
}

// total is sum_i w_i row_i.
func (ax *axis) total() float64 {
	var all sum
	for k, row := range ax.row {
		all.add(ax.w[k] * row)
	}
	return all.value()
}
