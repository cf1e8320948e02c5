/* SPDX-License-Identifier: MIT */
/* What the GPUs' links carried, in the result. */
#include <stdio.h>

#include "worker/result_parts.h"

static json_t *mean_of(const struct gpu_mean *m, json_t *nulls, unsigned gpu, const char *key)
{
    char name[80];

    if (m->n >= GPU_SAMPLER_LEAST && !m->reason[0])
        return json_pack("{s:f, s:I, s:i}", "mean", m->mean, "max", (json_int_t)m->max, "samples", (int)m->n);
    snprintf(name, sizeof(name), "gpu_links[%u].%s", gpu, key);
    json_object_set_new(
        nulls, name,
        json_string(m->reason[0] ? m->reason : "the window was too short: fewer than 3 samples, at 2 a second"));
    return json_null();
}

json_t *result_gpu_links(const struct gpu_samples *s, json_t *nulls)
{
    json_t *list;

    if (!s->known) {
        json_object_set_new(nulls, "gpu_links", json_string(s->reason));
        return json_null();
    }
    list = json_array();
    for (unsigned i = 0; i < s->n_gpus; i++)
        json_array_append_new(
            list,
            json_pack("{s:s, s:o, s:o, s:o, s:s}", "uuid", s->gpus[i].uuid, "pcie_received_bytes_per_second",
                      mean_of(&s->gpus[i].received, nulls, i, "pcie_received_bytes_per_second"),
                      "pcie_sent_bytes_per_second", mean_of(&s->gpus[i].sent, nulls, i, "pcie_sent_bytes_per_second"),
                      "utilisation_percent", mean_of(&s->gpus[i].utilisation, nulls, i, "utilisation_percent"), "scope",
                      "the whole GPU's use during the window, sampled by NVML: the same on every road"));
    return list;
}
