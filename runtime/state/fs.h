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

/* Appends at most `most` bytes of a regular file to out; *cut says whether it holds more. */
int ap_fs_read(struct ap_buf *out, bool *cut, const char *path, size_t most, struct ap_err *err);

/* Writes (or appends) plainly, creating the file; not atomic: state's replace is. */
int ap_fs_write(const char *path, const void *bytes, size_t count, bool append, struct ap_err *err);

/* Writes everything to a descriptor, whatever interrupts; 0, or -1 and errno. */
int ap_fs_write_all(int fd, const char *bytes, size_t count);

/* Makes the directory and its parents; 0 where it is one already. */
int ap_fs_mkdir(const char *path, struct ap_err *err);

/* Removes whatever is at path, never what a link points to; 0 where nothing is. */
int ap_fs_remove_tree(const char *path, struct ap_err *err);

/* Makes a symbolic link; with replace, what is at path is replaced in one step. */
int ap_fs_symlink(const char *target, const char *path, bool replace, struct ap_err *err);

/* Copies the regular files below `from`; a limit below 0 is none. What is no regular file, cannot be read, lies deeper
 * than 64 folders or would pass a limit is counted as skipped. */
int ap_fs_copy_tree(struct ap_fs_copied *copied, const char *from, const char *to, long long max_bytes,
    long long max_files, struct ap_err *err);

/* goalseek's globs. A slash and two stars at the end: everything below that directory, and itself. Any other pattern is
 * fnmatch(3) with flags 0: a star crosses slashes. */
bool ap_fs_glob_match(const char *pattern, const char *path);

#endif
