package jsonfn

import (
	"slices"

	"github.com/radish-sql/radish/sql/jsondoc"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Functions that change documents. A document is parsed for each row anew, so it is changed in place.

// eachChange calls f with each path and value behind the document; f returns the document as it is then.
func (a *operands) eachChange(f func(doc *jsondoc.Value, p jsondoc.Path, value *jsondoc.Value) *jsondoc.Value) (any, error) {
	if len(a.values)%2 == 0 {
		return nil, sqlerr.WrongParamCount(a.name)
	}
	if a.values[0].Null {
		return nil, nil
	}
	doc, err := a.doc(0)
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(a.values); i += 2 {
		if a.values[i].Null {
			return nil, nil
		}
		p, err := a.plainPath(i)
		if err != nil {
			return nil, err
		}
		value, err := jsondoc.Of(a.c, a.values[i+1], a.name, i+2)
		if err != nil {
			return nil, err
		}
		doc = f(doc, p, value)
	}
	return doc, nil
}

// modify makes JSON_SET, JSON_INSERT and JSON_REPLACE: whether values are put where nothing is, and where something is.
func modify(insert, replace bool) func(*operands) (any, error) {
	return func(a *operands) (any, error) {
		return a.eachChange(func(doc *jsondoc.Value, p jsondoc.Path, value *jsondoc.Value) *jsondoc.Value {
			return put(doc, p, value, insert, replace)
		})
	}
}

func put(doc *jsondoc.Value, p jsondoc.Path, value *jsondoc.Value, insert, replace bool) *jsondoc.Value {
	var there *jsondoc.Value
	p.Seek(doc, func(v *jsondoc.Value) { there = v })
	if there != nil {
		if !replace {
			return doc
		}
		if there == doc {
			return value
		}
		*there = *value
		return doc
	}
	if !insert || len(p) == 0 {
		return doc
	}
	var parent *jsondoc.Value
	last := p[len(p)-1]
	p[:len(p)-1].Seek(doc, func(v *jsondoc.Value) { parent = v })
	switch {
	case parent == nil:
	case last.Kind == jsondoc.LegKey && parent.Kind == jsondoc.Object:
		parent.Set(last.Key, value)
	case last.Kind == jsondoc.LegCell && parent.Kind == jsondoc.Array:
		if last.From.Last { // before the first
			parent.Items = slices.Insert(parent.Items, 0, value)
		} else {
			parent.Items = append(parent.Items, value)
		}
	case last.Kind == jsondoc.LegCell: // what is no array becomes one
		old := *parent
		items := []*jsondoc.Value{&old, value}
		if last.From.Last {
			items = []*jsondoc.Value{value, &old}
		}
		*parent = jsondoc.Value{Kind: jsondoc.Array, Items: items}
	}
	return doc
}

func evalAppend(a *operands) (any, error) {
	return a.eachChange(func(doc *jsondoc.Value, p jsondoc.Path, value *jsondoc.Value) *jsondoc.Value {
		p.Seek(doc, func(v *jsondoc.Value) {
			if v.Kind != jsondoc.Array {
				old := *v
				*v = jsondoc.Value{Kind: jsondoc.Array, Items: []*jsondoc.Value{&old}}
			}
			v.Items = append(v.Items, value)
		})
		return doc
	})
}

func evalRemove(a *operands) (any, error) {
	if a.null(0, len(a.values)) {
		return nil, nil
	}
	doc, err := a.doc(0)
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(a.values); i++ {
		p, err := a.plainPath(i)
		if err != nil {
			return nil, err
		}
		if len(p) == 0 {
			return nil, sqlerr.New(jsondoc.CodeRoot, sqlerr.User, "The path expression '$' is not allowed in this context.")
		}
		last := p[len(p)-1]
		p[:len(p)-1].Seek(doc, func(v *jsondoc.Value) {
			switch {
			case last.Kind == jsondoc.LegKey && v.Kind == jsondoc.Object:
				if i, have := v.Find(last.Key); have {
					v.Keys, v.Items = slices.Delete(v.Keys, i, i+1), slices.Delete(v.Items, i, i+1)
				}
			case last.Kind == jsondoc.LegCell && v.Kind == jsondoc.Array:
				if i := last.From.In(len(v.Items)); i >= 0 && i < len(v.Items) {
					v.Items = slices.Delete(v.Items, i, i+1)
				}
			}
		})
	}
	return doc, nil
}

// mergeDocs makes a function that merges its operands one after the other.
func mergeDocs(merge func(a, b *jsondoc.Value) *jsondoc.Value) func(*operands) (any, error) {
	return func(a *operands) (any, error) {
		if a.null(0, len(a.values)) {
			return nil, nil
		}
		var out *jsondoc.Value
		for i := range a.values {
			doc, err := a.doc(i)
			if err != nil {
				return nil, err
			}
			if out == nil {
				out = doc
			} else {
				out = merge(out, doc)
			}
		}
		return out, nil
	}
}

// mergePatch merges by RFC 7396.
func mergePatch(target, patch *jsondoc.Value) *jsondoc.Value {
	if patch.Kind != jsondoc.Object {
		return patch
	}
	if target.Kind != jsondoc.Object {
		target = &jsondoc.Value{Kind: jsondoc.Object}
	}
	for i, key := range patch.Keys {
		at, have := target.Find(key)
		switch {
		case patch.Items[i].Kind != jsondoc.Null && have:
			target.Items[at] = mergePatch(target.Items[at], patch.Items[i])
		case patch.Items[i].Kind != jsondoc.Null:
			target.Set(key, mergePatch(&jsondoc.Value{}, patch.Items[i]))
		case have:
			target.Keys, target.Items = slices.Delete(target.Keys, at, at+1), slices.Delete(target.Items, at, at+1)
		}
	}
	return target
}

func preserve(a, b *jsondoc.Value) *jsondoc.Value {
	if a.Kind == jsondoc.Object && b.Kind == jsondoc.Object {
		for i, key := range b.Keys {
			if at, have := a.Find(key); have {
				a.Items[at] = preserve(a.Items[at], b.Items[i])
			} else {
				a.Set(key, b.Items[i])
			}
		}
		return a
	}
	list := func(v *jsondoc.Value) []*jsondoc.Value {
		if v.Kind == jsondoc.Array {
			return v.Items
		}
		return []*jsondoc.Value{v}
	}
	return &jsondoc.Value{Kind: jsondoc.Array, Items: slices.Concat(list(a), list(b))}
}
