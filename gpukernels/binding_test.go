package gpukernels

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// header is include/radish_gpu.h without its comments.
func header(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("include/radish_gpu.h")
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(string(text), "")
}

// TestBindingFunctions compares the names and the numbers of arguments with the header.
func TestBindingFunctions(t *testing.T) {
	declared := map[string]int{}
	for _, m := range regexp.MustCompile(`(?s)\bradish_gpu_(\w+)\(([^)]*)\)\s*;`).FindAllStringSubmatch(header(t), -1) {
		n := strings.Count(m[2], ",") + 1
		if strings.TrimSpace(m[2]) == "void" {
			n = 0
		}
		declared[m[1]] = n
	}
	if len(declared) < 30 {
		t.Fatalf("only %d functions were found in the header", len(declared))
	}
	for _, f := range functions {
		n, ok := declared[f.name]
		switch {
		case !ok:
			t.Errorf("the header does not declare %s", f.name)
		case n != f.args:
			t.Errorf("%s takes %d arguments, not %d", f.name, n, f.args)
		}
		if most := len(callFrame{}.args); n > most {
			t.Errorf("%s takes %d arguments, and Library.call passes on at most %d", f.name, n, most)
		}
		delete(declared, f.name)
	}
	for name := range declared {
		t.Errorf("the binding lacks %s", name)
	}
}

// TestBindingVersionAndKinds compares the numbers.
func TestBindingVersionAndKinds(t *testing.T) {
	h := header(t)
	if m := regexp.MustCompile(`#define RADISH_GPU_ABI_VERSION (\d+)`).FindStringSubmatch(h); m == nil || m[1] != strconv.Itoa(abiVersion) {
		t.Errorf("the header's version is %q, the binding's %d", m, abiVersion)
	}
	if want := fmt.Sprintf("#define RADISH_GPU_MAILBOX (%d << 10)\n", mailboxBytes>>10); !strings.Contains(h, want) {
		t.Errorf("the header has no %s", want)
	}
	if want := fmt.Sprintf("#define RADISH_GPU_LAUNCH_WORDS %d\n", LaunchWords); !strings.Contains(h, want) {
		t.Errorf("the header has no %s", want)
	}
	kinds := map[string]Kind{"OK": 0, "USER": KindUser, "OUT_OF_MEMORY": KindOutOfMemory, "DEVICE_LOST": KindDeviceLost, "INTERNAL": KindInternal, "UNAVAILABLE": KindUnavailable}
	found := regexp.MustCompile(`RADISH_GPU_(\w+) = (\d+)`).FindAllStringSubmatch(h, -1)
	if len(found) != len(kinds) {
		t.Errorf("the header has %d kinds, the binding %d", len(found), len(kinds))
	}
	for _, m := range found {
		if k, ok := kinds[m[1]]; !ok || strconv.Itoa(int(k)) != m[2] {
			t.Errorf("kind %s is %s in the header and %d (%v) here", m[1], m[2], k, ok)
		}
	}
}

// TestBindingStructs compares the fields of the structs: order, names and types.
func TestBindingStructs(t *testing.T) {
	for name, goType := range map[string]reflect.Type{
		"radish_gpu_error":       reflect.TypeFor[cError](),
		"radish_gpu_device_info": reflect.TypeFor[cDeviceInfo](),
		"radish_gpu_items":       reflect.TypeFor[Items](),
		"radish_gpu_piece":       reflect.TypeFor[Piece](),
		"radish_gpu_range":       reflect.TypeFor[Range](),
		"radish_gpu_frame":       reflect.TypeFor[Frame](),
	} {
		m := regexp.MustCompile(`(?s)typedef struct \{([^}]*)\} ` + name + `;`).FindStringSubmatch(header(t))
		if m == nil {
			t.Fatalf("the header has no %s", name)
		}
		fields := regexp.MustCompile(`(\w+) (\*?\w+)(?:\[(\d+)\])?;`).FindAllStringSubmatch(m[1], -1)
		if len(fields) != goType.NumField() {
			t.Fatalf("%s has %d fields in the header and %d here", name, len(fields), goType.NumField())
		}
		for i, f := range fields {
			want := map[string]string{"int32_t": "int32", "int64_t": "int64", "char": "uint8", "void": "unsafe.Pointer"}[f[1]]
			if f[3] != "" {
				want = "[" + f[3] + "]" + want
			}
			field := goType.Field(i)
			if field.Type.String() != want || !strings.EqualFold(field.Name, strings.Trim(strings.ReplaceAll(f[2], "_", ""), "*")) {
				t.Errorf("%s, field %d: %s %s in the header, %s %s here", name, i, want, f[2], field.Type, field.Name)
			}
		}
	}
}
