/* SPDX-License-Identifier: MIT */
/* fs: the few operations on files and folders that need care: whole reads and writes, trees, globs. */
#ifndef AP_FS_H
#define AP_FS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct ap_fs_copied {
    long long files, bytes, skipped;
};

/* Appends at most `most` bytes of a regular file to out; *cut: whether there is more. */
int ap_fs_read(struct ap_buf *out, bool *cut, const char *path, size_t most, struct ap_err *err);

/* Writes (or appends) plainly, creating the file; not atomic, unlike state's replace. */
int ap_fs_write(const char *path, const void *bytes, size_t count, bool append, struct ap_err *err);

/* Makes the directory and its parents; 0 if it exists. */
int ap_fs_mkdir(const char *path, struct ap_err *err);

/* Removes whatever is at path, never a link's target; 0 if nothing is there. */
int ap_fs_remove_tree(const char *path, struct ap_err *err);

/* Makes a symbolic link; with replace, atomically replaces what is at path. */
int ap_fs_symlink(const char *target, const char *path, bool replace, struct ap_err *err);

/* Copies the regular files below `from`; a negative limit is none. Counts as skipped: what is no regular file, cannot
 * be read, is deeper than 64 folders or would exceed a limit. */
int ap_fs_copy_tree(struct ap_fs_copied *copied, const char *from, const char *to, long long max_bytes,
    long long max_files, struct ap_err *err);

/* goalseek's globs. A slash and two stars at the end: that directory and everything below it. Any other pattern is
 * fnmatch(3) with flags 0: a star crosses slashes. */
bool ap_fs_glob_match(const char *pattern, const char *path);

#endif
