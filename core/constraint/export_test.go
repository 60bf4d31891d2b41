package constraint

// The constants of the law, for tests of the definition.
const (
	InRange        = inRange
	Proportional   = proportional
	Integral       = integral
	EventsOfABatch = eventsOfABatch
	Rate           = rate
	Thresholds     = thresholds
	Highest        = highest
	Step           = step
	MostStep       = mostStep
	SlowAfter      = slowAfter
	InRecent       = inRecent
	InNow          = inNow
	MostAtOnce     = mostAtOnce
	InMean         = inMean
	Doubt          = doubt
	LeakOfTail     = leakOfTail
	MostBins       = mostBins
	MostLevel      = mostLevel
	NearBorder     = nearBorder
)

// FunctionsOfMass and FunctionsOfScore are the numbers of cells and functions.
var (
	FunctionsOfMass  = map[int][2]int{1: {32, 24}, 2: {7, 5}, 3: {4, 3}}
	FunctionsOfScore = [2]int{32, 12}
)

// Polynomials returns those of the mean masses of cells with these shares.
func Polynomials(shares, masses []float64, order int) [][]float64 {
	sh := shown{background: shares}
	sh.masses, sh.places = places(shares, masses)
	return sh.polynomials(order)
}
