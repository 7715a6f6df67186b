// Package datetime holds the date and time functions (Reference Manual 14.7).
package datetime
