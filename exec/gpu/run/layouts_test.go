package run

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/radish-sql/radish/exec/gpu/control"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestLayouts has the compiler compare structs of the kernels with what the host writes, reads or takes memory for.
func TestLayouts(t *testing.T) { gputest.Each(t, testLayouts) }

func testLayouts(t *testing.T, d *gpukernels.Device) {
	const word = unsafe.Sizeof(piece{}.from)
	field := func(offset uintptr) uintptr { return 1 + offset/word } // its value in the struct of 1, 2, 3 and 4
	m, _, err := d.Load(t.Context(), fmt.Sprintf(`#define RADISH_ROW_WORDS 1
#define RADISH_BLOCK 32
#include "radish.cuh"
#include "error.cuh"
#include "tile.cuh"
#include "merge.cuh"
#include "radix.cuh"

static_assert(sizeof(Error) == %[1]d && Error{1, 2}.first == 1, "control.Block reads it");

constexpr Span span = {1, 2, 3};
static_assert(sizeof(span) == 8 * 3 && span.first == 1 && span.end == 2 && span.tiles == 3, "spanWords writes it");

static_assert(sizeof(PutOff) == %[2]d && sizeof(MergeTurn) == %[2]d, "openPutOff and openList take memory for lists of them");

constexpr RadixWork work = {1, 2, 3, 4};
static_assert(sizeof(work) == %[3]d && sizeof(work.from) == %[4]d, "openWork writes it");
static_assert(work.from == %[5]d && work.end == %[6]d && work.build_from == %[7]d && work.build_end == %[8]d, "pieces fills it");

RADISH_KERNEL(nothing, 1) {}
`, control.ErrorBytes, listedBytes, unsafe.Sizeof(piece{}), word,
		field(unsafe.Offsetof(piece{}.from)), field(unsafe.Offsetof(piece{}.end)), field(unsafe.Offsetof(piece{}.buildFrom)), field(unsafe.Offsetof(piece{}.buildEnd))))
	if err != nil {
		t.Fatal(err)
	}
	m.Release()
}
