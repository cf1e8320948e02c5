#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs spur's GPU figures on a machine with an NVIDIA GPU, and prints them as Markdown.

    bench/gpu.py --spur build-portable/spur verify   # every path and op on cuda:0, verified
    bench/gpu.py --spur build-portable/spur speed    # tmpfs: odirect against fanout; the figures of RESULTS.md
    bench/gpu.py --spur build-portable/spur engines  # what moves fanout's pieces: io_uring, threads, the caller
    bench/gpu.py --spur build-portable/spur stage    # fanout's staging and piece sizes

Files are made with spur prepare: one on tmpfs, one in --dir. Each figure is the median of --rounds runs, [least, most];
the arms of a table take turns.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

GIB = float(1 << 30)
FANOUT = ['--path', 'fanout', '--verify', 'off']


def spur(arguments, options, file, **more):
    command = [arguments.spur, 'run', '--file', file, '--memory', arguments.memory, '--json', '-', '--quiet']
    command += options
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if arguments.log:
        with open(arguments.log, 'a') as log:
            log.write(' '.join(command) + '\n' + done.stdout + done.stderr + '\n')
    if not done.stdout.strip():
        return {'exit': done.returncode, 'error': done.stderr.strip()}
    result = json.loads(done.stdout)
    result['exit'] = done.returncode
    result['error'] = done.stderr.strip()
    return result


def verify(arguments, files):
    print('| file | path | op | exit | verify | timed bytes verified | pass bytes verified | observed | served |')
    print('| --- | --- | --- | --- | --- | --- | --- | --- | --- |')
    bad = 0
    for where, file in files:
        for path in ('buffered', 'mmap', 'odirect', 'fanout'):
            for op in ('read', 'randread', 'write', 'randwrite', 'mix'):
                depths = ('1', '8') if path == 'fanout' else ('1',)
                for depth in depths:
                    for mode in ('inline', 'sample'):
                        r = spur(arguments, ['--path', path, '--op', op, '--verify', mode, '--seconds', '300ms', '--warmup',
                                             '50ms', '--threads', '4', '--depth', depth], file)
                        v = r.get('verify') or {}
                        print('| %s | %s depth %s | %s | %s | %s %s | %s | %s | %s | %s |' % (
                            where, path, depth, op, r['exit'], mode, v.get('status'), v.get('bytes_timed_verified'),
                            v.get('bytes_pass_verified'), r.get('observed'), r.get('served')), flush=True)
                        if r['exit'] or v.get('status') != 'ok':
                            bad += 1
                            print(r['error'])
        for request, op in (('10000', 'randread'), ('512', 'randread'), ('4K', 'randread'), ('5M', 'randread')):
            r = spur(arguments, ['--path', 'fanout', '--op', op, '--verify', 'inline', '--seconds', '300ms', '--warmup', '50ms',
                                 '--threads', '4', '--depth', '16', '--request', request, '--unaligned'], file)
            v = r.get('verify') or {}
            print('| %s | fanout depth 16, %s unaligned | %s | %s | inline %s | %s | %s | %s | %s |' % (
                where, request, op, r['exit'], v.get('status'), v.get('bytes_timed_verified'),
                v.get('bytes_pass_verified'), r.get('observed'), r.get('served')), flush=True)
            if r['exit'] or v.get('status') != 'ok':
                bad += 1
                print(r['error'])
    print('\n%d bad' % bad)
    return bad


def figures(results):
    good = [r for r in results if not r['exit'] and r.get('seconds')]
    if len(good) < len(results):
        return 'failed: ' + '; '.join(r['error'] for r in results if r['exit'])[:300]
    rate = [r['bytes_per_second'] / GIB for r in good]
    requests = [r['requests_per_second'] for r in good]
    cpu = [(r['cpu']['process']['user_s'] + r['cpu']['process']['system_s']) / (r['bytes'] / GIB) for r in good]
    machine = [(r['cpu']['machine']['user_s'] + r['cpu']['machine']['system_s']) / (r['bytes'] / GIB)
               for r in good if r['cpu']['machine']]
    facts = good[0]['effective']['path_facts']
    return '%.2f [%.2f, %.2f] | %.0f | %.3f | %s | %.0f | %s | %s' % (
        statistics.median(rate), min(rate), max(rate), statistics.median(requests), statistics.median(cpu),
        '%.3f' % statistics.median(machine) if machine else '-', statistics.median(
            [r['latency_ns']['p50'] / 1000 for r in good]),
        '%s %s' % (facts.get('async', '-').split(',')[0], facts.get('workers', '-')) if facts.get('engine') else '-',
        ', '.join(sorted({str(r['verify']['status']) for r in good})))


def table(arguments, rows, file):
    results = {name: [] for name, _ in rows}
    for i in range(arguments.rounds):
        for name, options in (rows if i % 2 == 0 else rows[::-1]):
            results[name].append(spur(arguments, options + ['--seconds', arguments.seconds, '--warmup', '300ms'], file))
    print('| arm | GiB/s | requests/s | process CPU s/GiB | machine CPU s/GiB | p50 us | async, workers | verify |')
    print('| --- | --- | --- | --- | --- | --- | --- | --- |')
    for name, _ in rows:
        print('| %s | %s |' % (name, figures(results[name])), flush=True)
    print()


def speed(arguments, files):
    file = files[0][1]
    limit = ['--verify-limit', '1s']
    rows = []
    for threads in ('1', '4', '8', '16'):
        for path in ('odirect', 'fanout'):
            rows.append(('%s, 16 MiB, %s threads, depth 1' % (path, threads),
                         ['--path', path, '--request', '16M', '--threads', threads] + limit))
    rows.append(('fanout, 16 MiB, 1 thread, depth 8',
                 ['--path', 'fanout', '--request', '16M', '--threads', '1', '--depth', '8'] + limit))
    rows.append(('fanout, 16 MiB, 16 threads, depth 2',
                 ['--path', 'fanout', '--request', '16M', '--threads', '16', '--depth', '2'] + limit))
    table(arguments, rows, file)
    rows = [('odirect, 4 KiB random, 8 threads', ['--path', 'odirect', '--request', '4K', '--threads', '8', '--op', 'randread']
             + limit),
            ('fanout, 4 KiB random, 8 threads, depth 256',
             ['--path', 'fanout', '--request', '4K', '--threads', '8', '--depth', '256', '--op', 'randread'] + limit)]
    table(arguments, rows, file)


def engines(arguments, files):
    rows = []
    for threads in (1, 2, 4, 8, 16):
        for depth in ('1', '8'):
            for engine in ('uring', 'threads', 'caller'):
                options = ['--request', '16M', '--threads', str(threads), '--depth', depth, '--set', 'engine=' + engine]
                if engine != 'caller':
                    options += ['--set', 'workers=%d' % max(1, min(12, 16 // threads))]
                if engine == 'uring':
                    options += ['--set', 'async=yes']
                rows.append(('%d threads depth %s %s' % (threads, depth, engine), FANOUT + options))
        rows.append(('%d threads odirect' % threads, ['--path', 'odirect', '--verify', 'off', '--request', '16M', '--threads',
                                                      str(threads)]))
    for engine in ('uring', 'caller'):
        rows.append(('4 KiB 8 threads depth 256 ' + engine,
                     FANOUT + ['--request', '4K', '--op', 'randread', '--threads', '8', '--depth', '256', '--set',
                               'engine=' + engine]))
    table(arguments, rows, files[0][1])


def stage(arguments, files):
    rows = []
    for threads, depth, stages, pieces in ((16, '1', ('2M', '4M', '8M', 'auto'), ('512K', '1M')),
                                           (16, '2', ('2M', '4M', '8M'), ('1M',)),
                                           (8, '1', ('4M', '8M', '16M', 'auto'), ('1M', '2M')),
                                           (4, '1', ('8M', '16M', 'auto'), ('1M', '2M')),
                                           (1, '8', ('16M', '32M', 'auto'), ('1M', '2M')),
                                           (1, '1', ('16M', 'auto'), ('512K', '1M'))):
        for staging in stages:
            for piece in pieces:
                rows.append(('%d threads depth %s stage %s piece %s' % (threads, depth, staging, piece),
                             FANOUT + ['--request', '16M', '--threads', str(threads), '--depth', depth, '--set',
                                     'stage=' + staging, '--set', 'piece=' + piece]))
    for threads in (1, 4, 8, 16):
        rows.append(('%d threads odirect' % threads, ['--path', 'odirect', '--verify', 'off', '--request', '16M', '--threads',
                                                      str(threads)]))
    rows.append(('4 KiB 8 threads depth 256',
                 FANOUT + ['--request', '4K', '--op', 'randread', '--threads', '8', '--depth', '256']))
    table(arguments, rows, files[0][1])


def main():
    p = argparse.ArgumentParser()
    p.add_argument('what', nargs='+', choices=['verify', 'speed', 'engines', 'stage'])
    p.add_argument('--spur', default='build/spur')
    p.add_argument('--memory', default='cuda:0')
    p.add_argument('--rounds', type=int, default=3)
    p.add_argument('--seconds', default='2s')
    p.add_argument('--size', default='8G')
    p.add_argument('--dir', default='.')
    p.add_argument('--log')
    arguments = p.parse_args()
    files = [('tmpfs', '/dev/shm/spur-bench-file'), ('disk', os.path.join(arguments.dir, 'spur-bench-file'))]
    bad = 0
    try:
        for where, file in files:
            size = arguments.size if where == 'tmpfs' else '1G'
            if where == 'disk' and 'verify' not in arguments.what:
                continue
            subprocess.run([arguments.spur, 'prepare', file, '--size', size, '--threads', '8'], check=True)
        for what in arguments.what:
            print('\n### %s\n' % what)
            bad += {'verify': verify, 'speed': speed, 'engines': engines, 'stage': stage}[what](arguments, files) or 0
    finally:
        for _, file in files:
            if os.path.exists(file):
                os.unlink(file)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
