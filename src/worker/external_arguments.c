/* SPDX-License-Identifier: MIT */
/* What the user adds for the program: settings that it has, options that leave the job as spur gives it. */
#include <string.h>

#include "core/error.h"
#include "worker/external.h"

/* The path's settings are those of all programs: one without effect would stand in the record as if it had one. */
int external_check_settings(const struct trial *t, const struct external_tool *tool, struct spur_error *e)
{
    for (size_t i = 0; i < t->job->n_settings; i++) {
        const struct spur_key_value *s = &t->job->settings[i];

        if (!tool->uses_setting(t, s->key))
            return error_usage(e, s->key, "leave it out; docs/external.md says whose each setting is",
                               "%.100s=%.200s: %s%s does not use it", s->key, s->value, tool->name,
                               tool == &external_fio ? " with this ioengine" : "");
    }
    return 0;
}

/* The name of an option without its dashes and value. */
static size_t option_name(const char *word, const char **ret)
{
    *ret = word + strspn(word, "-");
    return strcspn(*ret, "=");
}

/* "-I1" is gdsio's "-I 1", and "-bI1" both: what such a word overrides could not be seen - here that it writes. */
static bool is_joined(const struct external_tool *tool, const char *word)
{
    return tool->short_options && word[0] == '-' && strlen(word) > 2;
}

/* An option that is there already would say something else than the record does. */
static int check_repeated(const struct external_words *w, size_t n_own, const char *word, struct spur_error *e)
{
    const char *name, *other;
    size_t length = option_name(word, &name);

    for (size_t k = 1; k < n_own; k++)
        if (w->items[k][0] == '-' && option_name(w->items[k], &other) == length && !strncmp(name, other, length))
            return error_usage(e, "args", "use the option of spur's that stands for it",
                               "args: %.100s is given already, as %.100s", word, w->items[k]);
    return 0;
}

static bool is_allowed(const struct external_tool *tool, const char *word)
{
    const char *name;
    size_t length = option_name(word, &name);

    for (size_t i = 0; tool->arguments_allowed[i]; i++)
        if (strlen(tool->arguments_allowed[i]) == length && !strncmp(tool->arguments_allowed[i], name, length))
            return true;
    return false;
}

static int check_argument(const struct external_tool *tool, const char *word, struct spur_error *e)
{
    if (word[0] != '-')
        return error_usage(e, "args",
                           tool->short_options ? "leave it out" : "write an option's value behind it, as --NAME=VALUE",
                           "args: %.100s is no option: %s would take it for a file of jobs", word, tool->name);
    if (is_joined(tool, word))
        return error_usage(e, "args", "write each option by itself, and its value as the next word",
                           "args: %.100s is more than one option, or one with its value", word);
    if (!is_allowed(tool, word))
        return error_usage(e, "args",
                           "use the option or setting of spur's that stands for it; docs/external.md lists what args "
                           "takes, by whole names",
                           "args: %.100s is none of the options of %s known to leave the job as spur gives it", word,
                           tool->name);
    return 0;
}

int external_check_arguments(const struct external_tool *tool, const struct external_words *w, size_t n_own,
                             struct spur_error *e)
{
    int r = 0;

    for (size_t i = n_own; !r && i < w->n; i++) {
        r = w->items[i][0] == '-' ? check_repeated(w, n_own, w->items[i], e) : 0;
        if (!r)
            r = check_argument(tool, w->items[i], e);
    }
    return r;
}
