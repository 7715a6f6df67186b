package clients

import (
	"errors"
	"testing"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/radish-sql/radish"
)

// Device and Measurement are models as programs write them; IDs are the program's own.
type Device struct {
	ID           uint   `gorm:"primaryKey"`
	Name         string `gorm:"size:40;uniqueIndex"`
	Site         *string
	Measurements []Measurement
}

type Measurement struct {
	ID       uint `gorm:"primaryKey"`
	DeviceID uint `gorm:"index"`
	Device   *Device
	At       time.Time
	Value    float64
	Price    string `gorm:"type:decimal(10,2)"`
	OK       bool
}

func openGorm(t *testing.T) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(mysql.New(mysql.Config{Conn: open(t)}), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// TestGorm migrates models, creates rows in batches, and asks with conditions, joins, groups, preloads and transactions.
func TestGorm(t *testing.T) {
	db := openGorm(t)
	if err := db.AutoMigrate(&Device{}, &Measurement{}); err != nil {
		t.Fatal(err)
	}
	must := func(tx *gorm.DB) {
		t.Helper()
		if tx.Error != nil {
			t.Fatal(tx.Error)
		}
	}
	site := "roof"
	devices := []Device{{Name: "a", Site: &site}, {Name: "b"}, {Name: "c"}}
	must(db.Create(&devices))
	if devices[0].ID == 0 || devices[2].ID != devices[0].ID+2 {
		t.Fatalf("IDs: %v", devices)
	}
	at := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	var list []Measurement
	for i := range 50 {
		list = append(list, Measurement{DeviceID: devices[i%2].ID, At: at.Add(time.Duration(i) * time.Hour), Value: float64(i), Price: "1.10", OK: i%5 != 0})
	}
	must(db.CreateInBatches(list, 20))
	var n int64
	must(db.Model(&Measurement{}).Where("value > ? AND ok = ?", 9.5, true).Count(&n))
	if n != 32 {
		t.Errorf("count: %d", n)
	}
	var first Measurement
	must(db.Preload("Device").Order("value DESC").First(&first, "device_id = ?", devices[0].ID))
	if first.Value != 0 && first.Device.Name != "a" {
		t.Errorf("first: %+v", first)
	}
	if !first.At.Equal(at.Add(time.Duration(first.Value)*time.Hour)) || first.Price != "1.10" {
		t.Errorf("first: %+v", first)
	}
	type group struct {
		Name  string
		N     int
		Total float64
		Paid  string
	}
	var groups []group
	must(db.Model(&Measurement{}).Select("devices.name, COUNT(*) AS n, SUM(value) AS total, SUM(price) AS paid").
		Joins("JOIN devices ON devices.id = measurements.device_id").Group("devices.name").Having("COUNT(*) > ?", 1).Order("devices.name").Scan(&groups))
	if len(groups) != 2 || groups[0] != (group{"a", 25, 600, "27.50"}) || groups[1] != (group{"b", 25, 625, "27.50"}) {
		t.Errorf("groups: %v", groups)
	}
	var page []Measurement
	must(db.Where(map[string]any{"ok": true}).Order("at").Limit(5).Offset(10).Find(&page))
	if len(page) != 5 || page[0].Value != 13 {
		t.Errorf("page: %+v", page)
	}
	var all []Device
	must(db.Preload("Measurements", "value >= ?", 48).Order("id").Find(&all))
	if len(all) != 3 || len(all[0].Measurements) != 1 || len(all[2].Measurements) != 0 || *all[0].Site != "roof" || all[1].Site != nil {
		t.Errorf("preloaded: %+v", all)
	}
	must(db.Model(&Device{}).Where("name = ?", "c").Updates(map[string]any{"site": "cellar", "name": "d"}))
	must(db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&Device{ID: devices[2].ID, Name: "e"}))
	var last Device
	must(db.Take(&last, devices[2].ID))
	if last.Name != "e" {
		t.Errorf("upserted: %+v", last)
	}
	// GORM translates errors of go-sql-driver's type only: the driver's own stays.
	var refused *radish.Error
	if err := db.Create(&Device{Name: "e"}).Error; !errors.As(err, &refused) || refused.Code != 1062 {
		t.Errorf("a duplicate key gives %v", err)
	}
	// The models' association made a foreign key.
	if err := db.Create(&Measurement{DeviceID: 999, At: at, Price: "1"}).Error; !errors.As(err, &refused) || refused.Code != 1452 {
		t.Errorf("a measurement of no device gives %v", err)
	}
	if err := db.Delete(&devices[0]).Error; !errors.As(err, &refused) || refused.Code != 1451 {
		t.Errorf("the deletion of a device with measurements gives %v", err)
	}
	failed := errors.New("no")
	err := db.Transaction(func(tx *gorm.DB) error {
		must(tx.Where("1 = 1").Delete(&Measurement{}))
		return failed
	})
	must(db.Model(&Measurement{}).Count(&n))
	if !errors.Is(err, failed) || n != 50 {
		t.Errorf("after a rollback: %d rows, %v", n, err)
	}
	must(db.Delete(&Measurement{}, "value < ?", 10))
	must(db.Raw("SELECT COUNT(*) FROM measurements WHERE ok").Scan(&n))
	if n != 32 {
		t.Errorf("after a delete: %d", n)
	}
	if err := db.Take(&last, 999).Error; !errors.Is(err, gorm.ErrRecordNotFound) {
		t.Errorf("no row: %v", err)
	}
	// A column that a later version of a model has.
	type Device struct {
		ID    uint   `gorm:"primaryKey"`
		Name  string `gorm:"size:40;uniqueIndex"`
		Site  *string
		Model string `gorm:"size:20;default:old"`
	}
	if err := db.AutoMigrate(&Device{}); err != nil {
		t.Fatal(err)
	}
	var model string
	must(db.Raw("SELECT model FROM devices WHERE name = 'a'").Scan(&model))
	if model != "old" {
		t.Errorf("the new column holds %q", model)
	}
}
