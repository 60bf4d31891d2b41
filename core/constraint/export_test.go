package constraint

// PlaceOfPush is the place of |u| of the first part in a lesson.
const PlaceOfPush = lengthOfTotals + 2
