/* SPDX-License-Identifier: MIT */
/* gitpackrefs: refs moved from files of their own into packed-refs, those that are named and no others. */
#ifndef AP_GITPACKREFS_H
#define AP_GITPACKREFS_H

#include "base/buf.h"
#include "gitlib.h"

/* Name and id (2 fields) of the refs that have a file of their own right below a directory of refs such as
 * refs/apsis/NAME/, in no order. */
int ap_gitpackrefs_loose(struct ap_buf *out, git_repository *repo, const char *prefix, struct ap_err *err);

/* Writes these refs to packed-refs, durably, and then removes the files of those that did not change meanwhile. *packed
 * is how many were written. What is no commit's ref, or has no file, is left as it is. Code ELOCKED: git, or another
 * apsis, is at packed-refs. */
int ap_gitpackrefs_pack(
    size_t *packed, git_repository *repo, const char *const *names, size_t count, struct ap_err *err);

#endif
