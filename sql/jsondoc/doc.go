// Package jsondoc reads and writes JSON documents in MySQL's normal form, follows paths in them, and says what is wrong with a string that is
// no document. The JSON functions (sql/functions/jsonfn) and casts to JSON are made of it.
package jsondoc
