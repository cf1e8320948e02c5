/* SPDX-License-Identifier: MIT */
/* Manual pages in mdoc, from the same rows as --help. docs/man holds what this prints; a test compares them. */
#include <ctype.h>
#include <string.h>

#include "cli/command.h"
#include "core/util.h"

#define MAN_DATE "December 1, 2026" /* of the last change of the texts */

/* Running text: backslashes are escapes, and a line must not begin like a macro. Sentences begin on new lines. */
static void print_text(FILE *out, const char *text)
{
    bool at_start = true;

    for (const char *p = text; *p; p++) {
        if (at_start && (*p == '.' || *p == '\''))
            fputs("\\&", out);
        at_start = false;
        if (*p == '\n' && p[1] == '\n') {
            fputs("\n.Pp\n", out);
            p++;
            at_start = true;
        } else if (*p == ' ' && p > text && strchr(".?!", p[-1]) && isupper((unsigned char)p[1])) {
            fputc('\n', out);
            at_start = true;
        } else if (*p == '\\') {
            fputs("\\e", out);
        } else if (*p == '-' && p[1] == '-') {
            fputs("\\-", out);
        } else if (*p == '-' && p > text && (p[-1] == '-' || p[-1] == ' ')) {
            fputs("\\-", out);
        } else {
            fputc(*p, out);
        }
    }
    fputc('\n', out);
}

/* Ends a line of help with a full stop. */
static void print_sentence(FILE *out, const char *text)
{
    char line[600];
    size_t n = strlen(text);

    snprintf(line, sizeof(line), "%c%s%s", toupper((unsigned char)text[0]), text + 1,
             n && strchr(".?!", text[n - 1]) ? "" : ".");
    print_text(out, line);
}

static void print_head(FILE *out, const char *name, const char *summary)
{
    char title[64];

    snprintf(title, sizeof(title), "%s", name);
    for (char *p = title; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    fprintf(out,
            ".\\\" SPDX-License-Identifier: MIT\n"
            ".\\\" Made from the option tables: change those, then run ninja -C build man-pages.\n"
            ".Dd %s\n.Dt %s 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd %s\n",
            MAN_DATE, title, name, summary);
}

static void print_option_synopsis(FILE *out, const struct option *row)
{
    const char *shape = row->required ? "" : "Op ";

    if (row->metavar)
        fprintf(out, ".%sFl -%s Ar %s\n", shape, row->name, row->metavar);
    else
        fprintf(out, ".%sFl -%s\n", shape, row->name);
}

static void print_synopsis(FILE *out, const struct command *c)
{
    fprintf(out, ".Sh SYNOPSIS\n.Nm spur %s\n", c->name);
    for (size_t i = 0; i < option_count(c->options); i++)
        print_option_synopsis(out, &c->options[i]);
    if (!c->arguments)
        return;
    if (c->arguments[0] == '[')
        fprintf(out, ".Op Ar %.*s\n", (int)strlen(c->arguments) - 2, c->arguments + 1);
    else
        fprintf(out, ".Ar %s\n", c->arguments);
}

static void print_option(FILE *out, const struct option *row)
{
    char range[300], line[400];

    if (row->metavar)
        fprintf(out, ".It Fl -%s Ar %s\n", row->name, row->metavar);
    else
        fprintf(out, ".It Fl -%s\n", row->name);
    print_sentence(out, row->help);
    if (row->manual)
        print_text(out, row->manual);
    if (row->kind == OPTION_TEXTS)
        print_text(out, "It may be repeated.");
    option_range_text(row, range, sizeof(range));
    if (range[0]) {
        snprintf(line, sizeof(line), "%s: %s.", row->choices || row->names ? "One of" : "Range", range);
        print_text(out, line);
    }
    if (row->default_text || row->absent) {
        snprintf(line, sizeof(line), "Default: %s.", row->default_text ? row->default_text : row->absent);
        print_text(out, line);
    }
    if (row->required)
        print_text(out, "It is required.");
    if (row->conflicts)
        fprintf(out, "Not together with\n.Fl -%s .\n", row->conflicts);
}

static void print_options(FILE *out, const struct command *c)
{
    if (!c->options && !c->arguments_manual)
        return;
    fprintf(out, ".Pp\nThe %s as follows:\n.Bl -tag -width Ds\n", c->options ? "options are" : "arguments are");
    if (c->arguments_manual) {
        if (c->arguments[0] == '[')
            fprintf(out, ".It Ar %.*s\n", (int)strlen(c->arguments) - 2, c->arguments + 1);
        else
            fprintf(out, ".It Ar %s\n", c->arguments);
        print_sentence(out, c->arguments_manual);
    }
    for (size_t i = 0; i < option_count(c->options); i++)
        print_option(out, &c->options[i]);
    fprintf(out, ".It Fl -help\nPrints a short form of this page.\n.El\n");
}

static const char *exit_words(const struct command *c, const struct exit_row *row)
{
    for (size_t k = 0; c->exits && (int)c->exits[k].code != -1; k++)
        if (c->exits[k].code == row->code)
            return c->exits[k].words ? c->exits[k].words : row->words;
    return NULL;
}

static void print_exits(FILE *out, const struct command *c)
{
    fprintf(out, ".Sh EXIT STATUS\n.Bl -tag -width 999\n");
    for (size_t i = 0; exit_row(i); i++) {
        const char *words = c ? exit_words(c, exit_row(i)) : exit_row(i)->words;

        if (!words)
            continue;
        fprintf(out, ".It %d\n", (int)exit_row(i)->code);
        print_sentence(out, words);
    }
    fprintf(out, ".El\n");
}

static void print_examples(FILE *out, const struct command *c)
{
    if (!c->examples)
        return;
    fprintf(out, ".Sh EXAMPLES\n");
    for (size_t i = 0; c->examples[i].line; i++) {
        if (i)
            fprintf(out, ".Pp\n");
        print_sentence(out, c->examples[i].words);
        fprintf(out, ".Dl ");
        print_text(out, c->examples[i].line);
    }
}

static void print_see_also(FILE *out, const char *names)
{
    fprintf(out, ".Sh SEE ALSO\n");
    while (*names) {
        size_t n = strcspn(names, " ");

        fprintf(out, ".Xr %.*s 1%s\n", (int)n, names, names[n] ? " ," : "");
        names += n + (names[n] == ' ');
    }
}

static void print_command(FILE *out, const struct command *c)
{
    char name[64];

    snprintf(name, sizeof(name), "spur-%s", c->name);
    print_head(out, name, c->summary);
    print_synopsis(out, c);
    fprintf(out, ".Sh DESCRIPTION\n");
    print_text(out, c->description);
    print_options(out, c);
    print_exits(out, c);
    print_examples(out, c);
    print_see_also(out, c->see_also ? c->see_also : "spur");
}

static void print_program(FILE *out)
{
    print_head(out, "spur", "time the roads of file bytes to a GPU");
    fprintf(out,
            ".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar option ...\n.Nm\n.Fl -help | -version\n.Sh DESCRIPTION\n.Nm\n");
    print_text(out,
               "answers one question: by which road should file bytes reach this GPU? It times paths against the same "
               "file, memory and workload, proves which road the bytes took, and verifies every run.\n\n"
               "The commands are:");
    fprintf(out, ".Bl -tag -width Ds\n");
    for (size_t i = 0; command_table[i]; i++) {
        if (command_table[i]->hidden)
            continue;
        fprintf(out, ".It Cm %s\n", command_table[i]->name);
        print_sentence(out, command_table[i]->summary);
    }
    fprintf(out, ".El\n.Pp\n");
    print_text(out,
               "Sizes are whole numbers with K, M, G or T (powers of 1024, also written KiB and so on) or of bytes. "
               "Times are whole numbers with ns, us, ms, s, m or h. Options are written --name VALUE or --name=VALUE; "
               "what follows -- is not an option, even if it begins with a dash. Results go to standard output, "
               "everything else to standard error.");
    print_exits(out, NULL);
    print_see_also(out, "spur-help spur-list spur-prepare spur-run");
}

void man_print(FILE *out, const struct command *command)
{
    if (command)
        print_command(out, command);
    else
        print_program(out);
}
