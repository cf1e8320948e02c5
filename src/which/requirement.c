/* SPDX-License-Identifier: MIT */
#include "which/requirement.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS    " \t\r\n"
#define MOST_DEEP 32

void package_normalise(const char *text, size_t length, char ret[PACKAGE_NAME])
{
    size_t n = 0;

    for (size_t i = 0; i < length && n + 1 < PACKAGE_NAME; i++) {
        bool dash = text[i] == '-' || text[i] == '_' || text[i] == '.';

        if (!dash)
            ret[n++] = (char)tolower((unsigned char)text[i]);
        else if (n && ret[n - 1] != '-')
            ret[n++] = '-';
    }
    ret[n] = '\0';
}

static size_t name_length(const char *p)
{
    size_t n = 0;

    while (isalnum((unsigned char)p[n]) || (p[n] && strchr("-_.", p[n])))
        n++;
    return n;
}

/* "[a, b]" at *p, if there is one. */
static void parse_extras(const char **p, struct requirement *r)
{
    size_t n = 0;

    if (**p != '[')
        return;
    (*p)++;
    while (**p && **p != ']') {
        char name[PACKAGE_NAME];
        size_t length;

        *p += strspn(*p, BLANKS ",");
        length = name_length(*p);
        if (!length)
            break;
        package_normalise(*p, length, name);
        if (n + strlen(name) + 3 < sizeof(r->extras))
            n += (size_t)snprintf(r->extras + n, sizeof(r->extras) - n, "%s%s,", n ? "" : ",", name);
        *p += length;
    }
    *p += strcspn(*p, "];");
    *p += **p == ']';
}

bool requirement_parse(const char *text, struct requirement *ret)
{
    const char *p = text + strspn(text, BLANKS), *end;
    size_t length = name_length(p), n = 0;

    memset(ret, 0, sizeof(*ret));
    if (!length)
        return false;
    package_normalise(p, length, ret->name);
    p += length;
    p += strspn(p, BLANKS);
    parse_extras(&p, ret);
    end = p + strcspn(p, ";");
    for (; p < end; p++)
        if (!strchr(BLANKS "()", *p) && n + 1 < sizeof(ret->spec))
            ret->spec[n++] = *p;
    if (*end == ';')
        snprintf(ret->marker, sizeof(ret->marker), "%s", end + 1 + strspn(end + 1, BLANKS));
    return true;
}

bool requirement_wants_extra(const struct requirement *r, const char *extra)
{
    char wanted[PACKAGE_NAME + 3];

    snprintf(wanted, sizeof(wanted), ",%s,", extra);
    return strstr(r->extras, wanted) != NULL;
}

bool requirement_is_pinned(const struct requirement *r)
{
    return !strncmp(r->spec, "==", 2) && !strchr(r->spec, ',');
}

bool requirement_allows(const struct requirement *r, const char *version)
{
    const char *wanted = r->spec + 2 + (r->spec[0] && r->spec[1] && r->spec[2] == '=');
    size_t n = strlen(wanted);

    if (!requirement_is_pinned(r))
        return true;
    if (n < 2 || strcmp(wanted + n - 2, ".*") != 0)
        return !strcmp(wanted, version);
    return !strncmp(wanted, version, n - 2) && (version[n - 2] == '\0' || version[n - 2] == '.');
}

/* ------------------------------------------------------------------------------------------------
 * Markers
 */

struct marker {
    const char *p;
    const struct marker_world *w;
    int depth;
    bool failed; /* not understood */
};

static void blanks(struct marker *m)
{
    m->p += strspn(m->p, BLANKS);
}

static bool word(struct marker *m, const char *w)
{
    size_t n = strlen(w);

    blanks(m);
    if (strncmp(m->p, w, n) || isalnum((unsigned char)m->p[n]) || m->p[n] == '_')
        return false;
    m->p += n;
    return true;
}

/* What a variable is here; NULL: anything (comparisons with it are true). */
static const char *value_of(const struct marker *m, const char *name)
{
    const struct {
        const char *name, *value;
    } table[] = {
        {"extra", m->w->extra},
        {"platform_system", "Linux"},
        {"sys_platform", "linux"},
        {"os_name", "posix"},
        {"platform_machine", m->w->machine},
        {"platform_python_implementation", "CPython"},
        {"implementation_name", "cpython"},
        {"python_version", m->w->python_version},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (!strcmp(table[i].name, name))
            return table[i].value;
    return NULL;
}

struct operand {
    char text[PACKAGE_NAME];
    bool known, is_version, is_extra;
};

static void operand(struct marker *m, struct operand *o)
{
    size_t n;

    memset(o, 0, sizeof(*o));
    blanks(m);
    if (*m->p == '"' || *m->p == '\'') {
        char end[2] = {*m->p++, 0};

        n = strcspn(m->p, end);
        snprintf(o->text, sizeof(o->text), "%.*s", (int)(n < PACKAGE_NAME ? n : PACKAGE_NAME - 1), m->p);
        m->failed |= m->p[n] == '\0';
        m->p += n + (m->p[n] != '\0');
        o->known = true;
        return;
    }
    n = name_length(m->p);
    m->failed |= n == 0;
    snprintf(o->text, sizeof(o->text), "%.*s", (int)(n < PACKAGE_NAME ? n : PACKAGE_NAME - 1), m->p);
    m->p += n;
    o->is_version = !strcmp(o->text, "python_version");
    o->is_extra = !strcmp(o->text, "extra");
    o->known = value_of(m, o->text) != NULL;
    snprintf(o->text, sizeof(o->text), "%s", value_of(m, o->text) ?: "");
}

static int compare_versions(const char *a, const char *b)
{
    int x[3] = {0}, y[3] = {0};

    sscanf(a, "%d.%d.%d", &x[0], &x[1], &x[2]);
    sscanf(b, "%d.%d.%d", &y[0], &y[1], &y[2]);
    for (int i = 0; i < 3; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static bool judge(const struct operand *a, const char *op, const struct operand *b)
{
    char left[PACKAGE_NAME], right[PACKAGE_NAME];
    int order;

    if (!a->known || !b->known)
        return true;
    strcpy(left, a->text);
    strcpy(right, b->text);
    if (a->is_extra || b->is_extra) {
        package_normalise(a->text, strlen(a->text), left);
        package_normalise(b->text, strlen(b->text), right);
    }
    if (!strcmp(op, "in") || !strcmp(op, "not in"))
        return (strstr(right, left) != NULL) == (op[0] == 'i');
    order = a->is_version || b->is_version ? compare_versions(left, right) : strcmp(left, right);
    if (op[0] == '=' || op[0] == '~')
        return order == 0 || (op[0] == '~' && order > 0);
    if (op[0] == '!')
        return order != 0;
    return op[0] == '<' ? order < (op[1] == '=') : order > -(op[1] == '=');
}

static bool comparison(struct marker *m)
{
    struct operand a, b;
    char op[8] = "";

    operand(m, &a);
    if (word(m, "in")) {
        strcpy(op, "in");
    } else if (word(m, "not")) {
        m->failed |= !word(m, "in");
        strcpy(op, "not in");
    } else {
        size_t n = strspn(m->p, "=!<>~");

        m->failed |= n == 0 || n > 3;
        snprintf(op, sizeof(op), "%.*s", (int)(n < 4 ? n : 3), m->p);
        m->p += n;
    }
    operand(m, &b);
    return judge(&a, op, &b);
}

static bool disjunction(struct marker *m);

static bool atom(struct marker *m)
{
    bool holds;

    blanks(m);
    if (*m->p != '(')
        return comparison(m);
    if (++m->depth > MOST_DEEP) {
        m->failed = true;
        return true;
    }
    m->p++;
    holds = disjunction(m);
    blanks(m);
    m->failed |= *m->p != ')';
    m->p += *m->p == ')';
    m->depth--;
    return holds;
}

static bool conjunction(struct marker *m)
{
    bool holds = atom(m);

    while (!m->failed && word(m, "and"))
        holds &= atom(m);
    return holds;
}

static bool disjunction(struct marker *m)
{
    bool holds = conjunction(m);

    while (!m->failed && word(m, "or"))
        holds |= conjunction(m);
    return holds;
}

bool requirement_holds(const struct requirement *r, const struct marker_world *w)
{
    struct marker m = {.p = r->marker, .w = w};
    bool holds;

    if (!r->marker[0])
        return true;
    holds = disjunction(&m);
    return holds || m.failed;
}

bool requirement_extra(const struct requirement *r, size_t index, char ret[PACKAGE_NAME])
{
    const char *p = r->marker;

    while ((p = strstr(p, "extra"))) {
        size_t n;

        p += strlen("extra");
        p += strspn(p, BLANKS "=");
        if (*p != '"' && *p != '\'')
            continue;
        p++;
        n = name_length(p);
        if (index-- == 0) {
            package_normalise(p, n, ret);
            return true;
        }
    }
    return false;
}
