package codegen

import "fmt"

// LaunchWords is the most words of parameters that a launch passes: gpukernels.LaunchWords.
const LaunchWords = 500

// Declare says how a kernel is declared that has so many parameters, of which a launch passes some at most: as one of how many, and what stands in front of its source. Those that are too many
// lie in the device's memory. The last word that is passed is their address, and Params reads them as it does the others, so the kernel's own text is the same.
func Declare(words, most int) (declared int, before string) {
	if words <= most {
		return words, ""
	}
	return most, fmt.Sprintf(manyWords, most, most-1)
}

// manyWords is Params of a kernel with more words than %[1]d, of which %[2]d are passed. The others do not change while it runs.
const manyWords = `// Words from number %[2]d on lie in memory.
template <>
struct Params<%[1]d> {
  struct {
    u64 passed[%[2]d];
    const u64* others;
    RADISH_FN u64 operator[](int i) const {
      if (i < %[2]d) return passed[i];
#ifdef RADISH_EMULATED
      return others[i - %[2]d];
#else
      u64 x;
      asm("ld.global.nc.u64 %%0, [%%1];" : "=l"(x) : "l"(others + (i - %[2]d)));
      return x;
#endif
    }
  } w;
};
`
