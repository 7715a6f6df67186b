package tpch

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/storage/tpch"
)

// digestFile holds, by scale factor, the digests of the 22 results. demo --record writes it, and only from results
// that have just agreed with the published answers.
//
//go:embed digests.json
var digestFile []byte

// digests are digests by scale factor, in the order of the queries.
type digests map[string][]string

func loadDigests(text []byte) (digests, error) {
	d := digests{}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("digests.json: %w", err)
	}
	for sf, list := range d {
		if n := len(tpch.Queries(1)); len(list) != n {
			return nil, fmt.Errorf("digests.json: scale factor %s has %d digests, want %d", sf, len(list), n)
		}
	}
	return d, nil
}

// record puts the digests of a run into a file, beside those of other scale factors. It refuses unless every query
// ran and agreed with its published answer.
func record(path string, sf float64, runs []queryRun) error {
	queries := tpch.Queries(sf)
	if len(runs) != len(queries) {
		return fmt.Errorf("nothing recorded: %d queries ran, and all %d must", len(runs), len(queries))
	}
	list := make([]string, len(runs))
	for i, r := range runs {
		if r.err != nil || r.check != checkPublished {
			return fmt.Errorf("nothing recorded: Q%d did not agree with a published answer", r.query.Number)
		}
		list[i] = r.digest
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("the file of digests: %w", err)
	}
	d, err := loadDigests(text)
	if err != nil {
		return err
	}
	d[database.ScaleText(sf)] = list
	if text, err = json.MarshalIndent(d, "", "\t"); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
