#!/bin/sh
# SPDX-License-Identifier: MIT
# A disk itself, btrfs with device numbers of its own, the root's ext4, a directory: each gets what is true of it.
. "$(dirname "$0")/doctor_lib.sh"

as() { # PYTHON: changes m (mountinfo) and f (the file's facts) of a good machine
    copy nvme-ext4
    python3 - "$work/m" "$1" <<'PYTHON'
import json, sys
root, code = sys.argv[1], sys.argv[2]
table, facts = root + '/proc/self/mountinfo', root + '/facts.json'
m, r = open(table).read(), json.load(open(facts))
f = r['files'][0]
names = {'m': m, 'f': f, 'r': r}
exec(code, names)
open(table, 'w').write(names['m'])
json.dump(r, open(facts, 'w'))
PYTHON
}
as "m = m.replace('259:1 / /mnt/data rw,relatime - ext4 /dev/nvme0n1p1 rw,data=ordered', '0:52 / /mnt/data rw - btrfs /dev/nvme0n1 rw')
f['device'], f['resident']['bytes'] = [0, 52], 4096"
expect 4 "$SPUR" doctor --json --root "$work/m"
holds "r['files'][0]['facts']['block']['leaves'] == ['nvme0n1']" "'4096 bytes' in found('residency', 'note')[0]['found']" \
    "'btrfs' in verdict()['reason']"
as "m = '\n'.join(l for l in m.split('\n') if 'nvme0n1' not in l) + '\n'
f.update(kind='block device', name='/dev/nvme0n1p1', real='/dev/nvme0n1p1')"
expect 4 "$SPUR" doctor --json --root "$work/m"
holds "r['files'][0]['facts']['mount']['type'] == 'block device'" "not found('residency', 'unknown') and not found('mount', 'unknown')" \
    "'no file' in found('mount', 'note')[0]['found']"
expect 4 "$SPUR" doctor --root "$work/m"
says out "is a block device, on nvme0n1"
as "f.update(kind='block device')"
expect 4 "$SPUR" doctor --json --root "$work/m"
holds "'mounted at /mnt/data' in found('mount', 'warn')[0]['found']"
as "m = m.replace('8:2 / / rw,relatime - ext4 /dev/sda2 rw', '259:1 / / rw - ext4 /dev/nvme0n1p1 rw').replace('40 27', '0 0')
m = '\n'.join(l for l in m.split('\n') if '/mnt/data' not in l) + '\n'"
expect 4 "$SPUR" doctor --json --root "$work/m"
holds "'rootflags=data=ordered' in found('ext4', 'warn')[0]['remedy'] and 'umount' not in found('ext4', 'warn')[0]['remedy']"
as "f.update(kind='directory', directory=True)"
expect 0 "$SPUR" doctor --json --root "$work/m"
holds "found('file', 'note')[0]['remedy'].endswith('spur doctor /mnt/data/file/FILE')"
as "r['library'], r['cuda'] = {'found': False, 'detail': 'none'}, {'usable': False, 'detail': 'no GPU answers'}
m = m.replace('data=ordered', 'data=journal')"
expect 4 "$SPUR" doctor --json --root "$work/m" # all of the reasons
holds "all(w in verdict()['reason'] for w in ('no GPU answers', 'no cuFile library loads', 'data=journal'))"
as "f.update(simfs=True); m = m.replace('ext4 /dev/nvme0n1p1 rw,data=ordered', 'fuseblk /dev/nvme0n1p1 rw')"
expect 4 "$SPUR" doctor --json --root "$work/m"
holds "r['simulated'] and 'simulated storage' in found('user-space', 'note')[0]['found']"
as "m = m.replace('259:1 / /mnt/data rw,relatime - ext4 /dev/nvme0n1p1 rw,data=ordered', '0:52 / /mnt/data rw - btrfs /dev/nvme0n1 rw,compress=zstd:3')
f['device'] = [0, 52]"
expect 4 "$SPUR" doctor --json --root "$work/m"
holds "'compresses what is written (zstd:3)' in found('file-layout', 'warn')[0]['found']"
for stripes in 1 8; do
    as "m = m.replace('259:1 / /mnt/data rw,relatime - ext4 /dev/nvme0n1p1 rw,data=ordered', '0:52 / /mnt/data rw - lustre 192.0.2.1@o2ib:/fs rw')
f['device'], f['lustre'] = [0, 52], {'stripes': $stripes, 'bytes': 1048576}"
    "$SPUR" doctor --json --root "$work/m" >"$work/out" || [ $? -eq 4 ]
    holds "r['files'][0]['facts']['lustre']['stripes'] == $stripes" \
        "bool(found('lustre', 'warn')) == ($stripes == 1) and bool(found('lustre', 'pass')) == ($stripes > 1)"
done
copy nfs-rdma # a session of 4.1 has slots of its own, however many connections there are
sed -i 's/vers=3/vers=4.2/' "$work/m/proc/self/mountinfo"
mkdir -p "$work/m/sys/module/nfs/parameters"
for slots in 64 16; do
    echo $slots >"$work/m/sys/module/nfs/parameters/max_session_slots"
    "$SPUR" doctor --json --root "$work/m" >"$work/out" || [ $? -eq 4 ]
    holds "r['files'][0]['facts']['nfs-slots']['in_flight_at_most'] == $slots" \
        "bool(found('nfs-slots', 'warn')) == ($slots < 64)"
done
link=$(echo "$work"/m/sys/devices/pci0000:15/*/*/*/0000:1a:00.0/current_link_width) # of the network card
echo 8 >"$link"
"$SPUR" doctor --json --root "$work/m" >"$work/out" || [ $? -eq 4 ]
holds "any(f['where'] == '0000:1a:00.0' and '8 lanes of 16' in f['found'] for f in found('pcie-link', 'warn'))"
for machine in x86_64 aarch64; do # on Grace the GPU's transfers are to be translated
    as "r['machine'] = '$machine'"
    for type in "$work"/m/sys/kernel/iommu_groups/*/type; do
        echo DMA-FQ >"$type"
    done
    expect 0 "$SPUR" doctor --json --root "$work/m"
    holds "bool(found('iommu', 'warn')) == ('$machine' == 'x86_64')" "r['facts']['iommu']['translated_gpus'] == 1"
done
copy lvm-and-md # cuFile names raid0 and raid1 only
rm "$work/m/etc/cufile.json"
python3 - "$work/m/facts.json" <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))
r['env'] = {}
r['files'] = [f for f in r['files'] if f['name'].startswith('/mnt/md')]
r['files'][0]['odirect'] = {'works': True, 'memory': 512, 'offset': 512, 'source': 'statx'}
json.dump(r, open(sys.argv[1], 'w'))
PYTHON
for level in raid1 raid5 raid10 ""; do
    find "$work/m/sys" -path '*/md0/md/level' -exec sh -c 'if [ "$1" ]; then echo "$1" >"$2"; else rm "$2"; fi' sh "$level" {} \;
    "$SPUR" doctor --json --root "$work/m" >"$work/out" || [ $? -eq 4 ]
    holds "verdict()['road'] == ('nvidia-fs' if '$level' == 'raid1' else 'compat')" \
        "bool(found('block', 'warn')) == ('md0 is md $level' in verdict()['reason']) == ('$level' != 'raid1')"
done
copy nvme-ext4 # what is not seen speaks for no direct road, and is the reason that is given
rm -r "$work/m/sys"
expect 4 "$SPUR" doctor --json --root "$work/m"
holds "verdict()['road'] == 'compat' and verdict()['reason'].startswith('the disks below it are not known (/sys')"
head -c 250 "$machines/nvme-ext4/root/proc/self/mountinfo" >"$work/m/proc/self/mountinfo"
expect 4 "$SPUR" doctor --json --root "$work/m"
holds "verdict()['reason'].startswith('nothing is known of its mount (/proc/self/mountinfo: line 5 is malformed)')"
copy nfs-tcp # one command mends the mount, and keeps what is in force
expect 4 "$SPUR" doctor --json --root "$work/m"
holds "{f['remedy'] for f in found('nfs', 'warn')} == {'umount /mnt/nfs && mount -o proto=rdma,port=20049,nconnect=8,rsize=1048576,' +
'wsize=1048576,vers=4.2,hard,timeo=600,retrans=2,sec=sys server1:/export /mnt/nfs (the server has a say in sizes)'}"
expect 4 "$SPUR" doctor --root "$work/m"
[ "$(grep -c 'do:  umount' "$work/out")" = 1 ] || fail "the command is printed again"
copy nfs-rdma
sed -i 's/wsize=1048576/wsize=262144/; s,/mnt/nfs rw,/mnt/nfs rw\,noatime,' "$work/m/proc/self/mountinfo"
echo '42 27 0:53 / /mnt/other rw - nfs server1:/other rw' >>"$work/m/proc/self/mountinfo"
"$SPUR" doctor --json --root "$work/m" >"$work/out"
holds "'mount -o wsize=1048576,noatime,vers=3,rsize=1048576,hard' in found('nfs', 'warn')[0]['remedy']" \
    "all(o in found('nfs', 'warn')[0]['remedy'] for o in ('proto=rdma', 'nconnect=8', 'port=20049'))" \
    "found('nfs', 'warn')[0]['remedy'].endswith(': /mnt/other') and 'addr' not in found('nfs', 'warn')[0]['remedy']"
as "m = m.replace('259:1 / /mnt/data rw,relatime - ext4 /dev/nvme0n1p1 rw,data=ordered',
    '259:1 / /mnt/a\\\\040b rw,noatime - ext4 /dev/nvme0n1p1 rw,errors=remount-ro\n41 27 259:1 /sub /mnt/data rw - ext4 /dev/nvme0n1p1 rw,errors=remount-ro')"
expect 4 "$SPUR" doctor --json --root "$work/m" # a folder of it is mounted
q=\'/mnt/a' 'b\'
holds "found('ext4', 'warn')[0]['remedy'].startswith(\"umount /mnt/data $q && mount -o data=ordered,noatime,errors=remount-ro /dev/nvme0n1p1 $q && \")" \
    "\" && mount --bind '/mnt/a b/sub' /mnt/data (a remount\" in found('ext4', 'warn')[0]['remedy']"
as "f['extents'].update(status='unknown', hole_bytes=0, unwritten_bytes=None, unflushed_bytes=4096, reason='dirty')"
expect 0 "$SPUR" doctor --json --root "$work/m"
holds "all(r['files'][0]['facts']['file-layout'][k] is None for k in ('hole_bytes', 'unwritten_bytes'))" \
    "found('file-layout', 'unknown')[0]['remedy'].startswith('sync ')"
