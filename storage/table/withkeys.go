package table

import "context"

// WithKeys returns the same rows under a definition with other keys, after checking those that are unique (1062).
func (v *Version) WithKeys(ctx context.Context, schema *Schema) (*Version, error) {
	out := *v
	out.Schema = schema
	out.index = newIndexes(schema)
	if err := out.checkKeysBulk(ctx, 0); err != nil {
		return nil, err
	}
	return &out, nil
}
