/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "core/error.h"
#include "doctor/doctor.h"
int doctor_record(const struct doctor_request *r, const char *dir, struct spur_error *e)
{
    (void)r;
    return error_errno(e, ENOSYS, "record", "%s", dir);
}
