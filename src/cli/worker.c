/* SPDX-License-Identifier: MIT */
/* The hidden command that a worker process runs: spur worker PARENT, with its socket as descriptor 3. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "cli/command.h"
#include "worker/child.h"
#include "worker/wire.h"

static int worker_run_command(void *options, const struct option_result *given)
{
    int type = 0;
    socklen_t length = sizeof(type);

    if (getsockopt(WIRE_FD, SOL_SOCKET, SO_TYPE, &type, &length) < 0) {
        fputs("spur worker: descriptor 3 is no socket: workers are started by spur run\n", stderr);
        return EXIT_USAGE;
    }
    return worker_main((pid_t)atoi(given->arguments[0]));
}

const struct command worker_command = {
    .name = "worker",
    .summary = "one trial, as a process of its own",
    .arguments = "PARENT",
    .min_arguments = 1,
    .max_arguments = 1,
    .hidden = true,
    .description = "",
    .run = worker_run_command,
};
