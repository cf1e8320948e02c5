#!/bin/sh
# SPDX-License-Identifier: MIT
# Machines with damaged files: whatever /proc, /sys, udev's facts and cufile.json hold, there is a whole report.
. "$(dirname "$0")/doctor_lib.sh"

python3 - "$SPUR" "$machines" "$work" "${SPUR_FUZZ_ROUNDS:-60}" "${SPUR_FUZZ_SEED:-1}" <<'PYTHON' || fail "see above"
import copy, json, os, random, shutil, subprocess, sys
spur, machines, work, rounds, seed = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
rng = random.Random(seed)
words = [b'', b'\0', b'\n', b'18446744073709551616', b'-1', b'%s%n', b'../../..', b'"', b'{', b'}', b'[', b',', b'=', b':',
         b'\xff\xfe', b'A' * 5000, b'//', b'/*', b'\\', b'nan', b'data=', b'proto=', b'[' * 3000]

def damage(data):
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(data))
        what = rng.randrange(5)
        if what == 0:
            del data[at:]
        elif what == 1 and at < len(data):
            data[at] = rng.randrange(256)
        elif what == 2:
            data[at:at] = rng.choice(words)
        elif what == 3:
            del data[at:at + rng.randint(1, 40)]
        else:
            data[at:at] = data[rng.randint(0, len(data)):][:200]
    return bytes(data)

def damage_file(path):
    what = rng.randrange(12)
    if what == 0:
        os.remove(path)
    elif what == 1:
        os.remove(path); os.mkdir(path)
    elif what == 2:
        os.remove(path); os.symlink(rng.choice(['/etc/passwd', '/dev/zero', path, '.']), path)
    elif what == 3:
        os.remove(path); os.mkfifo(path)
    else:
        data = open(path, 'rb').read()
        open(path, 'wb').write(damage(data))

values = [None, True, False, 0, -1, 2**31, -2**63, 2**63 - 1, 1e308, '', '\u001b[0m', '%s%n', 'x' * 6000, '1.18', '999.999.999.999',
          '-1.-1', '0000:00:00.0', '/', [], {}, [[]], [None], {'': ''}, [{}] * 3]

def twist(node):  # one value of any depth becomes something else
    keys = list(node) if isinstance(node, dict) else range(len(node))
    if not keys:
        return
    key = rng.choice(list(keys))
    below = node[key]
    if isinstance(below, (dict, list)) and below and rng.randrange(5):
        twist(below)
    elif rng.randrange(6) == 0:
        del node[key]
    else:
        node[key] = copy.deepcopy(rng.choice(values))

def twist_file(path):
    if os.path.islink(path) or not os.path.isfile(path):
        return
    try:
        tree = json.load(open(path))
    except (OSError, ValueError):
        return
    if not isinstance(tree, (dict, list)):
        return
    for _ in range(rng.randint(1, 6)):
        twist(tree)
    if 'schema' in tree and rng.randrange(8):
        tree['schema'] = 'spur-recording-1'
    json.dump(tree, open(path, 'w'))

for i in range(rounds):
    m = os.path.join(work, 'm')
    shutil.rmtree(m, ignore_errors=True)
    name = rng.choice(sorted(os.listdir(machines)))
    shutil.copytree(os.path.join(machines, name, 'root'), m, symlinks=True)
    files = sorted(os.path.join(d, f) for d, _, fs in os.walk(m) for f in fs if not os.path.islink(os.path.join(d, f)))
    small = [f for f in files if '/pci' not in f and '/facts.json' not in f]
    chosen = set(rng.sample(small, min(len(small), rng.randint(1, 12))) + rng.sample(files, 2))
    if rng.randrange(3):
        chosen.discard(os.path.join(m, 'facts.json'))
    for f in chosen:
        damage_file(f)
    if rng.randrange(2):
        twist_file(os.path.join(m, 'facts.json'))
    config = os.path.join(m, 'etc/cufile.json')
    if rng.randrange(4) == 0:
        twist_file(config)
    p = subprocess.run([spur, 'doctor', '--json', '--root', m, *(['/mnt/data/file'] if rng.randrange(2) else [])],
                       capture_output=True, timeout=60)
    where = f'seed {seed}, round {i}, {name}: {sorted(chosen)}'
    if p.returncode not in (0, 2, 3, 4) or b'runtime error' in p.stderr or b'Sanitizer' in p.stderr:
        sys.exit(f'exit code {p.returncode}: {where}\n{p.stderr.decode(errors="replace")}')
    if p.returncode == 2:
        if p.stderr.count(b'\n') != 1 or p.stdout:
            sys.exit(f'not one line: {where}')
        continue
    r = json.loads(p.stdout)
    if b'root:x:' in p.stdout or not r['findings'] or r['schema'] != 'spur-doctor-1':
        sys.exit(f'no whole report: {where}')
PYTHON
