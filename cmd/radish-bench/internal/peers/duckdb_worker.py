"""Runs statements in DuckDB for radish-bench oracle: one JSON request a line on stdin, one JSON answer on stdout.

A request {"sql": text, "fetch": bool, "reset_peak": bool} is answered by {"ms": time, "cpu_ms": time, "rows": [[text]],
"peak": bytes} or {"error": text}. The times, by the clock and of all threads' processors, go from the statement's text
to the end of its result, without making Python objects of rows; with fetch the rows come as text, "" for NULL, and the
times include that.
"""

import json
import sys
import time

import duckdb


def peak_rss():
    try:
        with open("/proc/self/status") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def reset_peak_rss():
    try:
        with open("/proc/self/clear_refs", "w") as refs:
            refs.write("5")
    except OSError:
        pass


def answer(connection, request):
    if request.get("reset_peak"):
        reset_peak_rss()
    start, cpu = time.perf_counter(), time.process_time()
    result = connection.execute(request["sql"])
    rows = None
    if request.get("fetch"):
        rows = [["" if v is None else str(v) for v in row] for row in result.fetchall()]
    else:
        complete = getattr(result, "complete", None)  # before DuckDB 2.0 execute runs to the end by itself
        if complete is not None:
            complete()
    ms, cpu_ms = (time.perf_counter() - start) * 1e3, (time.process_time() - cpu) * 1e3
    return {"ms": ms, "cpu_ms": cpu_ms, "rows": rows, "peak": peak_rss()}


def main():
    connection = duckdb.connect()
    print(json.dumps({"version": duckdb.__version__}), flush=True)
    for line in sys.stdin:
        try:
            reply = answer(connection, json.loads(line))
        except Exception as error:  # any failure belongs to the statement and is the caller's to report
            reply = {"error": str(error)}
        print(json.dumps(reply), flush=True)


main()
