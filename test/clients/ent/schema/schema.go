// Package schema describes the tables of the test of ent. The packages beside it are generated: go generate ./ent.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
)

// Station is a place where something is measured.
type Station struct{ ent.Schema }

// Fields are the columns of a station.
func (Station) Fields() []ent.Field {
	return []ent.Field{field.String("name").Unique(), field.Float("height").Optional().Nillable()}
}

// Edges are what a station refers to.
func (Station) Edges() []ent.Edge { return []ent.Edge{edge.To("readings", Reading.Type)} }

// Reading is a value that a station measured.
type Reading struct{ ent.Schema }

// Fields are the columns of a reading.
func (Reading) Fields() []ent.Field {
	return []ent.Field{field.Time("at"), field.Float("value"), field.Enum("quality").Values("good", "bad").Default("good"), field.JSON("tags", []string{}).Optional()}
}

// Edges are what a reading refers to.
func (Reading) Edges() []ent.Edge {
	return []ent.Edge{edge.From("station", Station.Type).Ref("readings").Unique()}
}
