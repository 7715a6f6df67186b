package keyhash

import "math"

// EstimateKeys estimates how many groups there are where so many rows had so many: n groups that are equally frequent show n * (1 - exp(-rows / n)).
func EstimateKeys(rows, groups int) int {
	if groups >= rows {
		return math.MaxInt
	}
	least, most := float64(groups), float64(rows)*float64(rows) // one pair of equal rows is expected of half as many
	for range 40 {
		n := math.Sqrt(least * most)
		if -n*math.Expm1(-float64(rows)/n) < float64(groups) {
			least = n
		} else {
			most = n
		}
	}
	return int(most)
}
