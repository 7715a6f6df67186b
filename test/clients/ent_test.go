package clients

import (
	"context"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/radish-sql/radish/test/clients/ent"
	"github.com/radish-sql/radish/test/clients/ent/reading"
	"github.com/radish-sql/radish/test/clients/ent/station"
)

// TestEnt makes the schema with ent's migration, foreign keys included, creates entities, and asks for neighbours and groups.
func TestEnt(t *testing.T) {
	ctx := context.Background()
	db := open(t)
	client := ent.NewClient(ent.Driver(entsql.OpenDB(dialect.MySQL, db)))
	for range 2 { // the second time there is nothing to do
		if err := client.Schema.Create(ctx); err != nil {
			t.Fatal(err)
		}
	}
	peak := client.Station.Create().SetName("peak").SetHeight(2962).SaveX(ctx)
	shore := client.Station.Create().SetName("shore").SaveX(ctx)
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	var bulk []*ent.ReadingCreate
	for i := range 20 {
		s := peak
		if i%4 == 0 {
			s = shore
		}
		bulk = append(bulk, client.Reading.Create().SetAt(at.Add(time.Duration(i)*time.Hour)).SetValue(float64(i)).SetStation(s).SetTags([]string{"x"}))
	}
	client.Reading.CreateBulk(bulk...).SaveX(ctx)
	if n := client.Reading.Query().Where(reading.HasStationWith(station.Name("shore"))).CountX(ctx); n != 5 {
		t.Errorf("%d readings at the shore", n)
	}
	got := client.Station.Query().Where(station.HeightIsNil()).WithReadings(func(q *ent.ReadingQuery) { q.Where(reading.ValueGT(10)).Order(ent.Desc(reading.FieldAt)) }).OnlyX(ctx)
	if len(got.Edges.Readings) != 2 || got.Edges.Readings[0].Value != 16 || got.Edges.Readings[0].Tags[0] != "x" || !got.Edges.Readings[0].At.Equal(at.Add(16*time.Hour)) {
		t.Errorf("got %v", got)
	}
	var groups []struct {
		Quality string  `json:"quality"`
		Count   int     `json:"count"`
		Sum     float64 `json:"sum"`
	}
	client.Reading.Update().Where(reading.ValueLT(3)).SetQuality(reading.QualityBad).SaveX(ctx)
	if err := client.Reading.Query().GroupBy(reading.FieldQuality).Aggregate(ent.Count(), ent.Sum(reading.FieldValue)).Scan(ctx, &groups); err != nil {
		t.Fatal(err)
	}
	sums := map[string]float64{}
	for _, g := range groups {
		sums[g.Quality] = g.Sum
	}
	if sums["bad"] != 3 || sums["good"] != 187 {
		t.Errorf("groups: %v", groups)
	}
	tx, err := client.Tx(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tx.Reading.Delete().ExecX(ctx)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if n := client.Reading.Query().CountX(ctx); n != 20 {
		t.Errorf("%d readings after a rollback", n)
	}
	if _, err := client.Station.Create().SetName("peak").Save(ctx); !ent.IsConstraintError(err) {
		t.Errorf("a duplicate name gives %v", err)
	}
	if err := client.Station.DeleteOne(peak).Exec(ctx); err == nil {
		var left int
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM readings WHERE station_readings = ?", peak.ID).Scan(&left); err != nil || left > 0 {
			t.Errorf("%d readings refer to a deleted station (%v)", left, err)
		}
	} else if !ent.IsConstraintError(err) {
		t.Errorf("the deletion of a station with readings gives %v", err)
	}
	if _, err := client.Reading.Create().SetAt(at).SetValue(1).SetStationID(99999).Save(ctx); !ent.IsConstraintError(err) {
		t.Errorf("a reading of no station gives %v", err)
	}
}
