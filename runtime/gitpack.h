/* SPDX-License-Identifier: MIT */
/* gitpack: what a run has written as files of their own, put into packs. Nothing is removed that the new pack was not
 * seen to hold, on disk; a process killed at any moment leaves whole objects, and at most a folder that git prunes. */
#ifndef AP_GITPACK_H
#define AP_GITPACK_H

#include "gitlib.h"

struct ap_gitpack {
    size_t objects, removed;      /* in the pack; files, or packs, that it took the place of */
    char name[GIT_OID_HEXSZ + 1]; /* of objects/pack/pack-NAME.pack; "" where there was nothing to pack */
};

/* Holds all other packers of this repository off until the descriptor is closed. Code ELOCKED where one is at work. */
int ap_gitpack_lock(int *out, git_repository *repo, struct ap_err *err);

/* Packs those of these commits and of their trees' contents that are files of their own. `spared` of them, which stand
 * first, stay files with all that is in them: what is read again and again is best read from there. */
int ap_gitpack_commits(struct ap_gitpack *done, git_repository *repo, const git_oid *commits, size_t count,
    size_t spared, struct ap_err *err);

/* Makes one pack of several, named as above; those that are gone, are to be kept (pack-NAME.keep) or stand in a
 * multi-pack-index are left out, and where fewer than two remain nothing is done. */
int ap_gitpack_merge(
    struct ap_gitpack *done, git_repository *repo, const char *const *names, size_t count, struct ap_err *err);

#endif
