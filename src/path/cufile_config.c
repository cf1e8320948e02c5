/* SPDX-License-Identifier: MIT */
/*
 * cuFile takes its configuration from parameters that are set before the driver is opened, else from the environment,
 * else from cufile.json; the first use in a process fixes all of it. So everything here happens before that.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "path/cufile_path.h"

#define PARAMETER_USE_POLL_MODE     0
#define PARAMETER_ALLOW_COMPAT_MODE 1
#define PARAMETER_FORCE_COMPAT_MODE 2
#define STATISTICS_LEVEL            3

const struct spur_setting cufile_settings[] = {CUFILE_SETTINGS, {0}};

static int bad_value(const struct spur_path *p, const char *key, const char *range, struct spur_error *e)
{
    error_spur(e, SPUR_CODE_USAGE, "set", "%s=%s: not one of %s", key, path_setting(p, key), range);
    return -EINVAL;
}

static int parse_flag(const struct spur_path *p, const char *key, bool *ret, struct spur_error *e)
{
    const char *value = path_setting(p, key);

    *ret = !strcmp(value, "yes");
    return *ret || !strcmp(value, "no") ? 0 : bad_value(p, key, "yes, no", e);
}

static int parse(struct spur_path *p, struct spur_error *e)
{
    static const char *const routes[] = {"direct", "any", "compat"};
    struct cufile_path_state *s = p->state;
    bool unused;
    int r;

    for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
        if (strcmp(path_setting(p, "route"), routes[i]))
            continue;
        s->route = (enum cufile_route)i;
        r = parse_flag(p, "register", &s->registers, e);
        if (!r)
            r = parse_flag(p, "stats", &s->counts, e);
        return r ? r : parse_flag(p, "poll", &unused, e);
    }
    return bad_value(p, "route", "direct, any, compat", e);
}

static int set_variable(const char *name, const char *value, struct spur_error *e)
{
    return setenv(name, value, 1) < 0 ? error_errno(e, errno, "setenv", "%s", name) : 0;
}

/* Keys of cufile.json become a file of the trial's own; that is the worker's work, which tells so. */
static int check_json(const struct spur_path *p, struct spur_error *e)
{
    const char *composed = getenv("SPUR_CUFILE_JSON");

    for (size_t i = 0; !composed && i < p->n_settings; i++)
        if (!strncmp(p->settings[i].key, "json.", 5)) {
            error_spur(e, SPUR_CODE_USAGE, "set",
                       "%s: keys of cufile.json can be set by spur run and spur compare only", p->settings[i].key);
            error_remedy(e, "write a cufile.json of your own and name it with json=FILE");
            return -EINVAL;
        }
    if (composed)
        return set_variable("CUFILE_ENV_PATH_JSON", composed, e);
    return strcmp(path_setting(p, "json"), "auto") ? set_variable("CUFILE_ENV_PATH_JSON", path_setting(p, "json"), e)
                                                   : 0;
}

static int set_environment(const struct spur_path *p, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; !r && i < p->n_settings; i++)
        if (!strncmp(p->settings[i].key, "env.", 4))
            r = set_variable(p->settings[i].key + 4, p->settings[i].value, e);
    return r;
}

/* The pilot of route=direct: whatever the configuration says, compatibility mode is forbidden. */
static bool is_pilot(void)
{
    const char *value = getenv("SPUR_CUFILE_PILOT");

    return value && !strcmp(value, "1");
}

int cufile_configure_environment(struct spur_path *p, struct spur_error *e)
{
    struct cufile_path_state *s = p->state;
    int r = parse(p, e);

    if (!r)
        r = set_environment(p, e);
    if (!r)
        r = check_json(p, e); /* a file that is named wins over env.CUFILE_ENV_PATH_JSON */
    if (!r && is_pilot())
        r = set_variable("CUFILE_ALLOW_COMPAT_MODE", "false", e);
    if (!r && s->route == CUFILE_ROUTE_COMPAT) {
        r = set_variable("CUFILE_FORCE_COMPAT_MODE", "true", e);
        if (!r)
            r = set_variable("CUFILE_ALLOW_COMPAT_MODE", "true", e);
    }
    return r;
}

/* Parameters go before the environment, so a library that has them is told by them too. */
static int set_flag(const struct cufile *lib, int parameter, bool value, const char *name, struct spur_error *e)
{
    CUfileError_t status;

    if (!lib->cuFileSetParameterBool)
        return 0;
    status = lib->cuFileSetParameterBool(parameter, value);
    return status.err ? cufile_error(e, status, "cuFileSetParameterBool", "%s", name) : 0;
}

static int set_modes(const struct cufile_path_state *s, struct spur_error *e)
{
    int r = 0;

    if (is_pilot()) {
        r = set_flag(s->lib, PARAMETER_FORCE_COMPAT_MODE, false, "force_compat_mode", e);
        return r ? r : set_flag(s->lib, PARAMETER_ALLOW_COMPAT_MODE, false, "allow_compat_mode", e);
    }
    if (s->route != CUFILE_ROUTE_COMPAT)
        return 0;
    r = set_flag(s->lib, PARAMETER_ALLOW_COMPAT_MODE, true, "allow_compat_mode", e);
    return r ? r : set_flag(s->lib, PARAMETER_FORCE_COMPAT_MODE, true, "force_compat_mode", e);
}

static int set_polling(const struct spur_path *p, struct spur_error *e)
{
    const struct cufile_path_state *s = p->state;

    if (strcmp(path_setting(p, "poll"), "yes"))
        return 0;
    if (!s->lib->cuFileSetParameterBool)
        return 0; /* by cuFileDriverSetPollMode, once the driver is open */
    return set_flag(s->lib, PARAMETER_USE_POLL_MODE, true, "use_poll_mode", e);
}

int cufile_configure_library(struct spur_path *p, struct spur_error *e)
{
    struct cufile_path_state *s = p->state;
    struct spur_error why = {0};
    int r = set_modes(s, e);

    if (!r)
        r = set_polling(p, e);
    if (r < 0)
        return r;
    if (!s->counts) {
        snprintf(s->no_counts, sizeof(s->no_counts), "they were not asked for (stats=no)");
    } else if (cufile_stats_set_level(s->lib, STATISTICS_LEVEL, &why) < 0) {
        s->counts = false;
        snprintf(s->no_counts, sizeof(s->no_counts), "%s", why.detail);
    }
    return 0;
}
