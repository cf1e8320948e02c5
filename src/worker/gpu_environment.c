/* SPDX-License-Identifier: MIT */
#include "worker/gpu_environment.h"

#include <stdio.h>

#include "driver/nvml.h"

static json_t *gpu_value(const struct nvml_value *v, json_t *nulls, const char *prefix, const char *key)
{
    char name[100];

    if (v->known)
        return json_integer((json_int_t)v->value);
    snprintf(name, sizeof(name), "%sgpu.%s", prefix, key);
    json_object_set_new(nulls, name, json_string(v->reason));
    return json_null();
}

json_t *gpu_environment_read(const char *uuid, json_t *nulls, const char *prefix)
{
    struct nvml_reading g;
    struct spur_error e = {0};
    struct nvml *nvml = NULL;
    json_t *gpu = NULL;

    if (nvml_open(&nvml, &e) == 0 && nvml_read(nvml, uuid, &g, &e) == 0) {
        gpu = json_pack("{s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "uuid", uuid, "sm_mhz",
                        gpu_value(&g.sm_mhz, nulls, prefix, "sm_mhz"), "memory_mhz",
                        gpu_value(&g.memory_mhz, nulls, prefix, "memory_mhz"), "throttle",
                        gpu_value(&g.throttle, nulls, prefix, "throttle"), "throttle_words", g.throttle_words,
                        "temperature_c", gpu_value(&g.temperature_c, nulls, prefix, "temperature_c"), "power_mw",
                        gpu_value(&g.power_mw, nulls, prefix, "power_mw"), "utilisation_percent",
                        gpu_value(&g.utilisation_percent, nulls, prefix, "utilisation_percent"));
    } else {
        char name[100];

        snprintf(name, sizeof(name), "%sgpu", prefix);
        json_object_set_new(nulls, name, json_string(e.detail));
    }
    nvml_close(nvml);
    return gpu ? gpu : json_null();
}
