# SPDX-License-Identifier: MIT
# Mounts of spur simfs; to be sourced after run_lib.sh or lib.sh.

mount=$work/mount
mkdir "$mount"
trap 'simfs_end; rm -rf "$work"' EXIT

simfs_end() {
    [ ! -e "$mount/.spur/config" ] || kill "$(server_pid)" 2>/dev/null
    ending=0
    while is_mounted && [ $ending -lt 500 ]; do
        ending=$((ending + 1))
        sleep 0.01
    done
}

server_pid() {
    sed -n 's/^pid //p' "$mount/.spur/config"
}

is_mounted() {
    grep -qF " $mount " /proc/self/mounts
}

not_mounted() {
    ! is_mounted
}

# stat_of KEY: of .spur/stats.
stat_of() {
    sed -n "s/^$1 //p" "$mount/.spur/stats"
}

# simfs OPTIONS...: mounted at $mount.
simfs() {
    code=0
    "$SPUR" simfs "$mount" "$@" >"$work/out" 2>"$work/err" || code=$?
    ! grep -qE "no FUSE here|cannot be mounted|only root can mount" "$work/err" || skip "no FUSE here"
    [ "$code" -eq 0 ] || fail "exit code $code of spur simfs $*"
}

unmounted() {
    expect 0 "$SPUR" simfs --unmount "$mount"
    not_mounted || fail "it is still mounted"
}
