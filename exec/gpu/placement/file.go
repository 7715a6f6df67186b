package placement

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// What was learned is kept in a file beside the calibration's: written at most every saveEvery, and when the program says so. Several processes may share it: each
// writes the newer of what the file has of a statement and what it knows itself.

const saveEvery = 5 * time.Second

// learnedFile is the file's content.
type learnedFile struct {
	Corrections struct {
		CPU cost.Rates `json:"cpu"` // factors
		GPU cost.Rates `json:"gpu"`
	} `json:"corrections"`
	Statements map[string]*record `json:"statements"` // by fingerprint, in hexadecimal digits
}

// factors are the exponentials of logarithms.
func factors(r cost.Rates) cost.Rates {
	for c := range r {
		r[c] = math.Exp(r[c])
	}
	return r
}

// load takes what the file holds. One that is missing or damaged holds nothing.
func (a *Advisor) load() {
	f := readLearned(a.file)
	if f == nil {
		return
	}
	for d, factors := range []*cost.Rates{&f.Corrections.CPU, &f.Corrections.GPU} {
		for c, x := range factors {
			if x > 0 {
				a.corrected[d][c] = min(max(math.Log(x), -mostCorrection), mostCorrection)
			}
		}
	}
	a.merge(f)
}

func readLearned(file string) *learnedFile {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var f learnedFile
	if json.Unmarshal(text, &f) != nil {
		return nil
	}
	return &f
}

// merge takes statements that ran later than what is known of them. The caller holds mu, or nobody else knows the advisor.
func (a *Advisor) merge(f *learnedFile) {
	oldest := a.now().Add(-forgetAfter).Unix()
	for name, r := range f.Statements {
		key, err := strconv.ParseUint(name, 16, 64)
		if err != nil || r == nil || r.Used < oldest || !r.CPU.valid() || !r.GPU.valid() {
			continue
		}
		if mine := a.records[key]; mine == nil || mine.Used < r.Used {
			if mine != nil {
				r.text = mine.text
			}
			a.records[key] = r
		}
	}
	a.limit()
}

func (x *runs) valid() bool { return x.Seconds >= 0 && x.Bound >= 0 && x.Count >= 0 && x.Lost >= 0 }

// saveSoon writes the file in the background, unless it was written a short while ago. The caller holds mu.
func (a *Advisor) saveSoon(now time.Time) {
	if a.file == "" || a.saving || now.Sub(a.saved) < saveEvery {
		return
	}
	a.saving, a.saved = true, now
	a.saves.Go(func() {
		_ = sqlerr.Guard(a.Save) // what cannot be kept is learned again
		a.mu.Lock()
		a.saving = false
		a.mu.Unlock()
	})
}

// Close writes the file if something was learned since, and waits until that is done.
func (a *Advisor) Close() error {
	a.saves.Wait()
	return a.Save()
}

// Save writes the file, unless nothing was learned since. It waits for another Save of the same Advisor, so that the file has all that was learned before
// the call and a later text never makes way for an earlier one.
func (a *Advisor) Save() error {
	a.writing.Lock()
	defer a.writing.Unlock()
	a.mu.Lock()
	learned := a.learned
	a.learned = false
	a.mu.Unlock()
	if a.file == "" || !learned {
		return nil
	}
	before := readLearned(a.file)
	a.mu.Lock()
	if before != nil {
		a.merge(before)
	}
	f := learnedFile{Statements: make(map[string]*record, len(a.records))}
	f.Corrections.CPU, f.Corrections.GPU = factors(a.corrected[0]), factors(a.corrected[1])
	for key, r := range a.records {
		f.Statements[strconv.FormatUint(key, 16)] = r
	}
	text, err := json.Marshal(f)
	a.mu.Unlock()
	if err != nil {
		return err
	}
	return writeFile(a.file, text)
}

// remove deletes the file.
func (a *Advisor) remove() error {
	if a.file == "" {
		return nil
	}
	if err := os.Remove(a.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// writeFile writes a file, whose folder it makes.
func writeFile(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return gpukernels.WriteWhole(file, append(text, '\n'))
}

// SaveCosts writes costs that were measured.
func SaveCosts(file string, c *cost.Table) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(file, text)
}

// LoadCosts returns what SaveCosts wrote; nil if there is no such file, or another's.
func LoadCosts(file string) *cost.Table {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var c cost.Table
	if json.Unmarshal(text, &c) != nil || !c.IsValid() {
		return nil
	}
	return &c
}
