# Writes the files that the test damages, by pyarrow, DuckDB, polars and pandas, into a folder:
#   pip install duckdb==2.0.0 pyarrow==26.0.1 polars==2.1.0 pandas==3.1.1; python sources.py FOLDER
import datetime as dt
import os
import sys
from decimal import Decimal

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
N = 300


def column(value, typ):
    return pa.array([None if i % 11 == 3 else value(i) for i in range(N)], typ)


table = pa.table({
    'id': pa.array(range(N), pa.int64()),
    'small': column(lambda i: i * 7919 % 200 - 100, pa.int16()),
    'amount': column(lambda i: Decimal(i * 31 - 999).scaleb(-2), pa.decimal128(12, 2)),
    'wide': column(lambda i: Decimal(i * 10**20 - 7).scaleb(-5), pa.decimal128(38, 5)),
    'real': column(lambda i: i / 8, pa.float64()),
    'flag': column(lambda i: i % 3 == 0, pa.bool_()),
    'few': column(lambda i: 'few %d' % (i % 5), pa.string()),
    'many': column(lambda i: 'prefix "%d", of many' % i, pa.string()),
    'day': column(lambda i: dt.date(2001, 2, 3) + dt.timedelta(days=i), pa.date32()),
    'moment': column(lambda i: dt.datetime(2001, 2, 3) + dt.timedelta(hours=i), pa.timestamp('us')),
})
nested = table.append_column('list', pa.array([[i, i + 1] for i in range(N)]))

for version in ['1.0', '2.0']:
    for codec in ['none', 'snappy', 'gzip', 'brotli', 'zstd', 'lz4']:
        pq.write_table(table, f'pyarrow_{codec}_{version[0]}.parquet', compression=codec, data_page_version=version, data_page_size=700, write_batch_size=60)
    pq.write_table(table, f'pyarrow_sums_{version[0]}.parquet', write_page_checksum=True, data_page_version=version, data_page_size=700, write_batch_size=60)
pq.write_table(table, 'pyarrow_groups.parquet', row_group_size=50)
pq.write_table(table, 'pyarrow_stored.parquet', data_page_version='2.0', use_dictionary=False, compression='zstd', row_group_size=5)  # pages that compressing does not shorten
pq.write_table(table, 'pyarrow_unclaimed.parquet', write_statistics=False)
pq.write_table(table, 'pyarrow_split.parquet', use_dictionary=False, column_encoding={c: 'BYTE_STREAM_SPLIT' for c in ['id', 'small', 'amount', 'wide', 'real']})
pq.write_table(table, 'pyarrow_delta.parquet', use_dictionary=False, column_encoding={
    **{c: 'DELTA_BINARY_PACKED' for c in ['id', 'small', 'moment']}, 'few': 'DELTA_LENGTH_BYTE_ARRAY', 'many': 'DELTA_BYTE_ARRAY', 'wide': 'DELTA_BYTE_ARRAY', 'flag': 'RLE'})
pq.write_table(nested, 'pyarrow_nested.parquet')
pq.write_table(pa.table({'n': pa.nulls(10**5, pa.int64()), 's': ['a' * 3000] * 10**5}), 'pyarrow_far.parquet', compression='zstd')


def ipc(name, t, **options):
    for new, ending in [(pa.ipc.new_file, '.arrow'), (pa.ipc.new_stream, '.arrows')]:
        with new(name + ending, t.schema, options=pa.ipc.IpcWriteOptions(**options)) as w:
            for b in t.to_batches(max_chunksize=120):
                w.write_batch(b)


more = nested.append_column('view', table['many'].cast(pa.string_view())).append_column('coded', table['few'].combine_chunks().dictionary_encode())
more = more.append_column('runs', pc.run_end_encode(pa.array([i // 9 for i in range(N)]))).append_column('large', table['many'].cast(pa.large_string()))
ipc('pyarrow_plain', table)
ipc('pyarrow_more', more)
ipc('pyarrow_lz4', more, compression='lz4')
ipc('pyarrow_zstd', more, compression='zstd')
pyarrow.csv.write_csv(table, 'pyarrow.csv')

db = duckdb.connect()
db.register('t', table)
for version in ['V1', 'V2']:
    for codec in ['uncompressed', 'snappy', 'gzip', 'zstd', 'lz4_raw', 'brotli']:
        db.execute(f"COPY t TO 'duckdb_{codec}_{version}.parquet' (FORMAT parquet, CODEC '{codec}', PARQUET_VERSION {version})")
db.execute("COPY t TO 'duckdb.csv' (HEADER)")
db.execute("COPY t TO 'duckdb.tsv' (HEADER, DELIMITER '\t')")
db.execute("COPY t TO 'duckdb.csv.gz' (HEADER, COMPRESSION gzip)")
db.execute("COPY t TO 'duckdb.jsonl' (FORMAT json)")
db.execute("COPY t TO 'duckdb.json' (FORMAT json, ARRAY true)")
db.execute("COPY t TO 'duckdb.json.gz' (FORMAT json, ARRAY true, COMPRESSION gzip)")
db.execute("COPY t TO 'duckdb.jsonl.zst' (FORMAT json, COMPRESSION zstd)")
ipc('duckdb', db.execute('SELECT *, [id] AS list, {a: few} AS struct FROM t').to_arrow_table())

frame = pl.from_arrow(table)
for codec in ['uncompressed', 'snappy', 'gzip', 'brotli', 'zstd', 'lz4']:
    frame.write_parquet(f'polars_{codec}.parquet', compression=codec, row_group_size=120)
for codec in ['uncompressed', 'lz4', 'zstd']:
    frame.write_ipc(f'polars_{codec}.arrow', compression=codec)
    frame.write_ipc_stream(f'polars_{codec}.arrows', compression=codec)
frame.write_csv('polars.csv')
frame.write_ndjson('polars.ndjson')
frame.write_json('polars.json')
pandas = table.to_pandas()
pandas.to_csv('pandas.csv', index=False)
pandas.drop(columns=['amount', 'wide']).to_json('pandas.jsonl', orient='records', lines=True, date_format='iso')
pandas.drop(columns=['amount', 'wide']).to_json('pandas.json', orient='records', indent=2, date_format='iso')
