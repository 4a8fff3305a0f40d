/* SPDX-License-Identifier: MIT */
/* dirtree: disk operations in a working directory in which programs that we do not trust have written: by directory
 * descriptor, never through a symbolic link, at any depth. A leaf of worktree; knows no git. */
#ifndef AP_DIRTREE_H
#define AP_DIRTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"

/* Opens the directory root/path ("" is root itself), no component of which may be a symlink; makes one that we may not
 * read ours (0700). A descriptor, or -1 and errno. */
int ap_dirtree_open(int root, const char *path);

/* Removes parent/name, whatever it is and however deep; a missing one is no error. */
int ap_dirtree_remove(int root, int parent, const char *name, struct ap_err *err);

/* Makes parent/name, which must not exist, with exactly this mode (0120000: a symlink to bytes), and fills its stat. */
int ap_dirtree_write(
    struct stat *st, int parent, const char *name, const void *bytes, size_t count, unsigned mode, struct ap_err *err);

/* Opens a regular file for reading, and makes it readable if needed; -1 and errno (EINVAL: not a regular file). */
int ap_dirtree_open_file(struct stat *st, int parent, const char *name);

/* Adds to out the rest of the file, or a symlink's target; -1 and errno. */
int ap_dirtree_read(struct ap_buf *out, int fd);
int ap_dirtree_read_link(struct ap_buf *out, int parent, const char *name);

/* Whether a file's times show that it was written through a shared mapping. Not on tmpfs. */
bool ap_dirtree_times_prove(int root);

#endif
