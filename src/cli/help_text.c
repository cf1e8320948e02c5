/* SPDX-License-Identifier: MIT */
/* What --help prints, from the rows. */
#include <string.h>

#include "cli/command.h"
#include "cli/wrap.h"

#define HELP_COLUMN 24

static void print_entry(FILE *out, const char *left, const char *text)
{
    int n = fprintf(out, "  %s", left);

    if (n > HELP_COLUMN - 2) {
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    } else {
        fprintf(out, "%*s", HELP_COLUMN - n, "");
    }
    wrap_print(out, text, HELP_COLUMN, HELP_COLUMN);
}

/* help (range; default): "bytes of one request (1 to 1G; default 1M)" */
static void print_option(FILE *out, const struct option *row)
{
    char left[80], range[300], text[800];
    const char *otherwise = row->default_text ? row->default_text : row->absent;

    snprintf(left, sizeof(left), "--%s%s%s", row->name, row->metavar ? " " : "", row->metavar ? row->metavar : "");
    option_range_text(row, range, sizeof(range));
    snprintf(text, sizeof(text), "%s%s%s%s%s%s%s", row->help, range[0] || otherwise ? " (" : "", range,
             range[0] && otherwise ? "; " : "", otherwise ? "default " : "", otherwise ? otherwise : "",
             range[0] || otherwise ? ")" : "");
    if (row->kind == OPTION_TEXTS)
        strncat(text, " (may be repeated)", sizeof(text) - strlen(text) - 1);
    if (row->required)
        strncat(text, " (required)", sizeof(text) - strlen(text) - 1);
    print_entry(out, left, text);
}

static void print_exits(FILE *out, const struct command *c)
{
    char code[16];

    fprintf(out, "\nExit status:\n");
    for (size_t i = 0; exit_row(i); i++) {
        const char *words = c ? NULL : exit_row(i)->words;

        for (size_t k = 0; c && c->exits && (int)c->exits[k].code != -1; k++)
            if (c->exits[k].code == exit_row(i)->code)
                words = c->exits[k].words ? c->exits[k].words : exit_row(i)->words;
        snprintf(code, sizeof(code), "%d", (int)exit_row(i)->code);
        if (words)
            print_entry(out, code, words);
    }
}

static void print_program(FILE *out)
{
    fprintf(out, "Usage: spur COMMAND [OPTION]...\n\n");
    wrap_print(
        out, "Times the paths by which file bytes reach (GPU) memory, proves which road they took, and verifies them.",
        0, 0);
    fprintf(out, "\nCommands:\n");
    for (size_t i = 0; command_table[i]; i++)
        if (!command_table[i]->hidden)
            print_entry(out, command_table[i]->name, command_table[i]->summary);
    print_exits(out, NULL);
    fprintf(out, "\nspur help COMMAND explains a command; sizes are written 4K 1M 16MiB 8G, times 500us 10s.\n");
}

static void print_command(FILE *out, const struct command *c)
{
    fprintf(out, "Usage: spur %s%s%s%s\n\n", c->name, c->arguments ? " " : "", c->arguments ? c->arguments : "",
            c->options ? " [OPTION]..." : "");
    wrap_print(out, c->description, 0, 0);
    if (c->arguments_manual) {
        fprintf(out, "\nArguments:\n");
        print_entry(out, c->arguments, c->arguments_manual);
    }
    if (c->options)
        fprintf(out, "\nOptions:\n");
    for (size_t i = 0; i < option_count(c->options); i++)
        print_option(out, &c->options[i]);
    if (c->examples)
        fprintf(out, "\nExamples:\n");
    for (size_t i = 0; c->examples && c->examples[i].line; i++) {
        fprintf(out, "  %s\n      ", c->examples[i].line);
        wrap_print(out, c->examples[i].words, 6, 6);
    }
    print_exits(out, c);
}

void help_text_print(FILE *out, const struct command *command)
{
    if (command)
        print_command(out, command);
    else
        print_program(out);
}
