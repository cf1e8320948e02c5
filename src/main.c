/* SPDX-License-Identifier: MIT */
/* The command table. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "cli/command.h"
#include "core/error.h"
#include "core/util.h"

const struct command *const command_table[] = {
    &list_command,   &doctor_command, &which_command, &prepare_command, &run_command,    &compare_command,
    &report_command, &simfs_command,  &help_command,  &version_command, &worker_command, NULL,
};

/* Names that may be proposed: the hidden commands are not among them. */
static const char *visible_name(size_t index)
{
    for (size_t i = 0; command_table[i]; i++)
        if (!command_table[i]->hidden && index-- == 0)
            return command_table[i]->name;
    return NULL;
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; command_table[i]; i++)
        if (!strcmp(command_table[i]->name, name))
            return command_table[i];
    return NULL;
}

int command_unknown(const char *name, struct spur_error *e)
{
    const char *near = nearest_name(name, visible_name);

    error_spur(e, SPUR_CODE_USAGE, "command", "unknown command '%s'", name);
    if (near)
        error_remedy(e, "did you mean %s?", near);
    else
        error_remedy(e, "spur help lists the commands");
    return -EINVAL;
}

static int check_arguments(const struct command *c, const struct option_result *given, struct spur_error *e)
{
    if (given->n_arguments < c->min_arguments)
        return error_spur(e, SPUR_CODE_USAGE, "argument", "%s is missing: spur %s %s", c->arguments, c->name,
                          c->arguments);
    if (given->n_arguments > c->max_arguments) {
        error_spur(e, SPUR_CODE_USAGE, "argument", "unexpected argument '%s'", given->arguments[c->max_arguments]);
        error_remedy(e, "spur help %s shows what it takes", c->name);
        return -EINVAL;
    }
    return 0;
}

static int run_parsed(const struct command *c, void *options, const struct option_result *given)
{
    struct spur_error e = {0};
    int r;

    if (given->help) {
        help_text_print(stdout, c);
        return EXIT_OK;
    }
    r = check_arguments(c, given, &e);
    if (!r && c->check)
        r = c->check(options, given, &e);
    return r < 0 ? (int)exit_report(c->name, &e) : c->run(options, given);
}

int command_run(const struct command *command, int argc, char **argv)
{
    _cleanup_free_ void *options = calloc(1, command->options_size + 1);
    struct option_result given;
    struct spur_error e = {0};
    int r;

    if (!options) {
        error_errno(&e, ENOMEM, "calloc", "options");
        return (int)exit_report(command->name, &e);
    }
    if (option_parse(command->options, argc, argv, options, &given, &e) < 0)
        return (int)exit_report(command->name, &e);
    r = run_parsed(command, options, &given);
    option_result_free(&given);
    return r;
}

/* Results that could not be written must not look like success. */
static int flush_stdout(int code)
{
    struct spur_error e = {0};

    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    error_errno(&e, errno, "write", "standard output");
    exit_report(NULL, &e);
    return code && code != EXIT_NOT_DIRECT ? code : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    const struct command *command;
    struct spur_error e = {0};

    signal(SIGXFSZ, SIG_IGN); /* a file past `ulimit -f` is EFBIG, with words and a cleanup, and no death */
    if (argc < 2) {
        help_text_print(stderr, NULL);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        command = &help_command;
    else if (!strcmp(argv[1], "--version"))
        command = &version_command;
    else
        command = command_find(argv[1]);
    if (!command) {
        if (argv[1][0] == '-')
            error_spur(&e, SPUR_CODE_USAGE, "option", "unknown option %s: a command comes first", argv[1]);
        else
            command_unknown(argv[1], &e);
        return (int)exit_report(NULL, &e);
    }
    return flush_stdout(command_run(command, argc - 1, argv + 1));
}
