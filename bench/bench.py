#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Benchmarks of spur itself, beside fio where fio has the same job.

Each comparison runs both programs in turn (the order alternates), ROUNDS times, and prints the medians with their
spread and the geometric mean of the paired ratios with its 95 % interval (Student t on log ratios). Results go into
bench/RESULTS.md between the markers of this section; the rest of that file is left alone.
"""
import argparse
import contextlib
import json
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

T975 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228,
        11: 2.201, 12: 2.179, 13: 2.160, 14: 2.145, 19: 2.093, 29: 2.045, 39: 2.023, 59: 2.001}
BEGIN, END = '<!-- bench: begin -->', '<!-- bench: end -->'


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit('bench: %s: exit %d\n%s' % (' '.join(command), done.returncode, done.stderr))
    return done.stdout


def spur_rate(command):
    result = json.loads(run(command + ['--json', '-']))
    if not result['complete']:
        sys.exit('bench: incomplete: ' + ' '.join(command))
    return result['requests_per_second']


def fio_rate(command):
    return json.loads(run(command + ['--output-format=json']))['jobs'][0]['read']['iops']


def t975(freedom):
    """Of the table, for the next lower number of degrees of freedom: never too narrow."""
    return T975[max(n for n in T975 if n <= freedom)]


def compare(spur, fio, rounds):
    """Paired rates of both, and the log ratios."""
    a, b = [], []
    for i in range(rounds):
        for which in ('ab' if i % 2 == 0 else 'ba'):
            if which == 'a':
                a.append(spur_rate(spur))
            else:
                b.append(fio_rate(fio))
    logs = [math.log(x / y) for x, y in zip(a, b)]
    mean, half = statistics.mean(logs), t975(rounds - 1) * statistics.stdev(logs) / math.sqrt(rounds)
    return a, b, math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def spread(rates):
    return '%.0f [%.0f, %.0f]' % (statistics.median(rates), min(rates), max(rates))


def cases(spur, places, seconds):
    base = [spur, 'run', '--threads', '1', '--warmup', '500ms', '--seconds', str(seconds), '--verify', 'off', '--memory',
            'pinned', '--stall', '60s']
    fio = ['fio', '--name=j', '--thread', '--time_based', '--ramp_time=500ms', '--runtime=%d' % seconds, '--readonly',
           '--invalidate=0', '--norandommap', '--randrepeat=0', '--direct=1']
    uring = ['--ioengine=io_uring', '--fixedbufs', '--registerfiles']
    yield ('null, 4 KiB sequential, one thread: the harness, every latency recorded', 1.5,
           base + ['--file', places[0][1], '--path', 'null', '--request', '4K'],
           [x for x in fio if x != '--direct=1'] + ['--ioengine=null', '--bs=4k', '--rw=read', '--size=256m'])
    for where, file in places:
        direct = fio + ['--filename=' + file]
        yield ('odirect into pinned, 4 KiB random, one thread, %s; fio psync' % where, 0.97,
               base + ['--file', file, '--path', 'odirect', '--request', '4K', '--op', 'randread'],
               direct + ['--ioengine=psync', '--bs=4k', '--rw=randread'])
        yield ('fanout into pinned, 4 KiB random, depth 32, %s; fio io_uring' % where, 0.97,
               base + ['--file', file, '--path', 'fanout', '--request', '4K', '--op', 'randread', '--depth', '32'],
               direct + uring + ['--bs=4k', '--rw=randread', '--iodepth=32'])
        yield ('fanout into pinned, 1 MiB sequential, depth 16, %s; fio io_uring' % where, 0.97,
               base + ['--file', file, '--path', 'fanout', '--request', '1M', '--op', 'read', '--depth', '16'],
               direct + uring + ['--bs=1m', '--rw=read', '--iodepth=16'])


def loop_file(stack, memory):
    """A file on ext4 on a loop device over tmpfs: the block layer's whole course, and no storage that is a limit."""
    image, mount = os.path.join(memory, 'image'), os.path.join(memory, 'mount')
    with open(image, 'wb') as f:
        f.truncate(1280 << 20)
    quiet = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE}
    if shutil.which('losetup') is None or os.geteuid():
        return None
    made = subprocess.run(['losetup', '--find', '--show', '--direct-io=on', image], **quiet)
    if made.returncode:
        return None
    device = made.stdout.decode().strip()
    stack.callback(subprocess.run, ['losetup', '--detach', device], check=True)
    os.mkdir(mount)
    if subprocess.run(['mkfs.ext4', '-q', device], **quiet).returncode or \
            subprocess.run(['mount', device, mount], **quiet).returncode:
        return None
    stack.callback(subprocess.run, ['umount', mount], check=True)
    return os.path.join(mount, 'file')


def cpu_model():
    with open('/proc/cpuinfo') as f:
        for line in f:
            if line.startswith('model name'):
                return line.split(':', 1)[1].strip()
    return platform.machine()


def table(spur, places, arguments):
    lines = ['| job | spur, requests/s | fio, requests/s | spur / fio [95 %] | at least |', '| --- | --- | --- | --- | --- |']
    missed = []
    for name, wanted, a, b in cases(spur, places, arguments.seconds):
        if arguments.only not in name:
            continue
        ra, rb, ratio, low, high = compare(a, b, arguments.rounds)
        lines.append('| %s | %s | %s | %.3f [%.3f, %.3f] | %.2f: %s |' % (
            name, spread(ra), spread(rb), ratio, low, high, wanted, 'yes' if low >= wanted else 'no'))
        print(lines[-1], flush=True)
        if low < wanted:
            missed.append(name)
        if name.startswith('null'):
            print('  harness: %.1f ns a request (fio: %.1f ns)' % (1e9 / statistics.median(ra), 1e9 / statistics.median(rb)),
                  flush=True)
    return lines, missed


def write_results(path, lines, arguments):
    text = open(path).read() if os.path.exists(path) else '# Results\n'
    fio = run(['fio', '--version']).strip()
    head = ['## spur beside fio (written by make bench)', '',
            'Command: `make bench` (%d rounds of %d s, both programs in turn). Medians [least, most]; the ratio is the '
            'geometric mean of paired rounds with its 95 %% interval.' % (arguments.rounds, arguments.seconds),
            'Machine: %s, %d CPUs, Linux %s, %s, spur %s. "disk" is the machine\'s own disk. No storage is a limit on tmpfs '
            'and on "loop", ext4 on a loop device over tmpfs.' % (
                cpu_model(), os.cpu_count(), platform.release(), fio, arguments.version), '']
    block = '\n'.join([BEGIN] + head + lines + [END])
    if BEGIN in text:
        text = re.sub(re.escape(BEGIN) + '.*?' + re.escape(END), lambda m: block, text, flags=re.S)
    else:
        text = text.rstrip('\n') + '\n\n' + block + '\n'
    with open(path, 'w') as f:
        f.write(text)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--spur', default='build/spur')
    p.add_argument('--rounds', type=int, default=5)
    p.add_argument('--seconds', type=int, default=3)
    p.add_argument('--only', default='', help='rows with these words; nothing is written to the results then')
    p.add_argument('--results', default='bench/RESULTS.md')
    p.add_argument('--dir', default=None, help='where the file on a disk is made (default: beside spur)')
    arguments = p.parse_args()
    spur = os.path.abspath(arguments.spur)
    arguments.version = run([spur, '--version']).split()[1]
    with contextlib.ExitStack() as stack:
        disk = stack.enter_context(tempfile.TemporaryDirectory(dir=arguments.dir or os.path.dirname(spur)))
        memory = stack.enter_context(tempfile.TemporaryDirectory(dir='/dev/shm'))
        places = [('disk', os.path.join(disk, 'file')), ('tmpfs', os.path.join(memory, 'file'))]
        loop = loop_file(stack, memory)
        if loop:
            places.insert(1, ('loop', loop))
        else:
            print('bench: no loop device can be had (root?): the rows "loop" are left out')
        for _, file in places:
            run([spur, 'prepare', file, '--size', '1G', '--quiet'])
        lines, missed = table(spur, places, arguments)
    if not arguments.only:
        write_results(arguments.results, lines, arguments)
    for name in missed:
        print('bench: below the mark: ' + name)
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
