/* SPDX-License-Identifier: MIT */
/* gitcheckout: the user's own working tree and index: what differs from HEAD, and from one tree to another. */
#ifndef AP_GITCHECKOUT_H
#define AP_GITCHECKOUT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "git/gitlib.h"

/* Paths (1 field) at which index or working tree differ from HEAD, at most `limit` of the `count`; not what a sparse
 * checkout leaves out. Writes nothing. encoded: one of them has an encoding that libgit2 does not know, so that it
 * cannot tell. */
int ap_gitcheckout_dirty(struct ap_buf *paths, size_t *count, bool *encoded, git_repository *repo, bool untracked,
    size_t limit, struct ap_err *err);

/* Writes what differs between the trees, if every such path is as `from` has it in the working tree and in the index.
 * Else nothing is written: code ECONFLICT, and the paths (1 field). dry_run: only looks. Code ELOCKED: another git
 * holds the index's lock; EFILTER: git's attributes name a filter program or an encoding for such a path; EBARE:
 * there is no working tree. */
int ap_gitcheckout(struct ap_buf *conflicts, git_repository *repo, const git_oid *from, const git_oid *to, bool dry_run,
    struct ap_err *err);

#endif
