package expr

import (
	"slices"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Functions that change documents. A document is parsed for each row anew, so it is changed in its place.

// eachChange calls f with each path and value behind the document; f returns the document as it is then.
func (a *jsonArgs) eachChange(f func(doc *jsonValue, p jsonPath, value *jsonValue) *jsonValue) (any, error) {
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
		value, err := a.c.jsonOf(a.values[i+1], a.name, i+2)
		if err != nil {
			return nil, err
		}
		doc = f(doc, p, value)
	}
	return doc, nil
}

// modifyJSON makes JSON_SET, JSON_INSERT and JSON_REPLACE: whether values are put where nothing is, and where something is.
func modifyJSON(insert, replace bool) func(*jsonArgs) (any, error) {
	return func(a *jsonArgs) (any, error) {
		return a.eachChange(func(doc *jsonValue, p jsonPath, value *jsonValue) *jsonValue {
			return putJSON(doc, p, value, insert, replace)
		})
	}
}

func putJSON(doc *jsonValue, p jsonPath, value *jsonValue, insert, replace bool) *jsonValue {
	var there *jsonValue
	p.seek(doc, func(v *jsonValue) { there = v })
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
	var parent *jsonValue
	last := p[len(p)-1]
	p[:len(p)-1].seek(doc, func(v *jsonValue) { parent = v })
	switch {
	case parent == nil:
	case last.kind == legKey && parent.kind == jsonObject:
		parent.set(last.key, value)
	case last.kind == legCell && parent.kind == jsonArray:
		if last.from.last { // before the first
			parent.items = slices.Insert(parent.items, 0, value)
		} else {
			parent.items = append(parent.items, value)
		}
	case last.kind == legCell: // what is no array becomes one
		old := *parent
		items := []*jsonValue{&old, value}
		if last.from.last {
			items = []*jsonValue{value, &old}
		}
		*parent = jsonValue{kind: jsonArray, items: items}
	}
	return doc
}

func evalJSONAppend(a *jsonArgs) (any, error) {
	return a.eachChange(func(doc *jsonValue, p jsonPath, value *jsonValue) *jsonValue {
		p.seek(doc, func(v *jsonValue) {
			if v.kind != jsonArray {
				old := *v
				*v = jsonValue{kind: jsonArray, items: []*jsonValue{&old}}
			}
			v.items = append(v.items, value)
		})
		return doc
	})
}

func evalJSONRemove(a *jsonArgs) (any, error) {
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
			return nil, sqlerr.New(codeJSONRoot, sqlerr.User, "The path expression '$' is not allowed in this context.")
		}
		last := p[len(p)-1]
		p[:len(p)-1].seek(doc, func(v *jsonValue) {
			switch {
			case last.kind == legKey && v.kind == jsonObject:
				if i, have := v.find(last.key); have {
					v.keys, v.items = slices.Delete(v.keys, i, i+1), slices.Delete(v.items, i, i+1)
				}
			case last.kind == legCell && v.kind == jsonArray:
				if i := last.from.in(len(v.items)); i >= 0 && i < len(v.items) {
					v.items = slices.Delete(v.items, i, i+1)
				}
			}
		})
	}
	return doc, nil
}

// mergeDocs makes a function that merges its operands one after the other.
func mergeDocs(merge func(a, b *jsonValue) *jsonValue) func(*jsonArgs) (any, error) {
	return func(a *jsonArgs) (any, error) {
		if a.null(0, len(a.values)) {
			return nil, nil
		}
		var out *jsonValue
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

// patchJSON merges by RFC 7396.
func patchJSON(target, patch *jsonValue) *jsonValue {
	if patch.kind != jsonObject {
		return patch
	}
	if target.kind != jsonObject {
		target = &jsonValue{kind: jsonObject}
	}
	for i, key := range patch.keys {
		at, have := target.find(key)
		switch {
		case patch.items[i].kind != jsonNull && have:
			target.items[at] = patchJSON(target.items[at], patch.items[i])
		case patch.items[i].kind != jsonNull:
			target.set(key, patchJSON(&jsonValue{}, patch.items[i]))
		case have:
			target.keys, target.items = slices.Delete(target.keys, at, at+1), slices.Delete(target.items, at, at+1)
		}
	}
	return target
}

func preserveJSON(a, b *jsonValue) *jsonValue {
	if a.kind == jsonObject && b.kind == jsonObject {
		for i, key := range b.keys {
			if at, have := a.find(key); have {
				a.items[at] = preserveJSON(a.items[at], b.items[i])
			} else {
				a.set(key, b.items[i])
			}
		}
		return a
	}
	list := func(v *jsonValue) []*jsonValue {
		if v.kind == jsonArray {
			return v.items
		}
		return []*jsonValue{v}
	}
	return &jsonValue{kind: jsonArray, items: slices.Concat(list(a), list(b))}
}
