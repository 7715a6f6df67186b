# Writes the files that TestPyarrow and others read: pip install pyarrow==26.0.1 duckdb==2.0.0, then python write.py in this folder.
import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

N = 200


def column(value, typ):
    return pa.array([None if i % 7 == 3 else value(i) for i in range(N)], typ)


table = pa.table({
    'i32': column(lambda i: i * 7919 % 1000 - 500, pa.int32()),
    'i64': column(lambda i: i * i * 1000003 - 10**9, pa.int64()),
    'u8': column(lambda i: i, pa.uint8()),
    'f': column(lambda i: i / 4, pa.float32()),
    'd': column(lambda i: i / 8, pa.float64()),
    'b': column(lambda i: i % 3 == 0, pa.bool_()),
    's': column(lambda i: 'prefix %d' % (i // 3), pa.string()),
    'x': column(lambda i: b'%04d' % i, pa.binary(4)),
    'd9': column(lambda i: Decimal(i * 31 - 999).scaleb(-2), pa.decimal128(9, 2)),
    'd38': column(lambda i: Decimal(i * 10**20 - 7).scaleb(-5), pa.decimal128(38, 5)),
    'ts': column(lambda i: dt.datetime(2001, 2, 3) + dt.timedelta(hours=i), pa.timestamp('us')),
})


def write(name, t=table, **options):
    pq.write_table(t, name + '.parquet', **options)


split = {c: 'BYTE_STREAM_SPLIT' for c in ['i32', 'i64', 'u8', 'f', 'd', 'x', 'd9', 'd38', 'ts']}
delta = {c: 'DELTA_BINARY_PACKED' for c in ['i32', 'i64', 'u8', 'ts']}
delta.update({c: 'DELTA_BYTE_ARRAY' for c in ['s', 'x', 'd9', 'd38']})
lengths = {'s': 'DELTA_LENGTH_BYTE_ARRAY', 'b': 'RLE'}
for version in ['1.0', '2.0']:
    v = 'v' + version[0] + '_'
    write(v + 'split', use_dictionary=False, column_encoding=split, data_page_version=version, compression='zstd')
    write(v + 'delta', use_dictionary=False, column_encoding=delta, data_page_version=version, data_page_size=300, write_batch_size=50)
    write(v + 'lengths', use_dictionary=False, column_encoding=lengths, data_page_version=version, compression='lz4')
    write(v + 'sums', write_page_checksum=True, data_page_version=version, data_page_size=300, write_batch_size=50, row_group_size=90)
write('v1_int96', use_deprecated_int96_timestamps=True, compression='gzip')
write('v1_integers', store_decimal_as_integer=True, compression='brotli')
with pq.ParquetWriter('v1_empty.parquet', table.schema) as w:  # row groups of no rows
    for part in [table.slice(0, 0), table.slice(0, 100), table.slice(0, 0), table.slice(100)]:
        w.write_table(part)

write('none', table.slice(0, 0))
write('nulls', pa.table({'n': pa.nulls(10**6, pa.int64()), 's': pa.nulls(10**6, pa.string())}), compression='zstd')
write('long', pa.table({'s': ['a' * 2_000_000, None, 'b' * 1_000_000]}), compression='zstd')
write('nocolumns', pa.table({}))
write('nested', pa.table({
    'a': [1, 2, 3], 'list': [[1], [2, 3], None], 'struct': [{'x': 1, 'y': 'q'}] * 3,
    'map': pa.array([[('k', 1)], [], None], pa.map_(pa.string(), pa.int64())),
    'wide': pa.array([Decimal(1)] * 3, pa.decimal256(50, 2)), 'z': ['x', None, 'z'],
}))


def pruned():
    """Files with indexes of pages (pyarrow) and with Bloom filters (DuckDB), whose dictionaries have gaps."""
    import duckdb

    n = 6000
    rows = pa.table({
        'id': pa.array(range(n), pa.int32()),
        'ts': pa.array([i * 1_000_000 * 3600 for i in range(n)], pa.timestamp('us')),
        'word': pa.array([None if i % 11 == 0 else f'word {i // 100:04d}' for i in range(n)], pa.string()),
        'price': pa.array([Decimal((i * 7919) % 10007) / 100 for i in range(n)], pa.decimal128(12, 2)),
        'gap': pa.array([None if 2000 <= i < 3000 else (i % 50) * 20 for i in range(n)], pa.int64()),
    })
    pq.write_table(rows, 'pages.parquet', write_page_index=True, data_page_size=1000, write_batch_size=100, row_group_size=2500, compression='zstd')
    duckdb.sql("COPY (SELECT * FROM rows ORDER BY id) TO 'bloom.parquet' (FORMAT parquet, ROW_GROUP_SIZE 2048, DICTIONARY_SIZE_LIMIT 4096)")


pruned()


def stored():
    """Pages of version 2 that compressing does not shorten, which pyarrow stores as they are in a compressed column chunk; and a file that claims nothing of its values."""
    from hashlib import md5

    words = [md5(b'%d' % i).hexdigest()[:i % 9] if i % 7 else None for i in range(N)]
    pq.write_table(pa.table({'id': range(N), 's': words}), 'stored2.parquet', data_page_version='2.0', use_dictionary=False, compression='zstd', row_group_size=5)
    pq.write_table(pa.table({'id': range(N), 'i': values(lambda i: i), 's': words}), 'unclaimed.parquet', write_statistics=False)


stored()


def deep():
    """Nested columns of all shapes, and what DuckDB's to_json says of them: a line for each row, an object whose members are the columns. deep.arrow and its kin have the same rows."""
    import random

    import duckdb

    pick = random.Random(20)

    def some(value, absent=0.2):
        return None if pick.random() < absent else value()

    def items(value, most=4):
        return [value() for _ in range(pick.randint(0, most))]

    word = lambda: pick.choice(['', 'a', 'quote "q" \\ back', 'line\nbreak', 'Grüße', '日本', 'tab\t'])
    number = lambda: pick.randint(-10**12, 10**12)
    point = lambda: {'x': some(lambda: pick.randint(0, 9) / 8), 'y': some(word), 'tags': some(lambda: items(lambda: some(word)))}
    columns = {
        'id': (pa.int32(), None),
        'list': (pa.list_(pa.int64()), lambda: items(lambda: some(number))),
        'lists': (pa.list_(pa.list_(pa.string())), lambda: items(lambda: some(lambda: items(lambda: some(word), 3)), 3)),
        'point': (pa.struct({'x': pa.float64(), 'y': pa.string(), 'tags': pa.list_(pa.string())}), point),
        'points': (pa.list_(pa.struct({'x': pa.float64(), 'y': pa.string(), 'tags': pa.list_(pa.string())})), lambda: items(lambda: some(point), 3)),
        'map': (pa.map_(pa.string(), pa.int32()), lambda: [(k, some(lambda: pick.randint(0, 99))) for k in pick.sample(['a', 'b', 'c', 'd "d"'], pick.randint(0, 3))]),
        'maps': (pa.map_(pa.int32(), pa.list_(pa.bool_())), lambda: [(k, some(lambda: items(lambda: some(lambda: pick.random() < 0.5)))) for k in pick.sample(range(9), pick.randint(0, 3))]),
        'times': (pa.struct({'d': pa.date32(), 't': pa.time64('us'), 'ts': pa.timestamp('us'), 'n': pa.decimal128(9, 2), 'wide': pa.decimal128(38, 5), 'u': pa.uint64()}), lambda: {
            'd': some(lambda: dt.date(2001, 2, pick.randint(1, 28))), 't': some(lambda: dt.time(1, 2, pick.randint(0, 59), pick.choice([0, 500000, 123]))),
            'ts': some(lambda: dt.datetime(2001, 2, 3, 4, pick.randint(0, 59), 6, pick.choice([0, 250000]))), 'n': some(lambda: Decimal(pick.randint(-999, 999)).scaleb(-2)),
            'wide': some(lambda: Decimal(pick.randint(-10**30, 10**30)).scaleb(-5)), 'u': some(lambda: 2**64 - pick.randint(1, 9))}),
        'none': (pa.list_(pa.null()), lambda: items(lambda: None)),
        'sure': (pa.list_(pa.field('item', pa.int32(), nullable=False)), lambda: items(lambda: pick.randint(0, 9))),
    }
    n = 700
    rows = pa.table({name: pa.array(range(n) if make is None else [some(make, 0.1) for _ in range(n)], typ) for name, (typ, make) in columns.items()})
    pq.write_table(rows, 'deep.parquet', data_page_size=200, write_batch_size=20, row_group_size=300, compression='zstd')
    pq.write_table(rows, 'deep2.parquet', data_page_version='2.0', data_page_size=200, write_batch_size=20, use_dictionary=False, row_group_size=300)
    names = ', '.join(f'to_json("{c}") AS "{c}"' for c in columns)
    duckdb.sql(f"COPY (SELECT {names} FROM (FROM 'deep.parquet' ORDER BY id)) TO 'deep.jsonl' (FORMAT json)")
    import pyarrow.feather as feather
    feather.write_feather(rows, '../../arrowipc/testdata/deep.arrow', compression='zstd', chunksize=300)
    with pa.ipc.new_stream('../../arrowipc/testdata/deep.arrows', rows.schema) as out:
        out.write_table(rows, 300)


deep()
