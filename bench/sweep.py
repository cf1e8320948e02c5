#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What spur compare itself costs: time between trials, memory over a sweep, and a report of 20,000 trials.

Prints a table; with --write it goes into bench/RESULTS.md between its markers, the rest of which is left alone.
"""
import argparse
import os
import platform
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

BEGIN, END = '<!-- sweep: begin -->', '<!-- sweep: end -->'
WINDOW_S = 0.05


def run(command):
    """Wall time and peak memory (KiB) of a command that must succeed."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit('sweep: %s: exit %d\n%s' % (' '.join(command), process.returncode, error.decode()))
    return time.monotonic() - began, usage.ru_maxrss


def experiment(spur, work, blocks):
    """Two arms, one cell, short windows: all that is not window is the harness."""
    db = os.path.join(work, 'r-%d.db' % blocks)
    command = [spur, 'compare', '--quiet', '--file', os.path.join(work, 'f'), '--arm', 'odirect', '--arm', 'fanout',
               '--memory', 'emulated', '--threads', '2', '--request', '64K', '--seconds', '%dms' % (WINDOW_S * 1000),
               '--warmup', '0s', '--verify', 'off', '--interval', '0', '--blocks', str(blocks), '--results', db]
    wall, peak = run(command)
    with sqlite3.connect(db) as store:
        rows = store.execute("select t0_monotonic_ns, window_s from trials where status = 'ok' order by row").fetchall()
    if len(rows) != 2 * blocks:
        sys.exit('sweep: %d trials with figures instead of %d' % (len(rows), 2 * blocks))
    gaps = [(b[0] - a[0]) / 1e9 - a[1] for a, b in zip(rows, rows[1:])]
    return wall, peak, gaps


def report(spur, results, work):
    db = os.path.join(work, 'many.db')
    run([results, db, '--arms', '4', '--cells', '50', '--blocks', '100'])
    with sqlite3.connect(db) as store:
        n, = store.execute('select count(*) from trials').fetchone()
    if n < 20000:
        sys.exit('sweep: only %d trials' % n)
    text = statistics.median(run([spur, 'report', db])[0] for _ in range(3))
    html, peak = run([spur, 'report', db, '--html', os.path.join(work, 'r.html')])
    return n, text, html, peak, os.path.getsize(os.path.join(work, 'r.html'))


def table(args, work):
    subprocess.run([args.spur, 'prepare', os.path.join(work, 'f'), '--size', '64M', '--quiet'], check=True)
    _, small, gaps = experiment(args.spur, work, 20)
    _, large, more = experiment(args.spur, work, 200)
    gaps = sorted(gaps + more)
    n, text, html, peak, size = report(args.spur, args.results, work)
    lines = ['Machine: %d CPUs, Linux %s, emulated GPU.' % (os.cpu_count(), platform.release()), '',
             '    bench/sweep.py', '', '| what | figure |', '| --- | --- |',
             '| between the windows of two trials, median of %d | %.0f ms (asked: at most 150) |' %
             (len(gaps), 1e3 * statistics.median(gaps)),
             '| the same, 95th percentile | %.0f ms |' % (1e3 * gaps[int(.95 * len(gaps))]),
             '| peak memory of the parent, 40 trials | %.1f MiB |' % (small / 1024),
             '| the same, 400 trials | %.1f MiB |' % (large / 1024),
             '| spur report, text, %d trials | %.2f s (asked: at most 2) |' % (n, text),
             '| spur report --html, %d trials | %.2f s, %.0f MiB, page of %.1f MiB |' %
             (n, html, peak / 1024, size / 2**20)]
    return '\n'.join(lines) + '\n'


def write(text, path):
    old = open(path, encoding='utf-8').read()
    begin, end = old.index(BEGIN) + len(BEGIN), old.index(END)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(old[:begin] + '\n' + text + old[end:])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--spur', default='build/spur')
    parser.add_argument('--results', default='build/tests/unit/make-results', help='maker of synthetic results')
    parser.add_argument('--write', action='store_true')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        text = table(args, work)
    print(text)
    if args.write:
        write(text, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'RESULTS.md'))


main()
