package constraint

// The constants of the law, for tests of the definition.
const (
	MostRanges     = mostRanges
	InRange        = inRange
	Proportional   = proportional
	Integral       = integral
	EventsOfABatch = eventsOfABatch
	Rate           = rate
	Pace           = pace
	Leak           = leak
	LeastFactor    = leastFactor
	Thresholds     = thresholds
	Highest        = highest
	Step           = step
	MostStep       = mostStep
	SlowAfter      = slowAfter
	InRecent       = inRecent
	InNow          = inNow
	MostAtOnce     = mostAtOnce
	InMean         = inMean
	FewestOfMean   = fewestOfMean
	Doubt          = doubt
	LeakOfTail     = leakOfTail
	MostBins       = mostBins
	MostLevel      = mostLevel
	NearBorder     = nearBorder
)

// FunctionsOfMass and FunctionsOfScore are the numbers of cells and functions.
var (
	FunctionsOfMass  = map[int][2]int{1: {int(massCells[1]), 24}, 2: {int(massCells[2]), 5}, 3: {int(massCells[3]), 3}}
	FunctionsOfScore = [2]int{ofScore.cells, ofScore.functions}
)
