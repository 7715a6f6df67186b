// Package form says how values lie in the memory of a GPU: the classes that they have in registers and arrays, and the items of a table's columns. It is
// pure data. Package residency uploads columns in these forms, and generated kernels read them; neither has to know the other.
package form
