/* SPDX-License-Identifier: MIT */
/* gitref: a repository's refs. A list is returned as NUL-terminated fields in an ap_buf, a fixed number per record. */
#ifndef AP_GITREF_H
#define AP_GITREF_H

#include <stdbool.h>

#include "base/buf.h"
#include "git/gitlib.h"

/* Code ENOENT when there is no such ref. */
int ap_gitref_read(git_oid *out, git_repository *repo, const char *name, struct ap_err *err);

/* The name (1 field) in a symbolic ref such as refs/remotes/origin/HEAD, whether that ref exists or not; nothing if the
 * ref contains an id. Code ENOENT when there is no such ref. */
int ap_gitref_symbolic(struct ap_buf *out, git_repository *repo, const char *name, struct ap_err *err);

/* Name and id (2 fields) of the refs that begin with prefix, sorted by name. */
int ap_gitref_list(struct ap_buf *out, git_repository *repo, const char *prefix, struct ap_err *err);

enum ap_gitref_expect { AP_GITREF_ANYTHING, AP_GITREF_ABSENT, AP_GITREF_EXACTLY };

/* Compare-and-swap, fsynced. Code EMOVED when the ref is not as expected, ELOCKED when another process holds its
 * lock. */
int ap_gitref_set(git_repository *repo, const char *name, const git_oid *id, enum ap_gitref_expect expect,
    const git_oid *expected, const char *log_message, struct ap_err *err);
int ap_gitref_delete(git_repository *repo, const char *name, struct ap_err *err);

struct ap_gitref_locks {
    int removed, left; /* left: too recent */
};

/* Removes the lock files, at least age_s old, of a ref, of all refs below a directory of refs, or of "packed-refs". */
int ap_gitref_clear_locks(
    struct ap_gitref_locks *locks, git_repository *repo, const char *prefix, int age_s, struct ap_err *err);

/* The working tree in which refs/heads/BRANCH is HEAD or is being rebased; *found is false if there is none. */
int ap_gitref_checked_out(bool *found, char path[4096], git_repository *repo, const char *branch, struct ap_err *err);

#endif
