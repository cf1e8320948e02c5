/* SPDX-License-Identifier: MIT */
#include "which/closure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"

const struct closure_item *closure_by_file(const struct closure *c, const char *real)
{
    for (size_t i = 0; i < c->n_items; i++)
        if (!strcmp(c->items[i]->object.file, real))
            return c->items[i];
    return NULL;
}

const struct closure_item *closure_by_name(const struct closure *c, const char *name)
{
    for (size_t i = 0; i < c->n_items; i++) {
        const struct closure_item *item = c->items[i];

        if (!strcmp(item->name, name) || (item->object.elf.soname && !strcmp(item->object.elf.soname, name)))
            return item;
    }
    return NULL;
}

/* Takes an object in; its file is found. NULL: no room, no memory, or it cannot be read. */
static struct closure_item *take(struct closure *c, const struct loader *l, const struct found *f, char *reason)
{
    _cleanup_fd_ int fd = tree_open_file(l->tree, f->real, NULL);
    struct closure_item *item = calloc(1, sizeof(*item));

    snprintf(reason, ELF_REASON, "%s", fd < 0 ? strerrordesc_np(-fd) : "no memory");
    if (!item || fd < 0 || c->n_items == CLOSURE_MAX || elf_read(fd, &item->object.elf, reason) < 0) {
        free(item);
        return NULL;
    }
    strcpy(item->object.file, f->real);
    /* The program's own $ORIGIN comes from /proc/self/exe. */
    if (c->n_items && f->file[0] == '/')
        strcpy(item->object.opened, f->file);
    else if (c->n_items)
        tree_join(item->object.opened, l->tree->cwd, f->file);
    item->found = *f;
    c->items[c->n_items++] = item;
    return item;
}

static void miss(struct closure *c, const char *name, size_t asked_by)
{
    for (size_t i = 0; i < c->n_missing; i++)
        if (!strcmp(c->missing[i].name, name))
            return;
    if (c->n_missing == CLOSURE_MAX)
        return;
    snprintf(c->missing[c->n_missing].name, sizeof(c->missing[0].name), "%s", name);
    c->missing[c->n_missing++].asked_by = asked_by;
}

static void add(struct closure *c, const struct loader *l, size_t asked_by, const char *name, bool preload)
{
    const struct closure_item *asks = c->items[asked_by];
    struct found *found;
    struct closure_item *item;
    char reason[ELF_REASON];

    if (closure_by_name(c, name))
        return;
    if (c->n_items == CLOSURE_MAX) {
        c->cut = true;
        return;
    }
    found = calloc(FOUND_MAX, sizeof(*found));
    if (!found || !loader_find(l, &asks->object, &c->items[0]->object, name, found)) {
        miss(c, name, asked_by);
    } else if (!closure_by_file(c, found[0].real)) {
        item = take(c, l, &found[0], reason);
        if (item) {
            snprintf(item->name, sizeof(item->name), "%s", name);
            item->object.parent = &asks->object;
            item->asked_by = asked_by;
            item->found.by = preload ? BY_PRELOAD : item->found.by;
        } else {
            miss(c, name, asked_by);
        }
    }
    free(found);
}

static void add_preloads(struct closure *c, const struct loader *l, const char *preload)
{
    while (preload && *preload) {
        size_t n = strcspn(preload, " :");
        char name[PATH_MAX];

        if (n && n < sizeof(name)) {
            memcpy(name, preload, n);
            name[n] = '\0';
            add(c, l, 0, name, true);
        }
        preload += n + (preload[n] != '\0');
    }
}

int closure_make(const struct loader *l, const char *file, const char *preload, struct closure *ret,
                 struct spur_error *e)
{
    struct found f = {.by = BY_PATH};
    char reason[ELF_REASON];
    int r = tree_resolve(l->tree, file, f.real);

    memset(ret, 0, sizeof(*ret));
    if (r < 0)
        return error_errno(e, -r, "open", "%s%s", l->tree->root, file);
    ret->items = calloc(CLOSURE_MAX, sizeof(struct closure_item *));
    ret->missing = calloc(CLOSURE_MAX, sizeof(*ret->missing));
    snprintf(f.file, sizeof(f.file), "%s", file);
    if (!ret->items || !ret->missing || !take(ret, l, &f, reason)) {
        closure_free(ret);
        error_spur(e, SPUR_CODE_NONE, "read", "%s%s: %s", l->tree->root, file, reason);
        return -EBADMSG;
    }
    add_preloads(ret, l, preload);
    for (size_t i = 0; i < ret->n_items; i++)
        for (size_t k = 0; k < ret->items[i]->object.elf.n_needed; k++)
            add(ret, l, i, ret->items[i]->object.elf.needed[k], false);
    return 0;
}

void closure_free(struct closure *c)
{
    for (size_t i = 0; i < c->n_items; i++) {
        elf_free(&c->items[i]->object.elf);
        free(c->items[i]);
    }
    free(c->items);
    free(c->missing);
    memset(c, 0, sizeof(*c));
}
