package tablelab

// The kernels of chains, and of the check of what was found.
const (
	buildChainsKernel    = "lab_build_chains"
	findChainsKernel     = "lab_find_chains"
	retrieveChainsKernel = "lab_retrieve_chains"
	copyChainsKernel     = "lab_copy_chains"
	splitChainsKernel    = "lab_split_chains"
	totalsKernel         = "lab_totals"
)

// ChainSource is the text of the kernels of chains. A slot has the number of the last row that came to it, ~0 if there is none, and each row has that of the one before
// it. Keys and values stay where they are.
func ChainSource(keyBytes, valueBytes int) string {
	return types(keyBytes, valueBytes, blockThreads, 1) + chainText
}

const chainText = `struct LabChains {
  u32* heads;
  u64 slots;
  u32* links;
  const LabKey* keys;
  const LabValue* values;
  u64 rows;
  RADISH_FN u64 slot(LabKey key) const { return lab_scale(lab_hash(key), slots); }
  RADISH_FN void put(u32 row) const { links[row] = atomic_exchange(heads + slot(keys[row]), row); }
  // Calls f with the rows of a key until it says that this is enough. A chain passes no row twice.
  template <typename F>
  RADISH_FN void each(LabKey key, F f) const {
    u64 left = rows;
    for (u32 row = heads[slot(key)]; row != ~0u && left > 0; row = links[row], left--) {
      if (keys[row] == key && !f(row)) break;
    }
  }
  RADISH_FN LabValue find(LabKey key) const {
    LabValue out = lab_no_value;
    each(key, [&](u32 row) {
      out = values[row];
      return false;
    });
    return out;
  }
};
RADISH_FN LabChains lab_chains(const u64* w) {
  return LabChains{as_pointer<u32>(w[0]), w[1], as_pointer<u32>(w[2]), as_pointer<const LabKey>(w[3]), as_pointer<const LabValue>(w[4]), w[5]};
}

RADISH_KERNEL(lab_build_chains, 6) {
  const LabChains c = lab_chains(p.w);
  for (u64 i = (u64)global_thread(); i < c.rows; i += (u64)global_threads()) c.put((u32)i);
}

RADISH_KERNEL(lab_find_chains, 9) {
  const LabChains c = lab_chains(p.w);
  const LabKey* keys = as_pointer<const LabKey>(p.w[6]);
  LabValue* out = as_pointer<LabValue>(p.w[7]);
  for (i64 i = global_thread(); i < (i64)p.w[8]; i += global_threads()) out[i] = c.find(keys[i]);
}

RADISH_KERNEL(lab_retrieve_chains, 12) {
  const LabChains c = lab_chains(p.w);
  const LabKey* keys = as_pointer<const LabKey>(p.w[6]);
  LabKey* out_keys = as_pointer<LabKey>(p.w[8]);
  LabValue* out_values = as_pointer<LabValue>(p.w[9]);
  u64* counts = as_pointer<u64>(p.w[11]);
  const i64 count = (i64)p.w[7];
  for (i64 first = block_index() * RADISH_BLOCK; first < count; first += global_threads()) {
    const i64 i = first + thread_index();
    const LabKey key = i < count ? keys[i] : 0;
    u32 n = 0;
    if (i < count) {
      c.each(key, [&](u32) {
        n++;
        return true;
      });
    }
    u64 at = block_append(counts + lab_rows, n);
    if (at + n > p.w[10]) {
      atomic_add(counts + lab_failed, 1ull);
      continue;
    }
    if (n == 0) continue;
    c.each(key, [&](u32 row) {
      out_keys[at] = key;
      out_values[at++] = c.values[row];
      return true;
    });
  }
}

// Makes chains of rows first to last - 1 in the block's shared memory: 8-byte columns first, then the others.
RADISH_FN LabChains lab_chains_here(const u64* w, u64 first, u64 last) {
  const LabKey* keys = as_pointer<const LabKey>(w[0]);
  const LabValue* values = as_pointer<const LabValue>(w[1]);
  const u64 rows = last - first, slots = w[3];
  u8* at = shared_memory();
  LabKey* own_keys = reinterpret_cast<LabKey*>(at);
  at += (rows * sizeof(LabKey) + 7) / 8 * 8;
  LabValue* own_values = reinterpret_cast<LabValue*>(at);
  u32* links = reinterpret_cast<u32*>(at + rows * sizeof(LabValue));
  u32* heads = links + rows;
  for (u64 i = (u64)thread_index(); i < slots; i += RADISH_BLOCK) heads[i] = ~0u;
  for (u64 i = (u64)thread_index(); i < rows; i += RADISH_BLOCK) {
    own_keys[i] = keys[first + i];
    own_values[i] = values[first + i];
  }
  block_barrier();
  const LabChains c{heads, slots, links, own_keys, own_values, rows};
  for (u64 i = (u64)thread_index(); i < rows; i += RADISH_BLOCK) c.put((u32)i);
  block_barrier();
  return c;
}

// Each block has chains of all rows, and looks up a part of the keys.
RADISH_KERNEL(lab_copy_chains, 7) {
  const LabChains c = lab_chains_here(p.w, 0, p.w[2]);
  const LabKey* keys = as_pointer<const LabKey>(p.w[4]);
  LabValue* out = as_pointer<LabValue>(p.w[5]);
  for (i64 i = global_thread(); i < (i64)p.w[6]; i += global_threads()) out[i] = c.find(keys[i]);
}

// Each block has chains of some rows, and looks up all keys. What it does not find, others may.
RADISH_KERNEL(lab_split_chains, 8) {
  const u64 rows = p.w[2], first = min_of((u64)block_index() * p.w[7], rows);
  const LabChains c = lab_chains_here(p.w, first, min_of(first + p.w[7], rows));
  const LabKey* keys = as_pointer<const LabKey>(p.w[4]);
  LabValue* out = as_pointer<LabValue>(p.w[5]);
  for (i64 i = thread_index(); i < (i64)p.w[6]; i += RADISH_BLOCK) {
    const LabValue value = c.find(keys[i]);
    if (value != lab_no_value) out[i] = value;
  }
}

// How many values there are, their sum, and the sum of each times twice its key plus one.
RADISH_KERNEL(lab_totals, 4) {
  const LabKey* keys = as_pointer<const LabKey>(p.w[0]);
  const LabValue* values = as_pointer<const LabValue>(p.w[1]);
  u64 n = 0, sum = 0, weighted = 0;
  for (i64 i = global_thread(); i < (i64)p.w[2]; i += global_threads()) {
    const u64 value = values[i];
    if ((LabValue)value == lab_no_value) continue;
    n++;
    sum += value;
    weighted += value * (2 * (u64)keys[i] + 1);
  }
  n = block_reduce(n, Sum());
  sum = block_reduce(sum, Sum());
  weighted = block_reduce(weighted, Sum());
  if (thread_index() != 0) return;
  atomic_add(as_pointer<u64>(p.w[3]), n);
  atomic_add(as_pointer<u64>(p.w[3]) + 1, sum);
  atomic_add(as_pointer<u64>(p.w[3]) + 2, weighted);
}
`
