/* SPDX-License-Identifier: MIT */
/* state: what must survive a crash. Owns the descriptors of journals and readers from open to close. Does not
 * know what a line means; never rewrites an appended line. Called only by lstate.c. */
#define _GNU_SOURCE
#include "state/state.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/sys.h"

enum { CHUNK = 1 << 16, LONGEST_LINE = 1 << 28 };

/* Syncs the directory of path, so that a new name in it is durable; with above: also the directory's parent, since the
 * directory may be new too. 0, or -1 and errno. */
static int sync_parent(const char *path, bool above)
{
    const char *slash = strrchr(path, '/');
    char *parent = slash == NULL ? strdup(".") : slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
    if (parent == NULL)
        return -1;
    int fd = above && strchr(parent, '/') != NULL && sync_parent(parent, false) != 0
                 ? -1
                 : open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(parent);
    if (fd < 0)
        return -1;
    int result = fsync(fd), errnum = errno;
    close(fd);
    if (result != 0 && (errnum == EINVAL || errnum == ENOTSUP)) /* a file system that cannot sync folders */
        return 0;
    errno = errnum;
    return result;
}

int ap_state_open_own(const char *path, int flags)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    char *parent = slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    if (parent == NULL)
        return -1;
    int folder = open(parent, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    free(parent);
    if (folder < 0)
        return -1;
    int fd = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666), errnum = errno;
    close(folder);
    errno = errnum;
    return fd;
}

/* ---- journal ---- */

int ap_state_journal_open(
    struct ap_state_journal *journal, struct ap_state_torn *torn, const char *path, struct ap_err *err)
{
    struct stat st;
    *torn = (struct ap_state_torn){0};
    *journal = (struct ap_state_journal){.fd = -1};
    bool created = false;
    int fd = ap_state_open_own(path, O_RDWR | O_APPEND);
    if (fd < 0 && errno == ENOENT) {
        fd = ap_state_open_own(path, O_RDWR | O_APPEND | O_CREAT);
        created = true;
    }
    if (fd < 0 || fstat(fd, &st) != 0) {
        ap_err_errno(err, errno, "%s", path);
        goto out;
    }
    if (!S_ISREG(st.st_mode)) {
        ap_err_set(err, "EINVAL", "%s: not a regular file", path);
        goto out;
    }
    if (ap_state_torn_cut(fd, torn, st.st_size) != 0 || (created && sync_parent(path, true) != 0)) {
        ap_err_errno(err, errno, "%s", path);
        goto out;
    }
    journal->path = strdup(path);
    if (journal->path == NULL || fstat(fd, &st) != 0) {
        ap_err_errno(err, errno, "%s", path);
        goto out;
    }
    journal->size = st.st_size;
    journal->fd = fd;
    return 0;
out:
    if (fd >= 0)
        close(fd);
    free(journal->path);
    return -1;
}

/* Makes the folder of path again if that alone is gone. */
static void remake_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash != NULL ? strndup(path, (size_t)(slash - path)) : NULL;
    if (folder != NULL)
        (void)!mkdir(folder, 0777);
    free(folder);
}

/* Writes what the journal holds to a new file beside it. -1 and errno. */
static int save_lines(const struct ap_state_journal *journal, const char *path)
{
    char chunk[4096];
    remake_folder(path);
    int fd = ap_state_open_own(path, O_WRONLY | O_CREAT | O_TRUNC), result = fd < 0 ? -1 : 0;
    ssize_t count = 0;
    for (off_t at = 0; result == 0 && (count = pread(journal->fd, chunk, sizeof chunk, at)) > 0; at += count)
        result = ap_sys_write(fd, chunk, (size_t)count);
    if (result == 0)
        result = count < 0 ? -1 : fsync(fd);
    if (fd >= 0)
        close(fd);
    return result;
}

int ap_state_journal_check(struct ap_state_journal *journal, struct ap_err *err)
{
    struct stat mine, there;
    if (fstat(journal->fd, &mine) != 0)
        return ap_err_errno(err, errno, "journal");
    bool gone = lstat(journal->path, &there) != 0;
    if (!gone && there.st_dev == mine.st_dev && there.st_ino == mine.st_ino) {
        if (mine.st_size == journal->size)
            return 0;
        return ap_err_set(err, "EOTHER", "%s: another program has changed it", journal->path);
    }
    char *kept = NULL;
    journal->broken = true;
    if (asprintf(&kept, "%s.kept", journal->path) < 0)
        return ap_err_memory(err);
    bool saved = save_lines(journal, kept) == 0;
    ap_err_set(err, "EOTHER", "%s: another program has %s it; the lines that were in it %s %s%s", journal->path,
        gone ? "removed" : "replaced", saved ? "are in" : "could not be saved to", kept,
        saved ? ": rename that file back, then run again" : "");
    free(kept);
    return -1;
}

/* Restores the length before a failed append; if even this fails, nothing may follow the torn line. */
static int take_back(struct ap_state_journal *journal, int errnum, const char *what, struct ap_err *err)
{
    if (ftruncate(journal->fd, journal->size) != 0)
        journal->broken = true;
    return ap_err_errno(err, errnum, "%s", what);
}

int ap_state_journal_append(struct ap_state_journal *journal, const char *line, size_t length, struct ap_err *err)
{
    if (journal->broken)
        return ap_err_set(err, "EIO", "the journal takes no more lines: an earlier sync failed");
    if (ap_state_journal_check(journal, err) != 0)
        return -1;
    struct iovec parts[] = {{.iov_base = (void *)(size_t)line, .iov_len = length}, {.iov_base = "\n", .iov_len = 1}};
    ssize_t written;
    do
        written = writev(journal->fd, parts, 2);
    while (written < 0 && errno == EINTR);
    if (written < 0)
        return take_back(journal, errno, "cannot append to the journal", err);
    if ((size_t)written <= length) { /* short: most likely the disk is full; writing the rest gives the errno */
        size_t done = (size_t)written;
        if (ap_sys_write(journal->fd, line + done, length - done) != 0 || ap_sys_write(journal->fd, "\n", 1) != 0)
            return take_back(journal, errno, "cannot append to the journal", err);
    }
    if (fdatasync(journal->fd) != 0) {
        int errnum = errno;
        journal->broken = true; /* a second fsync may report success for data the first one lost */
        return take_back(journal, errnum, "cannot sync the journal", err);
    }
    journal->size += (long long)length + 1;
    return 0;
}

int ap_state_journal_size(long long *size, struct ap_state_journal *journal, struct ap_err *err)
{
    struct stat st;
    if (fstat(journal->fd, &st) != 0)
        return ap_err_errno(err, errno, "journal");
    *size = st.st_size;
    return 0;
}

void ap_state_journal_close(struct ap_state_journal *journal)
{
    if (journal->fd >= 0)
        close(journal->fd);
    journal->fd = -1;
    free(journal->path);
    journal->path = NULL;
}

/* ---- lines ---- */

int ap_state_lines_open(
    struct ap_state_lines *lines, const char *path, long long offset, long long number, struct ap_err *err)
{
    struct stat st;
    *lines = (struct ap_state_lines){.fd = ap_state_open_own(path, O_RDONLY), .offset = offset, .number = number - 1};
    if (lines->fd < 0)
        return ap_err_errno(err, errno, "%s", path);
    if (fstat(lines->fd, &st) != 0)
        ap_err_errno(err, errno, "%s", path);
    else if (!S_ISREG(st.st_mode))
        ap_err_set(err, S_ISDIR(st.st_mode) ? "EISDIR" : "EINVAL", "%s: not a regular file", path);
    else
        return 0;
    ap_state_lines_close(lines);
    return -1;
}

/* Moves the unfinished line to the buffer's beginning and reads behind it. Bytes read, 0 at the end, -1 and err. */
static ssize_t read_more(struct ap_state_lines *lines, struct ap_err *err)
{
    struct ap_buf *buf = &lines->buf;
    memmove(buf->bytes, buf->bytes + lines->at, buf->used - lines->at);
    buf->used -= lines->at;
    lines->scanned -= lines->at;
    lines->at = 0;
    if (buf->used >= LONGEST_LINE)
        return ap_err_set(err, "EFBIG", "line %lld is longer than %d bytes", lines->number + 1, LONGEST_LINE);
    if (ap_buf_reserve(buf, CHUNK) != 0)
        return ap_err_errno(err, ENOMEM, "line %lld", lines->number + 1);
    ssize_t n;
    do
        n = pread(
            lines->fd, buf->bytes + buf->used, buf->room - buf->used, (off_t)(lines->offset + (long long)buf->used));
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return ap_err_errno(err, errno, "line %lld", lines->number + 1);
    buf->used += (size_t)n;
    return n;
}

int ap_state_lines_next(struct ap_state_line *line, struct ap_state_lines *lines, struct ap_err *err)
{
    struct ap_buf *buf = &lines->buf;
    for (;;) {
        const char *newline = NULL;
        if (buf->used > lines->scanned)
            newline = memchr(buf->bytes + lines->scanned, '\n', buf->used - lines->scanned);
        if (newline != NULL) {
            line->bytes = buf->bytes + lines->at;
            line->length = (size_t)(newline - line->bytes);
            line->number = ++lines->number;
            line->offset = lines->offset;
            lines->offset += (long long)line->length + 1;
            lines->at = lines->scanned = lines->at + line->length + 1;
            return 1;
        }
        lines->scanned = buf->used;
        ssize_t n = buf->room == 0 && ap_buf_reserve(buf, CHUNK) != 0 ? ap_err_errno(err, ENOMEM, "lines")
                                                                      : read_more(lines, err);
        if (n <= 0)
            return (int)n;
    }
}

void ap_state_lines_close(struct ap_state_lines *lines)
{
    if (lines->fd >= 0)
        close(lines->fd);
    lines->fd = -1;
    ap_buf_dispose(&lines->buf);
}

/* ---- replace, publish ---- */

/* Gives the finished file its name; once: only if nothing has that name. Over NFS, link may fail though it was made. */
static int name_it(const char *temporary, const char *path, bool once)
{
    struct stat stat_buf;
    if (!once)
        return rename(temporary, path);
    if (link(temporary, path) != 0) {
        int errnum = errno;
        if (stat(temporary, &stat_buf) != 0 || stat_buf.st_nlink != 2) {
            errno = errnum;
            return -1;
        }
    }
    unlink(temporary);
    return 0;
}

static int put(const char *path, const void *bytes, size_t count, bool sync, bool once, struct ap_err *err)
{
    static unsigned counter;
    int result = -1, fd;
    char *temporary = NULL;
    do { /* a name of the same pid may be left from before a crash */
        free(temporary);
        if (asprintf(&temporary, "%s.tmp-%ld-%u", path, (long)getpid(), counter++) < 0)
            return ap_err_errno(err, ENOMEM, "%s", path);
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EEXIST);
    if (fd < 0) {
        ap_err_errno(err, errno, "%s", path);
        free(temporary);
        return -1;
    }
    bool written = ap_sys_write(fd, bytes, count) == 0 && (!sync || fsync(fd) == 0);
    int errnum = errno;
    if (close(fd) != 0 && written) {
        written = false;
        errnum = errno;
    }
    if (!written) {
        ap_err_errno(err, errnum, "%s", path);
        goto out;
    }
    if (name_it(temporary, path, once) != 0) {
        ap_err_errno(err, errno, "%s", path);
        goto out;
    }
    /* From here the new content is in place; what is written once is there only if that is sure. */
    result = sync && sync_parent(path, false) != 0 ? ap_err_errno(err, errno, "cannot sync the folder of %s", path) : 0;
    if (result != 0 && once)
        unlink(path);
    free(temporary);
    return result;
out:
    unlink(temporary);
    free(temporary);
    return result;
}

int ap_state_replace(const char *path, const void *bytes, size_t count, bool sync, struct ap_err *err)
{
    return put(path, bytes, count, sync, false, err);
}

int ap_state_publish(const char *path, const void *bytes, size_t count, struct ap_err *err)
{
    return put(path, bytes, count, true, true, err);
}

/* ---- digests ---- */

uint64_t ap_state_digest(const char *text, size_t length)
{
    const uint64_t factor = 0x9E3779B97F4A7C15; /* odd, so multiplying loses nothing: 2^64 by the golden ratio */
    uint64_t hash = length;
    for (size_t at = 0; at < length; at += 32) {
        uint64_t words[4] = {0};
        memcpy(words, text + at, length - at < sizeof words ? length - at : sizeof words);
        hash = (((hash ^ le64toh(words[0])) * factor) ^ le64toh(words[1])) * factor;
        hash = (((hash ^ hash >> 29 ^ le64toh(words[2])) * factor) ^ le64toh(words[3])) * factor;
        hash ^= hash >> 29;
    }
    return hash;
}
