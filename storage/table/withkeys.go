package table

// WithKeys returns the same rows under a definition with other keys, after checking those that are unique (1062).
func (v *Version) WithKeys(schema *Schema) (*Version, error) {
	out := *v
	out.Schema = schema
	out.index = newIndexes(schema)
	if err := out.checkKeysBulk(0); err != nil {
		return nil, err
	}
	return &out, nil
}
