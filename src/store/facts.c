/* SPDX-License-Identifier: MIT */
#include "store/facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In the order of STATEMENT_FACTS. */
enum part {
    PART_SECONDS, /* of the window */
    PART_THREADS,
    PART_DEPTH,
    PART_WORKERS,
    PART_ALLOWED,
    PART_ONLINE,
    PART_BUSY_BEFORE,
    PART_THROTTLED,
    PART_AGREES,
    PART_NETWORK,
    PART_RDMA,
    PART_ITEMS,
    PART_GPU_BEGIN,
    PART_GPU_END,
    PART_AGAINST,
    PART_LIBRARY,
};

/* NVML's reasons that are protection: HW slowdown, SW and HW thermal, HW power brake. Idle, application clocks and the
 * software's power cap are how a GPU runs. */
#define GPU_PROTECTION 0xe8

static double number_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double number(const json_t *object, const char *key)
{
    return number_of(json_object_get(object, key));
}

/* Facts of paths are text. */
static double text_number(const json_t *value)
{
    const char *text = json_string_value(value);
    char *end;
    double n;

    if (!text)
        return 0;
    n = strtod(text, &end);
    return end != text ? n : 0;
}

static double throttled_share(const json_t *throttled)
{
    double share = number(throttled, "throttled_periods") / number(throttled, "periods");

    return share > 0 ? share : 0;
}

static void take_links(const json_t *links, double seconds, struct store_facts *f)
{
    size_t i;
    json_t *link;

    json_array_foreach(links, i, link)
    {
        double bytes = fmax(number(link, "received_bytes"), number(link, "sent_bytes"));
        double share = 8 * bytes / seconds / number(link, "speed_bits_per_second");
        const char *name = json_string_value(json_object_get(link, "name"));

        if (!name || !isfinite(share) || !(isnan(f->link_share) || share > f->link_share))
            continue;
        f->link_share = share;
        snprintf(f->link, sizeof(f->link), "%s", name);
    }
}

/* The rates of several mounts add up; one without a limit, or not simulated, has none. */
static double set_rate(const json_t *items)
{
    double sum = 0;
    size_t i;
    json_t *item;

    json_array_foreach(items, i, item)
    {
        double rate = number(item, "rate_bytes_per_second");

        sum += rate > 0 ? rate : NAN;
    }
    return sum > 0 ? sum : NAN;
}

static bool is_slowed(const json_t *gpu)
{
    return json_is_integer(gpu) && (json_integer_value(gpu) & GPU_PROTECTION);
}

void facts_take(const json_t *extract, struct store_facts *ret)
{
    double seconds = number_of(json_array_get(extract, PART_SECONDS));

#define PART(which) json_array_get(extract, which)
    *ret = (struct store_facts){
        .threads = number_of(PART(PART_THREADS)),
        .depth = number_of(PART(PART_DEPTH)),
        .workers = text_number(PART(PART_WORKERS)),
        .allowed_cpus = number_of(PART(PART_ALLOWED)),
        .online_cpus = number_of(PART(PART_ONLINE)),
        .busy_before = number_of(PART(PART_BUSY_BEFORE)),
        .throttled_share = throttled_share(PART(PART_THROTTLED)),
        .gpu_slowed = is_slowed(PART(PART_GPU_BEGIN)) || is_slowed(PART(PART_GPU_END)),
        .samples_disagree = json_is_false(PART(PART_AGREES)),
        .foreign = strstr(json_string_value(PART(PART_AGAINST)) ?: "", "buffered reads") != NULL,
        .link_share = NAN,
        .set_rate = set_rate(PART(PART_ITEMS)),
    };
    snprintf(ret->library, sizeof(ret->library), "%s", json_string_value(PART(PART_LIBRARY)) ?: "");
    take_links(PART(PART_NETWORK), seconds, ret);
    take_links(PART(PART_RDMA), seconds, ret);
#undef PART
}
