/* SPDX-License-Identifier: MIT */
/* Why a package is installed: a search from it upwards, over requirements that are in force. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "which/dist.h"
#include "worker/job.h" /* json_filename */

#define MOST_CHAINS 8
#define MOST_DEPTH  16

/* A package on the way up: "torch requires the node @below". */
struct node {
    const struct dist *dist;
    const struct requirement *by; /* what it asks of the package below; NULL: the target */
    size_t below;
    char extra[PACKAGE_NAME]; /* the requirement is in force only with this extra of the package; "" */
    int depth;
    bool has_parent;
};

struct chains {
    const struct dists *d;
    struct marker_world world;
    struct node *nodes;
    size_t n, room;
};

static bool is_known(const struct chains *c, const struct dist *dist, const char *extra)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->nodes[i].dist == dist && !strcmp(c->nodes[i].extra, extra))
            return true;
    return false;
}

static void add(struct chains *c, const struct node *node)
{
    if (c->n == c->room || is_known(c, node->dist, node->extra))
        return;
    c->nodes[c->n++] = *node;
}

/* The extra with which @r is in force: "" for always. False: never here. */
static bool in_force(const struct chains *c, const struct requirement *r, char extra[PACKAGE_NAME])
{
    struct marker_world w = c->world;

    extra[0] = '\0';
    w.extra = extra;
    if (requirement_holds(r, &w))
        return true;
    for (size_t i = 0; requirement_extra(r, i, extra); i++)
        if (requirement_holds(r, &w))
            return true;
    return false;
}

/* A parent in force asks for node @at; and so for what that one asks for with an extra. */
static void mark(struct chains *c, size_t at)
{
    c->nodes[at].has_parent = true;
    while (c->nodes[at].extra[0]) {
        at = c->nodes[at].below;
        c->nodes[at].has_parent = true;
    }
}

/* Those that require the package of node @at, with the extra that it needs. */
static void climb(struct chains *c, size_t at)
{
    for (size_t i = 0; i < c->d->n; i++) {
        const struct dist *d = &c->d->items[i];

        for (size_t k = 0; k < d->n_requires; k++) {
            const struct node *below = &c->nodes[at];
            const struct requirement *r = &d->requires[k];
            struct node node = {.dist = d, .by = r, .below = at, .depth = below->depth + 1};

            if (strcmp(r->name, below->dist->normal) != 0 || d == below->dist || !in_force(c, r, node.extra) ||
                (below->extra[0] && !requirement_wants_extra(r, below->extra)))
                continue;
            if (!node.extra[0])
                mark(c, at);
            add(c, &node);
        }
    }
}

/* Of many extras only the one that leads on is named. */
static json_t *step(const struct node *node, const struct node *below)
{
    char asks[2 * PACKAGE_NAME + 8];
    bool extra = below->extra[0];

    snprintf(asks, sizeof(asks), "%s%s%s%s", extra ? "[" : "", below->extra, extra ? "]" : "", node->by->spec);
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:b}", "name", json_filename(node->dist->name), "version",
                     node->dist->version ? json_filename(node->dist->version) : json_null(), "needs",
                     json_filename(below->dist->normal), "as", json_filename(asks), "pinned",
                     requirement_is_pinned(node->by), "satisfied",
                     !below->dist->version || requirement_allows(node->by, below->dist->version));
}

static json_t *chain_of(const struct chains *c, size_t at)
{
    json_t *chain = json_array();

    for (size_t i = at; c->nodes[i].by; i = c->nodes[i].below)
        json_array_append_new(chain, step(&c->nodes[i], &c->nodes[c->nodes[i].below]));
    return chain;
}

/* A package that needs an extra which nobody asks for does not hold the target there. */
static bool is_top(const struct node *node)
{
    return node->by && !node->extra[0] && !node->has_parent;
}

/* In a cycle nobody is on top: then those that are nearest to the target. */
static bool is_shown(const struct chains *c, size_t i, bool any_top)
{
    return any_top ? is_top(&c->nodes[i]) : c->nodes[i].by && !c->nodes[i].extra[0] && c->nodes[i].depth == 1;
}

json_t *dists_chains(const struct dists *d, const struct dist *target, const char *python_version, const char *machine)
{
    struct chains c = {.d = d, .world = {.python_version = python_version, .machine = machine}, .room = 2 * d->n + 1};
    json_t *list = json_array();
    bool any_top = false;

    c.nodes = calloc(c.room, sizeof(*c.nodes));
    if (!c.nodes)
        return list;
    c.nodes[c.n++].dist = target;
    for (size_t i = 0; i < c.n && c.nodes[i].depth < MOST_DEPTH; i++)
        climb(&c, i);
    for (size_t i = 0; i < c.n; i++)
        any_top |= is_top(&c.nodes[i]);
    for (size_t i = 0; i < c.n && json_array_size(list) < MOST_CHAINS; i++)
        if (is_shown(&c, i, any_top))
            json_array_append_new(list, chain_of(&c, i));
    free(c.nodes);
    return list;
}
