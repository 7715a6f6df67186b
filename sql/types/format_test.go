package types

// FormatDate is the text of a date.
func FormatDate(days int64) string { return string(AppendDate(nil, days)) }

// FormatDatetime is the text of a datetime.
func FormatDatetime(datetime int64, fsp int) string {
	return string(AppendDatetime(nil, datetime, fsp))
}

// DateFormat is DATE_FORMAT(datetime, format).
func DateFormat(datetime int64, format string) string {
	return string(AppendDateFormat(nil, datetime, format))
}
