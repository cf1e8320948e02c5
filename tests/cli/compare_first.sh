#!/bin/sh
# SPDX-License-Identifier: MIT
# A whole experiment: every planned trial is there once, with figures, evidence and result; arms of a cell and block read
# with one seed; the report follows.
. "$(dirname "$0")/compare_lib.sh"
span="--bytes 4M" # no window without a request, whatever else runs

prepared f 4M
compared 0 "$work/r.db" --file "$work/f" --arm odirect --arm fanout --threads 1,2 --blocks 5 --seed 7
says out "odirect"
says out "fanout"
[ "$(sql "$work/r.db" "select count(*) from trials where status = 'ok'")" -eq 20 ] || fail "not 20 trials"
[ "$(sql "$work/r.db" "select count(distinct row) from trials")" -eq 20 ] || fail "a row was run twice"
[ "$(sql "$work/r.db" "select count(*) from results")" -eq 20 ] || fail "not 20 results"
[ "$(sql "$work/r.db" "select count(distinct row) from intervals")" -eq 20 ] || fail "not all trials have intervals"
[ "$(sql "$work/r.db" "select count(*) from histograms")" -eq 20 ] || fail "not all trials have a histogram"
[ "$(sql "$work/r.db" "select count(*) from trials where bytes_per_second > 0 and observed = 'host' and verify = 'ok'")" -eq 20 ] ||
    fail "trials without a rate, evidence or verification"
[ "$(sql "$work/r.db" "select max(n) from (select count(distinct seed) as n from plan group by block, cell)")" -eq 1 ] ||
    fail "the arms of a cell have different seeds in a block"
[ "$(sql "$work/r.db" "select count(distinct seed) from plan")" -eq 10 ] || fail "seeds are not fresh in each cell and block"
stat -c %a "$work/r.db" | grep -qx 600 || fail "the results can be read by others"

# What each trial was told: the plan's seed and the cell's threads.
sql "$work/r.db" "select p.seed || ' ' || json_extract(r.json, '\$.requested.seed') || ' ' ||
    json_extract(r.json, '\$.requested.path') || ' ' || a.name from plan p join results r using (row)
    join arms a on a.arm = p.arm" >"$work/told"
while read -r planned seed path arm; do
    [ "$planned" = "$seed" ] || fail "a trial ran with seed $seed instead of $planned"
    [ "$path" = "$arm" ] || fail "arm $arm ran path $path"
done <"$work/told"

# The same seed gives the same order.
compared 0 "$work/again.db" --file "$work/f" --arm odirect --arm fanout --threads 1,2 --blocks 5 --seed 7
sql "$work/r.db" "select * from plan" >"$work/plan"
sql "$work/again.db" "select * from plan" | cmp -s - "$work/plan" || fail "one seed, two orders"
compared 0 "$work/other.db" --file "$work/f" --arm odirect --arm fanout --threads 1,2 --blocks 5 --seed 8
# A name of any bytes: the command in the report is one printable line, and bash reads the name back.
odd=$(printf "f\\377 \\351\\n\\033[31m'\\\\1")
ln "$work/f" "$work/$odd"
compared 0 "$work/odd.db" --file "$work/$odd" --arm null --arm odirect --blocks 1
expect 0 "$SPUR" report "$work/odd.db" --json "$work/odd.json"
python3 - "$work/odd.json" "$work/$odd" <<'END' || fail "the command names another file"
import json, os, subprocess, sys
command = json.load(open(sys.argv[1]))["plan"]["command"]
assert command.isprintable() and "$'" in command, command
words = subprocess.run(["bash", "-c", "printf '%s\\0' " + command], stdout=subprocess.PIPE, check=True).stdout
assert os.fsencode(sys.argv[2]) in words.split(b"\0"), command
END
"$SPUR" report "$work/odd.db" | grep -qF "/f\\377 \\351\\012\\033[31m\\'\\\\1'" || fail "the text has another command"

sql "$work/other.db" "select * from plan" | cmp -s - "$work/plan" && fail "two seeds, one order"
exit 0
