/* SPDX-License-Identifier: MIT */
/* gitreffile: one ref as the files that git keeps it in, read or written without a look at the others. */
#ifndef AP_GITREFFILE_H
#define AP_GITREFFILE_H

#include <stdbool.h>

#include "gitlib.h"

enum ap_gitreffile {
    AP_GITREFFILE_ABSENT, /* there is no such ref */
    AP_GITREFFILE_LOOSE,  /* it has a file of its own */
    AP_GITREFFILE_PACKED, /* it stands in packed-refs */
    AP_GITREFFILE_UNKNOWN, /* only libgit2 can tell: it is symbolic, or of one working tree, or packed-refs is not sorted */
};

/* Where the ref stands; *out is its id where that is LOOSE or PACKED. */
enum ap_gitreffile ap_gitreffile_read(git_oid *out, git_repository *repo, const char *name);

/* Writes the file of a ref, under git's lock of it, fsynced, whatever it was before; without a reflog. Code ELOCKED. */
int ap_gitreffile_write(git_repository *repo, const char *name, const git_oid *id, struct ap_err *err);

/* Gives a ref that stands in packed-refs alone a file of its own, that says the same. */
int ap_gitreffile_unpack(git_repository *repo, const char *name, struct ap_err *err);

/* The id that is all that the file of a ref holds; false where it holds anything else or cannot be read. */
bool ap_gitreffile_id(git_oid *out, int dir, const char *path);

#endif
