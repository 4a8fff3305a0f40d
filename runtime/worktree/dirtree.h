/* SPDX-License-Identifier: MIT */
/* dirtree: the disk operations of a working directory that programs we do not trust have written in: by directory
 * descriptor, never through a symbolic link, at any depth. A leaf of worktree; knows no git. */
#ifndef AP_DIRTREE_H
#define AP_DIRTREE_H

#include <stddef.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"

/* The directory root/path ("" is root itself), no component of it a symlink; one that we may not read is made ours
 * (0700). A descriptor, or -1 and errno. */
int ap_dirtree_open(int root, const char *path);

/* Removes parent/name, whatever it is and however deep; nothing there is no error. */
int ap_dirtree_remove(int root, int parent, const char *name, struct ap_err *err);

/* Makes parent/name, where nothing is, with exactly this mode (0120000: a symlink to bytes), and tells how it then
 * stands. */
int ap_dirtree_write(
    struct stat *st, int parent, const char *name, const void *bytes, size_t count, unsigned mode, struct ap_err *err);

/* Opens a regular file for reading, made readable where needed; -1 and errno (EINVAL: it is no regular file). */
int ap_dirtree_open_file(struct stat *st, int parent, const char *name);

/* Adds to out what is left to read, or a symlink's target; -1 and errno. */
int ap_dirtree_read(struct ap_buf *out, int fd);
int ap_dirtree_read_link(struct ap_buf *out, int parent, const char *name);

#endif
