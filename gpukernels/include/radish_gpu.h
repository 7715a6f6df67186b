/* radish_gpu.h: the whole C ABI between Radish (Go) and a device library.
 *
 * Two libraries implement it: libradish_gpu (CUDA C++; needs only NVIDIA's driver, and NVRTC to compile kernels) and
 * libradish_emulated (C++ on the processor, one thread a block; for tests). Go loads one with dlopen, checks the version and
 * the struct sizes, and calls it through purego; gpukernels/binding_test.go compares the Go side with this file.
 *
 * Rules:
 *  - Every function that can fail returns a radish_gpu_kind and, where that is not RADISH_GPU_OK, fills *err. No exception and no
 *    abort crosses this border. err may not be NULL.
 *  - Handles are opaque. A function may be called from any thread; a stream must not be used by two threads at once.
 *  - Device addresses are uint64_t, 256-byte aligned as allocated. Sizes are in bytes.
 *  - Work on a stream runs in order. Memory freed on a stream is reused only by work behind it.
 *  - After RADISH_GPU_DEVICE_LOST every call on that device returns it again.
 *  - A device may be opened several times. Each has its own pool and streams; all that are opened of one ordinal can reach each other's memory.
 */
#ifndef RADISH_GPU_H
#define RADISH_GPU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RADISH_GPU_ABI_VERSION 10

typedef int32_t radish_gpu_kind;
enum {
  RADISH_GPU_OK = 0,
  RADISH_GPU_USER = 1,          /* a wrong argument; the message says which */
  RADISH_GPU_OUT_OF_MEMORY = 2, /* device memory; the device goes on working */
  RADISH_GPU_DEVICE_LOST = 3,   /* a kernel failed: the context is poisoned */
  RADISH_GPU_INTERNAL = 4,      /* a defect of the library or a failed compilation */
  RADISH_GPU_UNAVAILABLE = 5    /* no driver, no device, no NVRTC: the message says what is missing and how to get it */
};

typedef struct {
  int32_t kind;
  int32_t code; /* CUresult, cudaError_t or nvrtcResult; 0: none */
  char message[2040];
} radish_gpu_error;

typedef struct {
  char name[128];
  char library[64]; /* "cuda" or "emulated" */
  int32_t ordinal;
  int32_t compute_capability; /* 90 for 9.0; 0 when emulated */
  int32_t driver_version;     /* as CUDA encodes it: 13000 for 13.0 */
  int32_t multiprocessors;
  int32_t warp_size;          /* 32; 1 when emulated */
  int32_t max_threads;        /* of a block; 1 when emulated */
  int64_t shared_bytes;       /* dynamic shared memory that a block may ask for */
  int64_t l2_bytes;
  int64_t memory_bytes;       /* in all */
  int64_t memory_free;        /* at this moment; -1: not known, since nobody has opened the device */
} radish_gpu_device_info;

/* Unsigned integers on the host: src[i] + delta for i = 0..count-1. */
typedef struct {
  const void *src; /* of width bytes each, not read if width is 0 */
  int64_t count;
  int64_t delta;
  int32_t width; /* 1, 2, 4, 8; or 0: all are delta */
  int32_t unused;
} radish_gpu_items;

/* Memory of the host that a part of a download goes to. */
typedef struct {
  void *dst;
  int64_t bytes;
} radish_gpu_piece;

/* What is known of a group of a column's items. Doubles are given by their bits. */
typedef struct {
  int64_t low;       /* the least item that is not NULL; if all are NULL, or are NaN, it and high mean nothing */
  int64_t high;
  int64_t nulls;     /* how many are NULL */
  int32_t ascending; /* 1: no item is less than the one before; NULLs are looked at, too */
  int32_t unordered; /* 1: some item is NaN, which low and high leave out */
} radish_gpu_range;

/* Where and how radish_gpu_group_narrow writes a group's items. */
typedef struct {
  int64_t base;
  int64_t null_item; /* what is written in the place of NULL, base and all */
  int64_t at;        /* the byte of dst that the group begins at: a multiple of width */
  int64_t width;     /* 1, 2, 4, 8; or 0: nothing is written */
} radish_gpu_frame;

typedef struct radish_gpu_device radish_gpu_device;
typedef struct radish_gpu_stream radish_gpu_stream;
typedef struct radish_gpu_module radish_gpu_module;
typedef struct radish_gpu_function radish_gpu_function;
typedef struct radish_gpu_event radish_gpu_event;

/* Library and devices. */
int32_t radish_gpu_abi_version(void);
int64_t radish_gpu_sizeof(const char *type_name); /* of a struct of this file that Go lays out, too: "radish_gpu_error" and so on; -1: unknown */
radish_gpu_kind radish_gpu_device_count(int32_t *count, radish_gpu_error *err);
radish_gpu_kind radish_gpu_device_query(int32_t ordinal, radish_gpu_device_info *info, radish_gpu_error *err);
radish_gpu_kind radish_gpu_device_open(int32_t ordinal, radish_gpu_device **device, radish_gpu_error *err);
void radish_gpu_device_close(radish_gpu_device *device);

/* Streams and events. radish_gpu_event_elapsed waits for both events. */
radish_gpu_kind radish_gpu_stream_create(radish_gpu_device *device, radish_gpu_stream **stream, radish_gpu_error *err);
void radish_gpu_stream_destroy(radish_gpu_stream *stream);
radish_gpu_kind radish_gpu_stream_sync(radish_gpu_stream *stream, radish_gpu_error *err);
/* *done is 1 once all work on the stream has ended; does not wait. */
radish_gpu_kind radish_gpu_stream_query(radish_gpu_stream *stream, int32_t *done, radish_gpu_error *err);
radish_gpu_kind radish_gpu_event_create(radish_gpu_device *device, radish_gpu_event **event, radish_gpu_error *err);
void radish_gpu_event_destroy(radish_gpu_event *event);
radish_gpu_kind radish_gpu_event_record(radish_gpu_event *event, radish_gpu_stream *stream, radish_gpu_error *err);
radish_gpu_kind radish_gpu_event_elapsed(radish_gpu_event *from, radish_gpu_event *to, double *ms, radish_gpu_error *err);
/* Work that is put into the stream from now on waits until the event, which may be of another device, has been reached. It must have been recorded. The
 * host does not wait. */
radish_gpu_kind radish_gpu_stream_wait(radish_gpu_stream *stream, radish_gpu_event *event, radish_gpu_error *err);

/* Peers. One that is lost is RADISH_GPU_UNAVAILABLE where the call is the other device's. *can is 1 if kernels of device can be allowed to read and write peer's memory. */
radish_gpu_kind radish_gpu_peer_can(radish_gpu_device *device, radish_gpu_device *peer, int32_t *can, radish_gpu_error *err);
/* Allows it, for all that is and will be allocated there. It stays allowed until peer is closed. Where it cannot be allowed that is RADISH_GPU_UNAVAILABLE. */
radish_gpu_kind radish_gpu_peer_enable(radish_gpu_device *device, radish_gpu_device *peer, radish_gpu_error *err);
/* Copies from a device's memory to that of the stream's device, which need not reach each other: without that the driver copies through the host. */
radish_gpu_kind radish_gpu_peer_copy(radish_gpu_stream *stream, uint64_t dst, radish_gpu_device *from, uint64_t src, int64_t bytes, radish_gpu_error *err);

/* Memory: a stream-ordered pool. used is what is allocated and not freed; held what the pool keeps from the driver. */
radish_gpu_kind radish_gpu_alloc(radish_gpu_stream *stream, int64_t bytes, uint64_t *address, radish_gpu_error *err);
radish_gpu_kind radish_gpu_free(radish_gpu_stream *stream, uint64_t address, radish_gpu_error *err);
radish_gpu_kind radish_gpu_memory(radish_gpu_device *device, int64_t *used, int64_t *held, int64_t *free_bytes, radish_gpu_error *err);
radish_gpu_kind radish_gpu_trim(radish_gpu_device *device, radish_gpu_error *err); /* gives held memory that is not used back */
/* For tests: the n-th allocation from now (1: the next), also one of a library kernel, fails with RADISH_GPU_OUT_OF_MEMORY, and
 * that one only; 0 takes the order back. */
radish_gpu_kind radish_gpu_fail_allocation(radish_gpu_device *device, int64_t n, radish_gpu_error *err);
/* Memory of the host, zero at first, that kernels of all devices read at the same address, also what the host writes while they run. */
radish_gpu_kind radish_gpu_host_alloc(radish_gpu_device *device, int64_t bytes, void **memory, radish_gpu_error *err);
void radish_gpu_host_free(radish_gpu_device *device, void *memory);
/* Uploads go through pinned staging that is reused; src may be overwritten when the call returns. */
radish_gpu_kind radish_gpu_upload(radish_gpu_stream *stream, uint64_t dst, const void *src, int64_t bytes, radish_gpu_error *err);
/* An upload from memory of radish_gpu_host_alloc that does not wait: src must stay as it is until the stream has been waited for. */
radish_gpu_kind radish_gpu_upload_pinned(radish_gpu_stream *stream, uint64_t dst, const void *src, int64_t bytes, radish_gpu_error *err);
/* Uploads arrays of integers end to end, as integers of width 1, 2, 4 or 8 bytes (modulo 2^(8*width)): brings the chunks of a column to its
 * frame of reference. Memory is copied by several threads, as large uploads are. */
radish_gpu_kind radish_gpu_upload_items(radish_gpu_stream *stream, uint64_t dst, int32_t width, const radish_gpu_items *items, int64_t arrays,
                                        radish_gpu_error *err);
/* Waits for the stream and the copy. */
radish_gpu_kind radish_gpu_download(radish_gpu_stream *stream, void *dst, uint64_t src, int64_t bytes, radish_gpu_error *err);
/* Downloads one range into pieces of the host's memory, in their order, by several threads. Waits for the stream and the copies. */
radish_gpu_kind radish_gpu_download_pieces(radish_gpu_stream *stream, const radish_gpu_piece *pieces, int64_t count, uint64_t src,
                                           radish_gpu_error *err);
/* A download of 1 to RADISH_GPU_MAILBOX bytes that does not wait: when the stream has been found empty they are at *mailbox, until the stream's next
 * download. */
#define RADISH_GPU_MAILBOX (64 << 10)
radish_gpu_kind radish_gpu_download_begin(radish_gpu_stream *stream, uint64_t src, int64_t bytes, const void **mailbox, radish_gpu_error *err);
radish_gpu_kind radish_gpu_copy(radish_gpu_stream *stream, uint64_t dst, uint64_t src, int64_t bytes, radish_gpu_error *err);
/* Fills count items of width 1, 2, 4 or 8 bytes with the low bytes of value. */
radish_gpu_kind radish_gpu_fill(radish_gpu_stream *stream, uint64_t dst, uint64_t value, int32_t width, int64_t count, radish_gpu_error *err);

/* Run-time compilation for a compute capability (90 for sm_90); the emulated library ignores it. Needs no device and no driver. source is one
 * translation unit that includes "radish.cuh"; include_dir is the folder of gpukernels/device, whose contents do not change while the process lives.
 * options are separated by '\n' (-DNAME=VALUE). The image (a cubin, or a shared object when emulated) is malloc'ed: release it
 * with radish_gpu_image_free. A failed compilation is RADISH_GPU_INTERNAL with the compiler's first errors in the message. */
radish_gpu_kind radish_gpu_compile_for(int32_t compute_capability, const char *source, const char *include_dir, const char *options,
                                       void **image, int64_t *image_bytes, radish_gpu_error *err);
void radish_gpu_image_free(void *image);
/* What an image depends on besides its source: compiler and its version, architecture. A key of the disk cache. A NULL device
 * leaves the architecture out. */
radish_gpu_kind radish_gpu_compiler_version(radish_gpu_device *device, char *text, int64_t bytes, radish_gpu_error *err);
radish_gpu_kind radish_gpu_module_load(radish_gpu_device *device, const void *image, int64_t image_bytes, radish_gpu_module **module,
                                       radish_gpu_error *err);
void radish_gpu_module_unload(radish_gpu_module *module);
/* The function lives as long as its module. registers, local_bytes and blocks_per_multiprocessor (at that block size and dynamic
 * shared memory) help to choose the grid; each pointer may be NULL. */
radish_gpu_kind radish_gpu_module_function(radish_gpu_module *module, const char *name, radish_gpu_function **function, radish_gpu_error *err);
radish_gpu_kind radish_gpu_function_info(radish_gpu_function *function, int32_t block, int64_t shared_bytes, int32_t *registers,
                                         int32_t *local_bytes, int32_t *blocks_per_multiprocessor, radish_gpu_error *err);
/* Launches with one parameter, a struct of words 64-bit words passed by value, at most RADISH_GPU_LAUNCH_WORDS of them. */
#define RADISH_GPU_LAUNCH_WORDS 500
radish_gpu_kind radish_gpu_launch(radish_gpu_function *function, radish_gpu_stream *stream, int64_t grid, int32_t block, int64_t shared_bytes,
                                  const uint64_t *params, int32_t words, radish_gpu_error *err);

/* Library kernels. They take their scratch memory from the stream's pool and give it back. */

/* out[i] = in[0] + ... + in[i-1] for i = 0..count (count+1 outputs). */
radish_gpu_kind radish_gpu_exclusive_scan_u32_u64(radish_gpu_stream *stream, uint64_t in, uint64_t out, int64_t count, radish_gpu_error *err);
/* Sorts (key, value) pairs by bits first_bit..last_bit-1 of the unsigned keys, ascending and stable. width is of the keys: 4 or 8 bytes;
 * values have 4 bytes. other_keys and other_values are as large as keys and values; in_other gets 1 if the result lies there, 0 if not. */
radish_gpu_kind radish_gpu_sort_pairs(radish_gpu_stream *stream, uint64_t keys, uint64_t other_keys, int32_t width, uint64_t values, uint64_t other_values,
                                      int64_t count, int32_t first_bit, int32_t last_bit, int32_t *in_other, radish_gpu_error *err);
/* dst[i] = src[index[i]] for items of width 1, 2, 4, 8 or 16 bytes; index has 4 bytes an item. */
radish_gpu_kind radish_gpu_gather(radish_gpu_stream *stream, uint64_t dst, uint64_t src, uint64_t index, int32_t width, int64_t count,
                                  radish_gpu_error *err);
/* Strings to one run of bytes: views is count pairs (address, length) of 16 bytes; offsets gets count+1 64-bit offsets and, if bytes
 * is not 0, bytes gets the strings end to end (it must hold offsets[count]). */
radish_gpu_kind radish_gpu_string_offsets(radish_gpu_stream *stream, uint64_t views, uint64_t offsets, int64_t count, radish_gpu_error *err);
radish_gpu_kind radish_gpu_string_copy(radish_gpu_stream *stream, uint64_t views, uint64_t offsets, uint64_t bytes, int64_t count,
                                       radish_gpu_error *err);

/* Columns in the form of stored ones. A column has count items of 8 bytes, in groups of group_rows of them; the last group may have fewer. valid has a byte
 * for each item, 1: it is not NULL; 0 instead of an address: none is NULL. */

/* ranges[group] is a radish_gpu_range. order is 0 for signed integers, 1 for unsigned ones, 2 for doubles. */
radish_gpu_kind radish_gpu_group_ranges(radish_gpu_stream *stream, uint64_t items, uint64_t valid, int32_t order, int64_t count, int64_t group_rows,
                                        uint64_t ranges, radish_gpu_error *err);
/* Writes item - base for each item of a group as an integer of width bytes, end to end from dst + at on: frames[group] is a radish_gpu_frame. */
radish_gpu_kind radish_gpu_group_narrow(radish_gpu_stream *stream, uint64_t items, uint64_t valid, int64_t count, int64_t group_rows, uint64_t frames,
                                        uint64_t dst, radish_gpu_error *err);
/* Bit i of dst, which is made of 32-bit words, is byte i of src; the last word's bits behind count are 1. */
radish_gpu_kind radish_gpu_pack_bits(radish_gpu_stream *stream, uint64_t src, int64_t count, uint64_t dst, radish_gpu_error *err);

#ifdef __cplusplus
}
#endif
#endif
