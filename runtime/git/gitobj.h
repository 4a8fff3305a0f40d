/* SPDX-License-Identifier: MIT */
/* gitobj: the contents of a repository's objects: commits, trees, files and their differences. Works in an objects-only
 * repository (ap_gitlib_wrap), by id, so that no attribute, filter or setting can change a result. A list is returned
 * as NUL-terminated fields in an ap_buf, a fixed number per record. Called by lgit.c. */
#ifndef AP_GITOBJ_H
#define AP_GITOBJ_H

#include <stdbool.h>

#include "base/buf.h"
#include "git/gitlib.h"

/* id, tree, parents (separated by spaces), author's name, email, commit time, message: 7 fields. */
int ap_gitobj_commit(struct ap_buf *out, git_repository *repo, const git_oid *id, struct ap_err *err);

/* The same for the history of id, newest first; without the history of hide; only commits that changed path. NULL: no
 * such limit; max 0: all. The history of a shallow clone ends where it was cut. */
int ap_gitobj_log(struct ap_buf *out, git_repository *repo, const git_oid *id, const git_oid *hide, const char *path,
    size_t max, struct ap_err *err);

/* The bytes of the file or symlink at path. Codes ENOENT, EISDIR, ESUBMODULE. */
int ap_gitobj_read(struct ap_buf *out, unsigned *mode, git_repository *repo, const git_oid *tree, const char *path,
    struct ap_err *err);
int ap_gitobj_has(bool *has, git_repository *repo, const git_oid *tree, const char *path, struct ap_err *err);

/* path, mode (octal text), id: 3 fields for every entry but directories, below prefix (NULL: all), sorted by path. */
int ap_gitobj_entries(
    struct ap_buf *out, git_repository *repo, const git_oid *tree, const char *prefix, struct ap_err *err);

struct ap_gitobj_diff {
    unsigned context;
    char **paths; /* only these, or what is below them */
    size_t path_count;
};

/* The patch from tree a to tree b, in git's format, with renames. */
int ap_gitobj_patch(struct ap_buf *out, git_repository *repo, const git_oid *a, const git_oid *b,
    const struct ap_gitobj_diff *diff, struct ap_err *err);

/* path, old path ("" unless renamed), status, mode, old mode, id, added, deleted: 8 fields. Binary: *changed_lines
 * counts 1. */
int ap_gitobj_changes(struct ap_buf *out, size_t *changed_lines, git_repository *repo, const git_oid *a,
    const git_oid *b, struct ap_err *err);

#endif
