#!/bin/sh
# SPDX-License-Identifier: MIT
# update.sh SPUR: writes the manual pages anew from the program's option tables.
set -e
cd "$(dirname "$0")"
"$1" help --man spur >spur.1
for command in list doctor which prepare run compare report simfs help; do
    "$1" help --man $command >spur-$command.1
done
