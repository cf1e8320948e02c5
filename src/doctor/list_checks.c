/* SPDX-License-Identifier: MIT */
/* The table of checks as docs/doctor.md has it. */
#include "doctor/check.h"

void doctor_list_checks(FILE *out)
{
    fprintf(out, "| check | looks at | why | what to do |\n| --- | --- | --- | --- |\n");
    for (const struct check *c = check_table; c->name; c++)
        fprintf(out, "| `%s` | %s%s | %s | %s |\n", c->name, c->title, c->of_file ? " (of each file)" : "", c->why,
                c->remedy);
}
