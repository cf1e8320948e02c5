/* SPDX-License-Identifier: MIT */
/* The command that mounts a file system anew with other options: one, with all that is to change and all that stays. */
#include <string.h>

#include "core/quote.h"
#include "doctor/check.h"
#include "probe/mount.h"

/* Shown in the table, but found out by the kernel or mount.nfs, or the default. */
static bool is_of_itself(const char *option)
{
    static const char *const names[] = {"rw",     "relatime",  "seclabel",  "addr",           "clientaddr",
                                        "namlen", "mountaddr", "mountport", "local_lock=none"};
    size_t n = strcspn(option, "=");

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (!strcmp(option, names[i]) || (strlen(names[i]) == n && !strncmp(option, names[i], n)))
            return true;
    return false;
}

/* Whether the list by commas has an option of this name. */
static bool has_key(const char *list, const char *option)
{
    size_t n = strcspn(option, "=");

    for (const char *at = list; *at; at += *at == ',') {
        if (!strncmp(at, option, n) && (!at[n] || at[n] == '=' || at[n] == ','))
            return true;
        at += strcspn(at, ",");
    }
    return false;
}

static void add(char **list, const char *option)
{
    char *longer = NULL;

    if (asprintf(&longer, "%s%s%s", *list, **list ? "," : "", option) < 0)
        return;
    free(*list);
    *list = longer;
}

/* Options of @from that are in force, were asked for, and are not in @list yet. */
static void add_all(char **list, const char *from)
{
    _cleanup_free_ char *copy = strdup(from);
    char *at = copy, *one;

    while (at && *list && (one = strsep(&at, ",")))
        if (*one && !is_of_itself(one) && !has_key(*list, one)) {
            mount_unescape(one);
            add(list, one);
        }
}

/* @wanted first, then what is in force and is not replaced by it. */
static char *options_of(const struct probe_mount *m, const char *wanted)
{
    char *list = strdup(wanted);

    if (list) {
        add_all(&list, m->options);
        add_all(&list, m->super_options);
    }
    return list;
}

char *mount_command(const struct probe_mount *m, const char *wanted)
{
    _cleanup_free_ char *list = options_of(m, wanted), *options = list ? quote_word(list) : NULL;
    _cleanup_free_ char *source = quote_word(m->source), *point = quote_word(m->mount_point);
    char *text = NULL;

    return options && source && point && asprintf(&text, "mount -o %s %s %s", options, source, point) >= 0 ? text
                                                                                                           : NULL;
}

/* ------------------------------------------------------------------------------------------------
 * All mounts of a file system: its options hold until the last of them is gone.
 */

struct places {
    const struct probe_mount *m;
    char *all;     /* quoted, the last first */
    char *here;    /* folder of the file system that the file's mount shows */
    char *whole;   /* where its root folder is mounted; NULL: nowhere that is seen */
    char *options; /* of that mount */
    unsigned n;
};

static void set(char **to, char *text)
{
    free(*to);
    *to = text;
}

static bool visit(void *context, const struct mount_line *l)
{
    struct places *p = context;
    _cleanup_free_ char *point = quote_word(l->mount_point);
    char *all = NULL;

    if (l->major != p->m->major || l->minor != p->m->minor || !point)
        return false;
    p->n++;
    if (asprintf(&all, "%s%s%s", point, p->all ? " " : "", p->all ? p->all : "") >= 0)
        set(&p->all, all);
    if (!strcmp(l->mount_point, p->m->mount_point))
        set(&p->here, strdup(l->root));
    if (!strcmp(l->root, "/") && (!p->whole || !strcmp(l->mount_point, p->m->mount_point))) {
        set(&p->whole, strdup(l->mount_point));
        set(&p->options, strdup(l->options));
    }
    return false;
}

/* " && mount --bind FOLDER POINT" where the file's mount is not the whole; to be freed. */
static char *bind_command(const struct places *p)
{
    bool is_whole = !strcmp(p->whole, p->m->mount_point);
    _cleanup_free_ char *folder = NULL, *from = NULL, *to = quote_word(p->m->mount_point);
    char *text = NULL;

    if (is_whole || asprintf(&folder, "%s%s", p->whole, p->here) < 0)
        return strdup("");
    from = quote_word(folder);
    return from && to && asprintf(&text, " && mount --bind %s %s", from, to) >= 0 ? text : NULL;
}

static char *whole_command(struct places *p, const char *wanted, const char *between)
{
    struct probe_mount *m = malloc(sizeof(*m));
    _cleanup_free_ char *bind = bind_command(p), *mount = NULL;
    char *text = NULL;
    unsigned done = bind && *bind ? 2 : 1;

    if (m) {
        *m = *p->m;
        snprintf(m->mount_point, sizeof(m->mount_point), "%s", p->whole);
        snprintf(m->options, sizeof(m->options), "%s", p->options ? p->options : "");
        mount = mount_command(m, wanted);
    }
    free(m);
    if (!mount || !bind ||
        asprintf(&text, "umount %s && %s%s%s%s", p->all, between, mount, bind,
                 p->n > done ? "; then its other places anew" : "") < 0)
        return NULL;
    return text;
}

enum remount remount_command(const struct doctor *d, const char *wanted, const char *between, char **ret)
{
    struct places p = {.m = &d->file->mount};
    char reason[PROBE_REASON];
    enum remount is;

    *ret = NULL;
    mount_walk(&d->p, visit, &p, reason);
    is = !p.here || !p.all || !p.whole ? REMOUNT_UNSEEN : !strcmp(p.whole, "/") ? REMOUNT_ROOT : REMOUNT_COMMAND;
    if (is == REMOUNT_COMMAND)
        *ret = whole_command(&p, wanted, between);
    else if (is == REMOUNT_UNSEEN && p.here)
        *ret = strdup(p.here);
    free(p.all);
    free(p.here);
    free(p.whole);
    free(p.options);
    return is;
}
