/* SPDX-License-Identifier: MIT */
/* gitmerge: how two commits join. Works in an objects-only repository (ap_gitlib_wrap), by id. */
#ifndef AP_GITMERGE_H
#define AP_GITMERGE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "git/gitlib.h"

int ap_gitmerge_base(git_oid *out, git_repository *repo, const git_oid *a, const git_oid *b, struct ap_err *err);

int ap_gitmerge_descendant_of(
    bool *yes, git_repository *repo, const git_oid *commit, const git_oid *ancestor, struct ap_err *err);

/* How many commits a has that b has not, and vice versa. */
int ap_gitmerge_ahead_behind(
    size_t *ahead, size_t *behind, git_repository *repo, const git_oid *a, const git_oid *b, struct ap_err *err);

/* The merged tree, or code ECONFLICT and the paths (1 field) that conflict. */
int ap_gitmerge_commits(git_oid *out, struct ap_buf *conflicts, git_repository *repo, const git_oid *ours,
    const git_oid *theirs, struct ap_err *err);

/* The tree of `onto` without the changes of `commit` against its first parent; conflicts as for merge. */
int ap_gitmerge_revert(git_oid *out, struct ap_buf *conflicts, git_repository *repo, const git_oid *commit,
    const git_oid *onto, struct ap_err *err);

#endif
