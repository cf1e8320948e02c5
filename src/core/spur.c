/* SPDX-License-Identifier: MIT */
/* The public calls: they find the row, check what every path would have to check, and pass on. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "memory/memory.h"
#include "path/defaults.h"
#include "path/path.h"

#define DEFAULT_MAX_REQUEST (16u << 20)

const char *spur_version(void)
{
    return SPUR_VERSION;
}

const char *spur_observed_name(enum spur_observed observed)
{
    static const char *const names[] = {
        [SPUR_OBSERVED_UNKNOWN] = "unknown",     [SPUR_OBSERVED_HOST] = "host",
        [SPUR_OBSERVED_NVIDIA_FS] = "nvidia-fs", [SPUR_OBSERVED_P2PDMA] = "p2pdma",
        [SPUR_OBSERVED_USER_RDMA] = "user-rdma", [SPUR_OBSERVED_C2C] = "c2c",
        [SPUR_OBSERVED_COMPAT] = "compat",       [SPUR_OBSERVED_MIXED] = "mixed",
    };

    return (size_t)observed < ARRAY_SIZE(names) ? names[observed] : "unknown";
}

/* ------------------------------------------------------------------------------------------------
 * Tables
 */

size_t spur_path_count(void)
{
    size_t n = 0;

    while (path_table[n])
        n++;
    return n;
}

const char *spur_path_name(size_t index)
{
    return index < spur_path_count() ? path_table[index]->name : NULL;
}

const char *spur_path_summary(size_t index)
{
    return index < spur_path_count() ? path_table[index]->summary : NULL;
}

static const struct path_ops *find_path(const char *name, struct spur_error *e)
{
    for (size_t i = 0; path_table[i]; i++)
        if (!strcmp(path_table[i]->name, name))
            return path_table[i];
    error_spur(e, SPUR_CODE_USAGE, "path", "no path is named '%s'", name);
    error_remedy(e, "spur list shows the paths");
    return NULL;
}

const struct spur_setting *spur_path_setting(const char *name, size_t index)
{
    const struct path_ops *ops = find_path(name, NULL);

    if (!ops || !ops->settings)
        return NULL;
    for (size_t i = 0; ops->settings[i].name; i++)
        if (i == index)
            return &ops->settings[i];
    return NULL;
}

/* "env.*" is a pattern: it takes keys that begin like it and go on. */
static bool is_pattern(const char *name)
{
    size_t length = strlen(name);

    return length > 1 && name[length - 1] == '*';
}

static bool takes_key(const char *name, const char *key)
{
    size_t length = strlen(name);

    if (!is_pattern(name))
        return !strcmp(name, key);
    return !strncmp(name, key, length - 1) && key[length - 1];
}

const struct spur_setting *spur_path_setting_find(const char *name, const char *key)
{
    const struct spur_setting *s;

    for (size_t i = 0; (s = spur_path_setting(name, i)); i++)
        if (takes_key(s->name, key))
            return s;
    return NULL;
}

int spur_path_probe(const char *name, struct spur_error *ret_error)
{
    const struct path_ops *ops = find_path(name, ret_error);

    if (!ops)
        return -EINVAL;
    return ops->probe ? ops->probe(ret_error) : 0;
}

/* ------------------------------------------------------------------------------------------------
 * Path and file
 */

const char *path_setting(const struct spur_path *p, const char *key)
{
    for (size_t i = 0; i < p->n_settings; i++)
        if (!strcmp(p->settings[i].key, key))
            return p->settings[i].value;
    return "";
}

int64_t path_fail(struct spur_queue *q, const struct spur_error *e, int64_t code)
{
    q->error = *e;
    return code;
}

static void settings_free(struct spur_path *p)
{
    for (size_t i = 0; i < p->n_settings; i++) {
        free((char *)p->settings[i].key);
        free((char *)p->settings[i].value);
    }
    free(p->settings);
}

static int settings_add(struct spur_path *p, const char *key, const char *value)
{
    struct spur_key_value *grown = realloc(p->settings, (p->n_settings + 1) * sizeof(*grown));
    struct spur_key_value *kv;

    if (!grown)
        return -ENOMEM;
    p->settings = grown;
    kv = &grown[p->n_settings++];
    *kv = (struct spur_key_value){strdup(key), strdup(value)};
    return kv->key && kv->value ? 0 : -ENOMEM;
}

static int settings_defaults(struct spur_path *p)
{
    const struct spur_setting *row = p->ops->settings;
    int r = 0;

    for (; !r && row && row->name; row++)
        if (!is_pattern(row->name))
            r = settings_add(p, row->name, row->default_value);
    return r;
}

static int settings_apply(struct spur_path *p, const struct spur_key_value *kv, struct spur_error *e)
{
    for (size_t i = 0; i < p->n_settings; i++) {
        if (strcmp(p->settings[i].key, kv->key))
            continue;
        char *value = strdup(kv->value);

        if (!value)
            return error_errno(e, ENOMEM, "strdup", "setting %s", kv->key);
        free((char *)p->settings[i].value);
        p->settings[i].value = value;
        return 0;
    }
    if (spur_path_setting_find(p->ops->name, kv->key))
        return settings_add(p, kv->key, kv->value) ? error_errno(e, ENOMEM, "strdup", "setting %s", kv->key) : 0;
    error_spur(e, SPUR_CODE_USAGE, "set", "path %s has no setting '%s'", p->ops->name, kv->key);
    error_remedy(e, "spur list shows the settings of each path");
    return -EINVAL;
}

static void path_free(struct spur_path *p)
{
    settings_free(p);
    free(p->files);
    free(p->buffers);
    free((void *)p->ops);
    free(p);
}

int spur_path_open(const char *name, const struct spur_path_options *options, struct spur_path **ret_path,
                   struct spur_error *ret_error)
{
    const struct path_ops *row = find_path(name, ret_error);
    struct spur_path *p;
    int r;

    if (!row)
        return -EINVAL;
    p = calloc(1, sizeof(*p));
    if (!p || !(p->ops = path_ops_complete(row))) {
        free(p);
        return error_errno(ret_error, ENOMEM, "calloc", "opening path %s", name);
    }
    p->n_queues = options && options->n_queues ? options->n_queues : 1;
    p->max_request_bytes = options && options->max_request_bytes ? options->max_request_bytes : DEFAULT_MAX_REQUEST;
    r = settings_defaults(p);
    if (r < 0)
        error_errno(ret_error, -r, "calloc", "settings of path %s", name);
    for (size_t i = 0; !r && options && i < options->n_settings; i++)
        r = settings_apply(p, &options->settings[i], ret_error);
    if (!r)
        r = p->ops->open(p, ret_error);
    if (r < 0) {
        path_free(p);
        return r;
    }
    *ret_path = p;
    return 0;
}

void spur_path_close(struct spur_path *path)
{
    if (!path)
        return;
    path->ops->close(path);
    path_free(path);
}

/* Appends to a NULL-free array; 0 or -ENOMEM. */
static int append(void ***array, size_t *n, void *item)
{
    void **grown = realloc(*array, (*n + 1) * sizeof(void *));

    if (!grown)
        return -ENOMEM;
    grown[(*n)++] = item;
    *array = grown;
    return 0;
}

static void drop(void **array, size_t *n, const void *item)
{
    for (size_t i = 0; i < *n; i++) {
        if (array[i] != item)
            continue;
        memmove(&array[i], &array[i + 1], (*n - i - 1) * sizeof(void *));
        (*n)--;
        return;
    }
}

int spur_file_open(struct spur_path *path, const char *filename, unsigned flags, struct spur_file **ret_file,
                   struct spur_error *ret_error)
{
    struct spur_file *f = calloc(1, sizeof(*f));
    int r;

    if (!f || !(f->filename = strdup(filename))) {
        free(f);
        return error_errno(ret_error, ENOMEM, "calloc", "%s", filename);
    }
    f->path = path;
    f->flags = flags;
    f->index = (unsigned)path->n_files;
    f->fd = f->fd_buffered = -1;
    f->align = f->align_address = 1;
    r = path->ops->file_open(path, f, ret_error);
    if (!r && append((void ***)&path->files, &path->n_files, f) < 0) {
        path->ops->file_close(f);
        r = error_errno(ret_error, ENOMEM, "realloc", "%s", filename);
    }
    if (r < 0) {
        free(f->filename);
        free(f);
        return r;
    }
    *ret_file = f;
    return 0;
}

void spur_file_close(struct spur_file *file)
{
    if (!file)
        return;
    drop((void **)file->path->files, &file->path->n_files, file);
    file->path->ops->file_close(file);
    free(file->filename);
    free(file);
}

uint64_t spur_file_size(const struct spur_file *file)
{
    return file->bytes;
}

int spur_file_limits(const struct spur_file *file, struct spur_limits *ret_limits)
{
    struct spur_limits limits = {sizeof(limits), 1, 1, 1, 1};

    file->path->ops->limits(file, &limits);
    limits.size = ret_limits->size;
    memcpy(ret_limits, &limits, ret_limits->size < sizeof(limits) ? ret_limits->size : sizeof(limits));
    return 0;
}

int spur_buffer_attach(struct spur_path *path, struct spur_buffer *buffer, struct spur_error *ret_error)
{
    int r = path->ops->attach(path, buffer, ret_error);

    if (r < 0)
        return r;
    if (append((void ***)&path->buffers, &path->n_buffers, buffer) < 0) {
        path->ops->detach(path, buffer);
        return error_errno(ret_error, ENOMEM, "realloc", "attaching a buffer");
    }
    return 0;
}

void spur_buffer_detach(struct spur_path *path, struct spur_buffer *buffer)
{
    drop((void **)path->buffers, &path->n_buffers, buffer);
    path->ops->detach(path, buffer);
}

/* ------------------------------------------------------------------------------------------------
 * Queue
 */

int spur_queue_open(struct spur_path *path, struct spur_memory *memory, unsigned depth, struct spur_queue **ret_queue,
                    struct spur_error *ret_error)
{
    struct spur_queue *q;
    int r;

    for (size_t i = 0; i < path->n_files; i++) {
        struct spur_limits limits = {sizeof(limits), 1, 1, 1, 1};

        spur_file_limits(path->files[i], &limits);
        if (depth < 1 || depth > limits.max_depth)
            return error_spur(ret_error, SPUR_CODE_USAGE, "depth",
                              "path %s keeps at most %u request%s in flight, not %u", path->ops->name, limits.max_depth,
                              limits.max_depth == 1 ? "" : "s", depth);
    }
    r = memory->ops->thread_enter(memory, ret_error);
    if (r < 0)
        return r;
    q = calloc(1, sizeof(*q));
    if (!q)
        return error_errno(ret_error, ENOMEM, "calloc", "opening a queue");
    q->path = path;
    q->memory = memory;
    q->depth = depth;
    r = path_queue_core_open(q, ret_error);
    if (!r) {
        r = path->ops->queue_open(q, ret_error);
        if (r < 0)
            path_queue_core_close(q);
    }
    if (r < 0) {
        free(q);
        return r;
    }
    *ret_queue = q;
    return 0;
}

void spur_queue_close(struct spur_queue *queue)
{
    if (!queue)
        return;
    queue->path->ops->queue_close(queue);
    path_queue_core_close(queue);
    free(queue);
}

static bool segments_fit(const struct spur_request *r)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < r->n_segments; i++) {
        const struct spur_segment *s = &r->segments[i];

        if (!s->length || s->offset > s->buffer->bytes || s->length > s->buffer->bytes - s->offset)
            return false;
        sum += s->length;
    }
    return sum == r->length;
}

static int check_alignment(const struct spur_request *r, struct spur_error *e)
{
    struct spur_limits limits = {sizeof(limits), 1, 1, 1, 1};
    bool at_end = r->op == SPUR_OP_READ && r->offset + r->length >= r->file->bytes;

    r->file->path->ops->limits(r->file, &limits);
    if (r->offset % limits.offset_align)
        return error_spur(e, SPUR_CODE_USAGE, "submit", "%s: offset %llu is no multiple of %u", r->file->filename,
                          (unsigned long long)r->offset, limits.offset_align);
    if (r->length % limits.length_align && !at_end)
        return error_spur(e, SPUR_CODE_USAGE, "submit", "%s: length %llu is no multiple of %u", r->file->filename,
                          (unsigned long long)r->length, limits.length_align);
    if (!r->n_segments && r->buffer_offset % limits.address_align)
        return error_spur(e, SPUR_CODE_USAGE, "submit", "%s: buffer offset %llu is no multiple of %u",
                          r->file->filename, (unsigned long long)r->buffer_offset, limits.address_align);
    return 0;
}

static int check_request(const struct spur_request *r, struct spur_error *e)
{
    bool fits = r->n_segments ? segments_fit(r)
                              : r->buffer && r->buffer_offset <= r->buffer->bytes &&
                                    r->length <= r->buffer->bytes - r->buffer_offset;

    if (!r->length || !fits || r->length > r->file->path->max_request_bytes)
        return error_spur(e, SPUR_CODE_USAGE, "submit", "%s: request of %llu bytes does not fit its buffer or the path",
                          r->file->filename, (unsigned long long)r->length);
    if (r->op == SPUR_OP_WRITE && !(r->file->flags & SPUR_FILE_WRITE))
        return error_spur(e, SPUR_CODE_USAGE, "submit", "%s: opened for reading", r->file->filename);
    /* One test covers the aligned case: paths that need no alignment have align 1. */
    if (__builtin_expect((r->offset | r->length | r->buffer_offset) & 511u, 0) || r->file->align > 512)
        return check_alignment(r, e);
    return 0;
}

int spur_queue_submit(struct spur_queue *queue, const struct spur_request *requests, unsigned n,
                      struct spur_error *ret_error)
{
    unsigned room = queue->depth - queue->in_flight;
    int r = 0;

    if (!room)
        return -EAGAIN;
    if (n > room)
        n = room;
    for (unsigned i = 0; i < n; i++) {
        r = check_request(&requests[i], ret_error);
        if (r < 0) {
            n = i;
            break;
        }
    }
    if (!n)
        return r;
    r = queue->path->ops->submit(queue, requests, n, ret_error);
    if (r > 0)
        queue->in_flight += (unsigned)r;
    return r;
}

int spur_queue_reap(struct spur_queue *queue, struct spur_completion *ret_completions, unsigned max, unsigned min,
                    struct spur_error *ret_error)
{
    int r;

    if (min > queue->in_flight)
        min = queue->in_flight;
    if (min > max)
        min = max;
    if (!queue->in_flight || !max)
        return 0;
    r = queue->path->ops->reap(queue, ret_completions, max, min, ret_error);
    if (r > 0)
        queue->in_flight -= (unsigned)r;
    return r;
}

int64_t spur_queue_transfer(struct spur_queue *queue, const struct spur_request *request, struct spur_error *ret_error)
{
    int r;

    if (queue->in_flight)
        return -EBUSY;
    r = check_request(request, ret_error);
    if (r < 0)
        return r;
    if (__builtin_expect(request->n_segments, 0))
        return path_split_transfer(queue, request, ret_error);
    return queue->path->ops->transfer(queue, request, ret_error);
}

const struct spur_error *spur_queue_error(const struct spur_queue *queue)
{
    return &queue->error;
}
