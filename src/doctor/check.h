/* SPDX-License-Identifier: MIT */
/* What checks are made of and what they see. Private to the doctor. */
#ifndef SPUR_DOCTOR_CHECK_H
#define SPUR_DOCTOR_CHECK_H

#include "core/util.h"
#include "doctor/doctor.h"
#include "probe/probe.h"

enum severity {
    SEVERITY_FAIL,    /* it keeps cuFile, or all reading, from working */
    SEVERITY_WARN,    /* it keeps the direct road away, or makes it slow */
    SEVERITY_NOTE,    /* worth knowing */
    SEVERITY_UNKNOWN, /* could not be looked at */
    SEVERITY_PASS,
};
const char *severity_name(enum severity s);

/* What checks conclude, for the verdict. A NO stands against any YES; the first reason of each is kept. */
enum answer { ANSWER_UNKNOWN, ANSWER_NO, ANSWER_YES };
struct conclusion {
    enum answer is;
    char why[240];
};
void conclude(struct conclusion *c, enum answer is, const char *why, ...) __attribute__((format(printf, 3, 4)));

#define DOCTOR_MAX_PCI     64
#define DOCTOR_PROBE_LEAST 4096 /* bytes of a file that is probed */

struct doctor_file {
    const char *name; /* as given */
    json_t *facts;    /* of live_file.c or of the recording; NULL: none */
    json_t *seen;     /* check -> facts */
    bool is_directory, has_device;
    dev_t device;
    struct probe_mount mount;
    struct probe_block block;
    json_t *probe; /* of cuFile; NULL: none */
    struct conclusion readable;
    struct conclusion nvfs, p2pdma, user_rdma; /* roads that its file system and disks can have */
    struct conclusion registers;               /* whether cuFile takes the file at all */
    struct conclusion unseen;                  /* NO: what a direct road stands on could not be looked at, and why */
};

struct doctor {
    struct probe p;
    bool recorded, no_probe;
    json_t *live;     /* what no file below the root says: see live.c */
    json_t *seen;     /* check -> facts */
    json_t *findings; /* array */
    json_t *config;   /* cufile.json, parsed; NULL: there is none, or it is damaged */
    char kernel[128];
    struct doctor_file *files;
    size_t n_files;
    struct conclusion gpu, library, settings, nvfs, p2pdma, compat, forced_compat;
    int library_major, library_minor; /* -1: unknown */
    char library_text[96];            /* "cuFile 1.15.1.6" */

    const struct check *check; /* that runs now */
    struct doctor_file *file;  /* that it looks at; NULL: at the machine */
};

struct check {
    const char *name;
    const char *title; /* what it looks at, no full stop */
    const char *why;   /* why it matters; a sentence */
    const char *remedy;
    bool of_file; /* run once for each file */
    void (*run)(struct doctor *d);
};

/* Rows, in the order in which they run: verdicts of earlier ones may be used by later ones. Ended by a NULL name. */
extern const struct check check_table[];

/* ---- what a check says; each at least one thing */

/* @where: file:line, a path, or a device. Returns the finding, borrowed, for remedy(). */
json_t *say(struct doctor *d, enum severity severity, const char *where, const char *found, ...)
    __attribute__((format(printf, 4, 5)));
/* Instead of the row's own remedy; a command where there is one. */
void remedy(json_t *finding, const char *text, ...) __attribute__((format(printf, 2, 3)));
/* The same, of two parts around a name, which is quoted for a shell. */
void remedy_of(json_t *finding, const char *before, const char *name, const char *after);
/* Steals @value; NULL is stored as null. */
void fact(struct doctor *d, const char *key, json_t *value);
void fact_text(struct doctor *d, const char *key, const char *text);
void fact_number(struct doctor *d, const char *key, uint64_t value);

/* ---- how it looks, below the root; all take printf-like paths */

/* First line without trailing blanks, to be freed, or NULL (errno of a missing file is not told: see look_text). */
char *look_line(const struct doctor *d, const char *path, ...) __attribute__((format(printf, 2, 3)));
/* Whole text, to be freed, or NULL with the reason. */
char *look_text(const struct doctor *d, char *reason, const char *path, ...) __attribute__((format(printf, 3, 4)));
bool look_u64(const struct doctor *d, uint64_t *ret, const char *path, ...) __attribute__((format(printf, 3, 4)));
bool look_exists(const struct doctor *d, const char *path, ...) __attribute__((format(printf, 2, 3)));
/* Names in a folder, sorted, without those that begin with a dot; empty where there is none. New reference. */
json_t *look_names(const struct doctor *d, const char *path, ...) __attribute__((format(printf, 2, 3)));
/* Where a link leads, seen from the root, to be freed; NULL: nowhere, or out of the root. */
char *look_link(const struct doctor *d, const char *path, ...) __attribute__((format(printf, 2, 3)));

/* Value of the option KEY=VALUE in a list by commas. False if there is none or it does not fit. */
bool option_value(const char *options, const char *key, char *ret, size_t size);
/* Both numbers of "6.17.0-35"; 0 where there are none. */
void kernel_numbers(const char *release, unsigned *major, unsigned *minor);

/* A member of d->live by dotted path; NULL: not there. */
const json_t *live_get(const struct doctor *d, const char *dotted);
const char *live_text(const struct doctor *d, const char *dotted);

/* ---- gathering */

int doctor_gather(struct doctor *d, const struct doctor_request *r, struct spur_error *e);
void doctor_free(struct doctor *d);

/* A child process that makes JSON, for what may crash or hang. */
struct child {
    pid_t pid;
    int fd;
};
int child_start(struct child *c, json_t *(*make)(void *context), void *context, struct spur_error *e);
/* Its JSON, a new reference; else -errno: ETIMEDOUT (it was killed), or it crashed. @began_ns: of now_ns. */
int child_finish(struct child *c, uint64_t deadline_ns, json_t **ret, struct spur_error *e);

/* live.c: what the process itself must be asked. Members: machine, uid, env, devices, io_uring, library, cuda, acs. */
json_t *live_gather(const struct doctor *d);
/* recording.c: d->p.root and d->live of the recorded machine @root. Usage error: facts.json is damaged, or of another
 * version; a folder without it is a machine of which little is known. */
int recording_open(struct doctor *d, const char *root, struct spur_error *e);
/* live_file.c: a file as a child sees it. Context: its name. */
json_t *live_file(void *name);
/* pci.c */
json_t *live_acs(void);
/* live_library.c: the cuFile that would be loaded, by its file; nothing of it is run. In a child: a folder may hang. */
json_t *live_library(void *context);
/* Whether the file says all; else live_library_loaded does, by loading it. In a child: it may crash. */
bool live_library_is_told(const json_t *at_rest);
json_t *live_library_loaded(void *context);

/* cufile_probe.c: reads of the file through cuFile in workers; fills file->probe. */
void cufile_probe(struct doctor_file *f);

/* verdict.c: {road, basis, reason, works} of a file; NULL: of the machine. New reference. */
json_t *verdict(const struct doctor *d, const struct doctor_file *f);

/* mount.c, of the file that is looked at. An option of its mount or super block; says "not of this kind" unless @mine.
 */
bool file_is_type(const struct doctor *d, const char *type);
bool file_option(const struct doctor *d, const char *key, char *ret, size_t size);
bool file_is_not_mine(struct doctor *d, bool mine);
/* On a mount of spur simfs. */
bool file_is_simulated(const struct doctor_file *f);

/* remount.c. "mount -o OPTIONS SOURCE POINT": @wanted ("proto=rdma,port=20049") and what else is in force. Quoted for a
 * shell, to be freed; NULL: no memory. */
char *mount_command(const struct probe_mount *m, const char *wanted);
/* The same for the file's mount, behind an umount of all places of its file system, and @between ("" or "COMMAND && ").
 * *ret, to be freed: the command; of REMOUNT_UNSEEN the folder of it that is mounted here, or NULL. */
enum remount {
    REMOUNT_COMMAND,
    REMOUNT_ROOT /* it is the root */,
    REMOUNT_UNSEEN /* the whole is mounted elsewhere */
};
enum remount remount_command(const struct doctor *d, const char *wanted, const char *between, char **ret);

/* pci.c */
/* Path of the device in /sys/devices seen from the root, to be freed; NULL. @address: "0000:18:00.0". */
char *pci_path(const struct doctor *d, const char *address);
/* The last PCI address in a path, "0000:18:00.0"; false: none. */
bool pci_address_of(const char *path, char ret[16]);
/* Addresses of GPUs of NVIDIA (class 03, vendor 10de). New reference. */
json_t *pci_gpus(const struct doctor *d);

/* cufile_json.c */
/* A key of the configuration in force ("properties.allow_compat_mode"); NULL: not set. */
const json_t *config_get(const struct doctor *d, const char *dotted);

/* The checks, by file. */
#define CHECK(name) void check_##name(struct doctor *d)
CHECK(driver);
CHECK(gpu);
CHECK(bar);
CHECK(compute_mode);
CHECK(mig);
CHECK(library);
CHECK(cufile_json);
CHECK(cufile_keys);
CHECK(cufile_compat);
CHECK(cufile_parallel);
CHECK(cufile_sizes);
CHECK(cufile_env);
CHECK(denylist);
CHECK(nvidia_fs);
CHECK(nvidia_fs_version);
CHECK(nvidia_fs_counters);
CHECK(nvidia_fs_nodes);
CHECK(p2pdma);
CHECK(file);
CHECK(file_layout);
CHECK(residency);
CHECK(mount);
CHECK(ext4);
CHECK(xfs);
CHECK(nfs);
CHECK(nfs_slots);
CHECK(lustre);
CHECK(layered);
CHECK(user_space);
CHECK(odirect);
CHECK(block);
CHECK(block_queue);
CHECK(udev);
CHECK(iommu);
CHECK(acs);
CHECK(pcie_link);
CHECK(topology);
CHECK(numa);
CHECK(rdma);
CHECK(nfs_rdma);
CHECK(roce);
CHECK(ofed);
CHECK(memlock);
CHECK(nofile);
CHECK(cgroup);
CHECK(io_uring);
CHECK(seccomp);
CHECK(container);
CHECK(kernel);
CHECK(governor);
#undef CHECK

#endif
