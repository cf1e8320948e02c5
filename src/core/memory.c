/* SPDX-License-Identifier: MIT */
/* Public calls on memories and buffers. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "memory/complete.h"
#include "memory/memory.h"

size_t spur_memory_count(void)
{
    size_t n = 0;

    while (memory_table[n])
        n++;
    return n;
}

const char *spur_memory_name(size_t index)
{
    return index < spur_memory_count() ? memory_table[index]->name : NULL;
}

const char *spur_memory_summary(size_t index)
{
    return index < spur_memory_count() ? memory_table[index]->summary : NULL;
}

/* "cuda:1" -> row, 1; "cuda" -> row, 0. */
static const struct memory_ops *find_memory(const char *name, unsigned *ret_index, struct spur_error *e)
{
    for (size_t i = 0; memory_table[i]; i++) {
        const struct memory_ops *row = memory_table[i];
        size_t n = strlen(row->name);
        unsigned long index;
        char *end;

        if (strncmp(name, row->name, n))
            continue;
        *ret_index = 0;
        if (!name[n])
            return row;
        if (!row->takes_index || name[n] != ':' || !isdigit((unsigned char)name[n + 1]))
            continue;
        errno = 0;
        index = strtoul(name + n + 1, &end, 10);
        *ret_index = index > UINT_MAX ? UINT_MAX : (unsigned)index; /* out of range all the same */
        if (!*end && !errno)
            return row;
    }
    error_spur(e, SPUR_CODE_USAGE, "memory", "no memory is named '%s'", name);
    error_remedy(e, "spur list shows the memories: pageable, pinned, cuda:N, emulated");
    return NULL;
}

int spur_memory_probe(const char *name, struct spur_error *ret_error)
{
    unsigned index;
    const struct memory_ops *row = find_memory(name, &index, ret_error);

    if (!row)
        return -EINVAL;
    return row->probe ? row->probe(index, ret_error) : 0;
}

int spur_memory_open(const char *name, struct spur_memory **ret_memory, struct spur_error *ret_error)
{
    struct spur_memory *m;
    unsigned index;
    const struct memory_ops *row = find_memory(name, &index, ret_error);
    int r;

    if (!row)
        return -EINVAL;
    m = calloc(1, sizeof(*m));
    if (!m || !(m->ops = memory_ops_complete(row))) {
        free(m);
        return error_errno(ret_error, ENOMEM, "calloc", "opening memory %s", name);
    }
    m->index = index;
    snprintf(m->name, sizeof(m->name), row->takes_index ? "%s:%u" : "%s", row->name, index);
    r = m->ops->open(m, ret_error);
    if (r < 0) {
        free((void *)m->ops);
        free(m);
        return r;
    }
    *ret_memory = m;
    return 0;
}

void spur_memory_close(struct spur_memory *memory)
{
    if (!memory)
        return;
    memory->ops->close(memory);
    free((void *)memory->ops);
    free(memory);
}

int spur_memory_describe(const struct spur_memory *memory, struct spur_memory_info *ret_info)
{
    struct spur_memory_info info = {
        .size = ret_info->size,
        .is_device = memory->ops->is_device,
        .is_emulated = memory->ops->is_emulated,
        .is_page_locked = memory->ops->is_page_locked,
        .numa_node = -1,
    };

    snprintf(info.name, sizeof(info.name), "%s", memory->name);
    memory->ops->describe(memory, &info);
    memcpy(ret_info, &info, info.size < sizeof(info) ? info.size : sizeof(info));
    return 0;
}

int spur_buffer_alloc(struct spur_memory *memory, size_t bytes, struct spur_buffer **ret_buffer,
                      struct spur_error *ret_error)
{
    struct spur_buffer *b;
    int r;

    if (!bytes)
        return error_spur(ret_error, SPUR_CODE_USAGE, "alloc", "a buffer needs at least one byte");
    b = calloc(1, sizeof(*b));
    if (!b)
        return error_errno(ret_error, ENOMEM, "calloc", "buffer of %zu bytes", bytes);
    b->memory = memory;
    b->bytes = bytes;
    r = memory->ops->alloc(memory, b, ret_error);
    if (r < 0) {
        free(b);
        return r;
    }
    *ret_buffer = b;
    return 0;
}

void spur_buffer_free(struct spur_buffer *buffer)
{
    if (!buffer)
        return;
    buffer->memory->ops->free(buffer);
    free(buffer);
}

int memory_check_range(const struct spur_buffer *b, uint64_t offset, size_t bytes, struct spur_error *e)
{
    if (offset <= b->bytes && bytes <= b->bytes - offset)
        return 0;
    return error_spur(e, SPUR_CODE_USAGE, "copy", "%zu bytes at %llu lie outside a buffer of %zu", bytes,
                      (unsigned long long)offset, b->bytes);
}

int spur_buffer_write(struct spur_buffer *buffer, uint64_t offset, const void *host, size_t bytes,
                      struct spur_error *ret_error)
{
    int r = memory_check_range(buffer, offset, bytes, ret_error);

    return r < 0 || !bytes ? r : buffer->memory->ops->copy_in(NULL, buffer, offset, host, bytes, ret_error);
}

int spur_buffer_read(struct spur_buffer *buffer, uint64_t offset, void *host, size_t bytes,
                     struct spur_error *ret_error)
{
    int r = memory_check_range(buffer, offset, bytes, ret_error);

    return r < 0 || !bytes ? r : buffer->memory->ops->copy_out(NULL, buffer, offset, host, bytes, ret_error);
}

uint64_t spur_buffer_address(const struct spur_buffer *buffer)
{
    return buffer->address;
}
