/* SPDX-License-Identifier: MIT */
/* spur help, spur version */
#include <string.h>
#include <sys/utsname.h>

#include "cli/build_config.h"
#include "cli/command.h"
#include "core/util.h"

struct help_options {
    bool man;
};

static const struct option help_rows[] = {
    {.name = "man",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct help_options, man),
     .help = "prints the manual page instead, as mdoc source",
     .manual = "To read it: spur help --man run | man -l -"},
    {0},
};

static int help_run(void *options, const struct option_result *given)
{
    const struct help_options *o = options;
    const char *name = given->n_arguments ? given->arguments[0] : NULL;
    const struct command *c = NULL;
    struct spur_error e = {0};

    if (name && (!o->man || strcmp(name, "spur"))) {
        c = command_find(name);
        if (!c || c->hidden) {
            command_unknown(name, &e);
            return (int)exit_report("help", &e);
        }
    }
    if (o->man)
        man_print(stdout, c);
    else
        help_text_print(stdout, c);
    return EXIT_OK;
}

static const struct command_exit plain_exits[] = {
    {EXIT_OK, "Printed."},
    {EXIT_FAILED, "Standard output could not be written."},
    {EXIT_USAGE, "An unknown command or option."},
    COMMAND_EXITS_END,
};

static const struct command_example help_examples[] = {
    {"spur help run", "What the options of run mean"},
    {"spur help --man run | man -l -", "The manual page of run"},
    {NULL, NULL},
};

const struct command help_command = {
    .name = "help",
    .summary = "explain a command, or print its manual page",
    .arguments = "[COMMAND]",
    .arguments_manual = "the command to explain; without it, all commands are listed",
    .max_arguments = 1,
    .options = help_rows,
    .options_size = sizeof(struct help_options),
    .description = "Explains a command and its options, or lists the commands. The text, the manual page and what the "
                   "command accepts come from one table.",
    .exits = plain_exits,
    .examples = help_examples,
    .see_also = "spur",
    .run = help_run,
};

static const char *sanitizers(void)
{
#if defined(__SANITIZE_ADDRESS__)
    return ", address sanitizer";
#elif defined(__SANITIZE_THREAD__)
    return ", thread sanitizer";
#else
    return "";
#endif
}

static int version_run(void *options, const struct option_result *given)
{
    struct utsname u;

    printf("spur %s\n", spur_version());
    printf("built with %s, liburing %s%s%s\n", BUILD_COMPILER, BUILD_LIBURING,
#ifdef __OPTIMIZE__
           ", optimised",
#else
           ", not optimised",
#endif
           sanitizers());
    if (uname(&u) == 0)
        printf("running on %s %s %s\n", u.sysname, u.release, u.machine);
    printf("CUDA: loaded at run time where there is a driver; spur list says whether\n");
    return EXIT_OK;
}

const struct command version_command = {
    .name = "version",
    .summary = "print the version, how it was built, and the kernel it runs on",
    .description = "Prints the version of spur, how it was built, and the kernel it runs on.",
    .exits = plain_exits,
    .see_also = "spur spur-list",
    .run = version_run,
};
