/* SPDX-License-Identifier: MIT */
#include "worker/modified.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "core/util.h"
#include "worker/result_parts.h"

static bool look(const struct target *t, struct target_state *ret)
{
    struct statx x;

    if (t->is_block_device || statx(t->fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_MTIME | STATX_SIZE, &x) < 0 ||
        !(x.stx_mask & STATX_MTIME))
        return false;
    *ret = (struct target_state){true, x.stx_size, x.stx_mtime.tv_sec, x.stx_mtime.tv_nsec};
    return true;
}

void modified_look(struct target_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (!look(&list->items[i], &list->items[i].seen))
            list->items[i].seen.known = false;
}

void modified_compare(struct target_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        struct target *t = &list->items[i];
        struct target_state now;

        if (t->seen.known && look(t, &now))
            t->modified |= now.bytes != t->seen.bytes || now.s != t->seen.s || now.ns != t->seen.ns;
    }
}

void modified_blame(const struct target_list *list, struct spur_error *mismatch)
{
    for (size_t i = 0; mismatch->source && i < list->n; i++) {
        const struct target *t = &list->items[i];
        size_t n = strlen(t->filename);

        if (t->modified && !strncmp(mismatch->detail, t->filename, n) && mismatch->detail[n] == ':')
            error_remedy(mismatch, "another process changed this file during the trial, as its time of modification "
                                   "shows: let nothing else write it, and run the trial again");
    }
}

void modified_tell(const struct target_list *list, bool own_writes, json_t *result, json_t *nulls, json_t *notes)
{
    json_t *names = json_array();
    size_t n;

    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].modified)
            json_array_append_new(names, json_filename(list->items[i].filename));
    n = json_array_size(names);
    if (n)
        result_note(notes, "modified: another process changed %s%s during the trial: the figures are of both",
                    json_string_value(json_array_get(names, 0)), n > 1 ? " and others" : "");
    if (n || !own_writes) {
        json_object_set_new(result, "files_modified", names);
        return;
    }
    json_decref(names);
    result_null(result, nulls, "files_modified", "the trial ended before what it had written was on the storage");
}
