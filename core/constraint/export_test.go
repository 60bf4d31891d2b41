package constraint

// PlaceOfPush is the place of |u| of the first part in a lesson.
const PlaceOfPush = lengthOfTotals + 2

// PlaceOfEnds is the place of the ends of the cells of the first part in a lesson.
const PlaceOfEnds = lengthOfTotals + 7
