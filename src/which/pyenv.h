/* SPDX-License-Identifier: MIT */
/* A Python environment as it lies on the disk: its interpreter, its folders of packages. Nothing is run. */
#ifndef SPUR_WHICH_PYENV_H
#define SPUR_WHICH_PYENV_H

#include "which/dist.h"

#define PYENV_SITES 24

struct pyenv {
    char prefix[PATH_MAX];             /* of the environment, without links */
    char base[PATH_MAX];               /* of the Python that it was made of; the same as prefix where it is none's */
    char interpreter[PATH_MAX];        /* file, without links; "": gone */
    char version[16];                  /* "3.12"; "": not known */
    char sites[PYENV_SITES][PATH_MAX]; /* site-packages, dist-packages, in the order of sys.path as far as known */
    size_t n_sites;
    bool is_venv, is_conda;
    char note[256]; /* what is wrong with it: "its base Python is gone: /opt/python/bin"; "" */
    struct dists dists;
};

/* What of a process's or user's environment variables counts; each may be NULL. */
struct pyenv_world {
    const char *python_path; /* PYTHONPATH */
    const char *home;        /* HOME, for ~/.local */
};

/*
 * @name is a virtual environment, a prefix (/usr, conda's), a folder of packages, or an interpreter (a path). -errno
 * with an error if it is not there or none of these.
 */
int pyenv_open(struct pyenv *p, const struct tree *t, const char *name, const struct pyenv_world *w,
               struct spur_error *e);
void pyenv_close(struct pyenv *p);

/* Whether a program's file name is that of a Python: python, python3, python3.12, pypy3. */
bool pyenv_is_python(const char *file);

#endif
