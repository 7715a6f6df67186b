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
	"github.com/radish-sql/radish/gormradish"
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
	// Without TranslateError the driver's own error stays.
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

// Shelf and Book have a key, a foreign key and a condition that rows can violate.
type Shelf struct {
	ID    uint   `gorm:"primaryKey"`
	Name  string `gorm:"size:20;uniqueIndex"`
	Width int    `gorm:"check:width > 0"`
	Books []Book
}

type Book struct {
	ID      uint `gorm:"primaryKey"`
	ShelfID uint
}

// TestGormTranslates opens a database by its name, and asks GORM for its own errors.
func TestGormTranslates(t *testing.T) {
	db, err := gorm.Open(gormradish.Open(":memory:"), &gorm.Config{Logger: logger.Discard, TranslateError: true})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if err := db.AutoMigrate(&Shelf{}, &Book{}); err != nil {
		t.Fatal(err)
	}
	shelf := Shelf{Name: "a", Width: 3, Books: []Book{{}, {}}}
	if err := db.Create(&shelf).Error; err != nil {
		t.Fatal(err)
	}
	if err := db.Create(&Shelf{Name: "b", Width: 9}).Error; err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		err  error
		want error
		code int
	}{
		{"a name that is there", db.Create(&Shelf{Name: "a", Width: 1}).Error, gorm.ErrDuplicatedKey, 1062},
		{"a number that is there", db.Create(&Book{ID: shelf.Books[0].ID, ShelfID: shelf.ID}).Error, gorm.ErrDuplicatedKey, 1062},
		{"a rename to it", db.Model(&Shelf{}).Where("name = ?", "b").Update("name", "a").Error, gorm.ErrDuplicatedKey, 1062},
		{"a book without a shelf", db.Create(&Book{ShelfID: 99}).Error, gorm.ErrForeignKeyViolated, 1452},
		{"a shelf with books that goes", db.Delete(&shelf).Error, gorm.ErrForeignKeyViolated, 1451},
		{"a shelf of no width", db.Create(&Shelf{Name: "c"}).Error, gorm.ErrCheckConstraintViolated, 3819},
		{"a raw statement", db.Exec("INSERT INTO shelves (name, width) VALUES ('a', 1)").Error, gorm.ErrDuplicatedKey, 1062},
	} {
		var refused *radish.Error
		if !errors.Is(c.err, c.want) || !errors.As(c.err, &refused) || int(refused.Code) != c.code {
			t.Errorf("%s gives %v", c.what, c.err)
		}
	}
	if err := db.Exec("SELECT nothing").Error; errors.Is(err, gorm.ErrDuplicatedKey) || err == nil {
		t.Errorf("an unknown column gives %v", err)
	}
	if err := db.Take(&shelf, 999).Error; !errors.Is(err, gorm.ErrRecordNotFound) {
		t.Errorf("no row gives %v", err)
	}
}
