# Writes the files that TestPyarrow and others read: pip install pyarrow==26.0.1 polars==2.1.0, then python write.py in this folder.
import datetime as dt
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

N = 200


def values(value):
    return [None if i % 7 == 3 else value(i) for i in range(N)]


def word(i):
    return 'word number %d' % (i // 3)


def cents(i):
    return Decimal(i * 31 - 999).scaleb(-2)


table = pa.table({
    'i': pa.array(values(lambda i: i * 7919 % 100 - 50), pa.int8()),
    'd': pa.array(values(lambda i: i / 8), pa.float64()),
    'b': pa.array(values(lambda i: i % 3 == 0), pa.bool_()),
    's': pa.array(values(word), pa.string()),
    'large': pa.array(values(word), pa.large_string()),
    'view': pa.array(values(word), pa.string_view()),
    'coded': pa.array(values(word), pa.string()).dictionary_encode(),
    'runs': pc.run_end_encode(pa.array([word(i) for i in range(N)])),
    'd32': pa.array(values(cents), pa.decimal32(9, 2)),
    'd64': pa.array(values(cents), pa.decimal64(9, 2)),
    'd256': pa.array(values(cents), pa.decimal256(9, 2)),
    'date': pa.array(values(lambda i: dt.date(2001, 2, 3) + dt.timedelta(days=i)), pa.date64()),
    'ts': pa.array(values(lambda i: dt.datetime(2001, 2, 3) + dt.timedelta(hours=i)), pa.timestamp('us')),
    'null': pa.nulls(N),
})


def write(name, batches, schema, **options):
    for new, ending in [(pa.ipc.new_file, '.arrow'), (pa.ipc.new_stream, '.arrows')]:
        if new is pa.ipc.new_file and name == 'replaced':
            continue  # the file format allows no second dictionary
        with new(name + ending, schema, options=pa.ipc.IpcWriteOptions(**options)) as w:
            for b in batches:
                w.write_batch(b)


write('plain', table.to_batches(max_chunksize=90), table.schema)
for c in ['lz4', 'zstd']:
    write(c, table.to_batches(max_chunksize=90), table.schema, compression=c)
write('none', table.slice(0, 0).to_batches(), table.schema)
nested = pa.table({
    'a': [1, 2, 3], 'list': [[1], [2, 3], None], 'struct': [{'x': 1, 'y': 'q'}] * 3, 'views': pa.array([[1], [], None], pa.list_view(pa.int8())),
    'map': pa.array([[('k', 1)], [], None], pa.map_(pa.string(), pa.int64())), 'time': pa.array([1, 2, None], pa.duration('s')),
    'pairs': pa.array([[1, 2]] * 3, pa.list_(pa.int8(), 2)), 'texts': pa.array([['a' * 20], [], None], pa.list_(pa.string_view())),
    'union': pa.UnionArray.from_sparse(pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(['x', 'y', 'z'])]),
    'dense': pa.UnionArray.from_dense(pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32()), [pa.array([1, 2]), pa.array(['y'])]),
    'codes': pa.array([['p'], ['q'], None], pa.list_(pa.dictionary(pa.int8(), pa.string()))), 'z': ['x', None, 'z'],
})
write('nested', nested.to_batches(), nested.schema)
nulls = pa.table({'n': pa.nulls(10**6, pa.int64()), 's': pa.nulls(10**6, pa.string())})
write('nulls', nulls.to_batches(), nulls.schema, compression='zstd')
long = pa.table({'s': ['a' * 2_000_000, None, 'b' * 1_000_000]})
write('long', long.to_batches(), long.schema, compression='zstd')
write('nocolumns', [], pa.schema([]))

coded = pa.schema([('c', pa.dictionary(pa.int32(), pa.string()))])


def batch(words):
    return pa.record_batch([pa.DictionaryArray.from_arrays(pa.array([len(words) - 1, 0, None, 1], pa.int32()), words)], schema=coded)


write('deltas', [batch(['a', 'b']), batch(['a', 'b', 'c', 'd']), batch(['a', 'b', 'c', 'd', 'e'])], coded, emit_dictionary_deltas=True)
write('replaced', [batch(['a', 'b']), batch(['x', 'y', 'z'])], coded)

# polars writes integers of 128 bits, which Arrow's schema does not name.
int128 = pl.DataFrame({'i': pl.Series([1, -10**30, None], dtype=pl.Int128), 's': ['a', 'b', 'c']})
int128.write_ipc('int128.arrow')
int128.write_ipc_stream('int128.arrows')
