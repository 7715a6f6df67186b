package expr

// Reference Manual 14.8.2.
var _ = addExamples([]example{
	{"regexp", []any{"Michael!", ".*"}, "1"},
	{"rlike", []any{"a", "^[a-d]"}, "1"},
	{"regexp_like", []any{"fo\nfo", "^fo$"}, "0"},
	{"regexp_like", []any{"fo\nfo", "^fo$", "m"}, "1"},
	{"regexp_like", []any{"fofo", "^f.*$"}, "1"},
	{"regexp_like", []any{"abc", "ABC"}, "0"},
	{"regexp_like", []any{"abc", "ABC", "i"}, "1"},
	{"regexp_like", []any{"abc", "ABC", "c"}, "0"},
	{"regexp_like", []any{"a", nil}, nil},
	{"regexp_instr", []any{"dog cat dog", "dog"}, "1"},
	{"regexp_instr", []any{"dog cat dog", "dog", 2}, "9"},
	{"regexp_instr", []any{"aa aaa aaaa", "a{2}"}, "1"},
	{"regexp_instr", []any{"aa aaa aaaa", "a{4}"}, "8"},
	{"regexp_instr", []any{"é dog", "dog", 1, 1, 1}, "6"},
	{"regexp_replace", []any{"a b c", "b", "X"}, "a X c"},
	{"regexp_replace", []any{"abc def ghi", "[a-z]+", "X", 1, 3}, "abc def X"},
	{"regexp_replace", []any{"john smith", "(\\w+) (\\w+)", "$2, $1"}, "smith, john"},
	{"regexp_substr", []any{"abc def ghi", "[a-z]+"}, "abc"},
	{"regexp_substr", []any{"abc def ghi", "[a-z]+", 1, 3}, "ghi"},
	{"regexp_substr", []any{"abc", "[0-9]"}, nil},
})
