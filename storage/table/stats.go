package table

type statsCache struct{}
