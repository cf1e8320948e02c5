/* SPDX-License-Identifier: MIT */
/* The parts of a running simfs. Private to src/simfs. */
#ifndef SPUR_SIMFS_SERVER_H
#define SPUR_SIMFS_SERVER_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdatomic.h>

#include "simfs/backing.h"
#include "simfs/faults.h"
#include "simfs/log.h"
#include "simfs/overhead.h"
#include "simfs/queue.h"
#include "simfs/simfs.h"
#include "simfs/stats.h"

/* What the machine itself costs between a caller and simfs, taken off what the model asks for. */
struct server_cost {
    uint64_t request_ns, mib_ns;
};

struct request;

struct server {
    const struct simfs_options *options;
    struct fuse_session *session;
    struct backing backing;
    struct queue queue;
    struct stats stats;
    struct log log;
    pid_t calibrator;      /* whose requests wait CALIBRATION_NS and are not counted */
    pthread_mutex_t mutex; /* for all below */
    struct model model;
    struct stats_facts facts;
    struct faults faults;
    struct server_cost cost; /* as measured at the start */
    struct overhead overhead;
    uint64_t gone_until_ns[MODEL_MAX_SERVERS];
    uint64_t *file_bytes; /* of each file, now */
    struct request *hung, *spare;
    bool stopping;
    struct timespec mtime;
};

#define CALIBRATION_NS 1000000u

/* ------------------------------------------------------------------------------------------------
 * request.c
 */

/* A request for data arrives: its answer comes by the model. @data of a write, copied before return.
 * @flags: of the descriptor. */
void request_arrive(struct server *s, fuse_req_t req, enum model_op op, uint64_t file, uint64_t offset, size_t bytes,
                    const void *data, int flags);
/* Hung requests whose caller is being killed are answered; all of them, if the server is stopping. */
void request_release(struct server *s);
/* The queue's queue_answer_fn. */
void request_answer(void *context, struct queue_item *item);
void request_free_spare(struct server *s);

/* ------------------------------------------------------------------------------------------------
 * tree.c: names, attributes, .spur
 */

#define INODE_SPUR   2
#define INODE_STATS  3
#define INODE_CONFIG 4
#define INODE_FILES  16 /* data.0 */

extern const struct fuse_lowlevel_ops tree_ops;

/* ------------------------------------------------------------------------------------------------
 * helper.c: a process that calibrates, and that unmounts where the server was killed
 */

struct helper {
    int fd; /* to it; -1: none */
    pid_t pid;
};

/* Before any thread is made. */
int helper_start(struct helper *h, const struct simfs_options *o, struct spur_error *e);
/* The mount stands and is served: measures; also the device number of the mount. */
int helper_calibrate(struct helper *h, struct server_cost *ret_cost, uint64_t *ret_device, struct spur_error *e);
/* The mount is gone. */
void helper_end(struct helper *h);

/* ------------------------------------------------------------------------------------------------
 * mount.c
 */

/* MOUNT is an empty directory, FUSE is there, the device is one. -EPERM or -EINVAL, worded. */
int mount_check(const struct simfs_options *o, struct spur_error *e);
/* Takes the mount of device number @device away from @mount, at once, whatever uses it. */
void mount_detach(const char *mount, uint64_t device);

#endif
