/* SPDX-License-Identifier: MIT */
#include "worker/plan_check.h"

#include <sched.h>
#include <string.h>

#include "core/error.h"
#include "worker/result.h"
#include "worker/trial_env.h"

/* A GPU's context lives as long as somebody has it open: kept over all checks, for making one takes long. */
static void keep_memory(const struct trial *t, struct spur_memory **kept)
{
    struct spur_error e;

    if (!*kept && t->memory_info.is_device && !t->memory_info.is_emulated)
        spur_memory_open(t->memory_info.name, kept, &e); /* of several GPUs the first */
}

/* A path of its own library is answered for before it is closed: what its library does then is no matter of opening. */
static json_t *send_early(struct wire *w, const struct job *job, json_t *answer)
{
    if (!trial_env_is_own(job))
        return answer;
    wire_send(w, answer);
    return NULL;
}

static json_t *check(struct wire *w, const json_t *message, struct spur_memory **kept)
{
    struct spur_error e = {0};
    struct trial trial;
    struct job job = {0};
    json_t *answer;

    if (job_from_json(message, &job) < 0) {
        error_spur(&e, SPUR_CODE_USAGE, "worker", "a check is no job of protocol %d", WORKER_PROTOCOL);
        return json_pack("{s:s, s:o}", "type", "error", "error", json_error(&e));
    }
    if (trial_open(&job, &trial, &e) < 0) {
        answer = json_pack("{s:s, s:o}", "type", "error", "error", json_error(&e));
    } else {
        keep_memory(&trial, kept);
        answer = json_pack("{s:s, s:o}", "type", "checked", "effective", result_effective(&trial));
    }
    answer = send_early(w, &job, answer);
    trial_close(&trial);
    job_free(&job);
    return answer;
}

bool plan_check_answer(struct wire *w, json_t **message)
{
    struct spur_memory *kept = NULL;
    cpu_set_t cpus;
    bool known = sched_getaffinity(0, sizeof(cpus), &cpus) == 0;

    while (*message && !strcmp(json_string_value(json_object_get(*message, "type")) ?: "", "check")) {
        json_t *answer = check(w, *message, &kept);

        if (known) /* a check may have bound the process */
            sched_setaffinity(0, sizeof(cpus), &cpus);
        json_decref(*message);
        *message = NULL;
        if ((answer && wire_send(w, answer) < 0) || wire_receive(w, true, message) < 0)
            *message = NULL;
    }
    spur_memory_close(kept);
    return !*message;
}
