/* SPDX-License-Identifier: MIT */
/* wtscan: looks at every file of a working directory once: an lstat each, and a hash only if that proves nothing. Uses
 * one descriptor and no recursion, however deep the directory. Changes nothing on disk except permissions that would
 * keep it from looking. Called by worktree.c. */
#define _GNU_SOURCE
#include "worktree/wtscan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "worktree/dirtree.h"

enum { DEPTH = 4096, SCRATCH_KEPT = 8 << 20 };

static int64_t nanoseconds(struct timespec at)
{
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

int64_t ap_wtscan_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return nanoseconds(now);
}

void ap_wtscan_dispose(struct ap_wtscan *scan)
{
    if (scan->dir != NULL)
        closedir(scan->dir);
    ap_buf_dispose(&scan->held);
    ap_buf_dispose(&scan->path);
    ap_buf_dispose(&scan->queue);
    ap_buf_dispose(&scan->found);
    ap_buf_dispose(&scan->starts);
    ap_buf_dispose(&scan->scratch);
}

static int add_field(struct ap_buf *out, const char *text)
{
    return ap_buf_add(out, text, strlen(text) + 1);
}

const char *ap_wtscan_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

unsigned ap_wtscan_mode(const struct stat *st)
{
    if (S_ISLNK(st->st_mode))
        return GIT_FILEMODE_LINK;
    return st->st_mode & 0100 ? GIT_FILEMODE_BLOB_EXECUTABLE : GIT_FILEMODE_BLOB;
}

bool ap_wtscan_is_ordinary(const struct stat *st)
{
    return S_ISREG(st->st_mode) || S_ISLNK(st->st_mode);
}

int ap_wtscan_note(
    struct ap_wtscan *scan, const char *path, const char *kind, const struct stat *st, unsigned old_mode, bool hidden)
{
    char mode[16] = "", size[24] = "0", old[16] = "";
    struct ap_buf *target = &scan->scratch;
    bool file = st != NULL && ap_wtscan_is_ordinary(st) && strcasecmp(ap_wtscan_name(path), ".git") != 0;
    target->used = 0;
    if (st != NULL)
        snprintf(mode, sizeof mode, file ? "%06o" : "other", ap_wtscan_mode(st));
    if (file)
        snprintf(size, sizeof size, "%lld", (long long)st->st_size);
    if (old_mode != 0)
        snprintf(old, sizeof old, "%06o", old_mode);
    if (file && S_ISLNK(st->st_mode) && ap_dirtree_read_link(target, scan->fd, ap_wtscan_name(path)) != 0)
        return ap_err_errno(scan->err, errno, "%s", path);
    if ((ap_buf_add(&scan->starts, &scan->found.used, sizeof scan->found.used) | add_field(&scan->found, path) |
            add_field(&scan->found, kind) | add_field(&scan->found, mode) | add_field(&scan->found, size) |
            ap_buf_add(&scan->found, target->bytes, target->used) | add_field(&scan->found, "") |
            add_field(&scan->found, old) | add_field(&scan->found, hidden ? "1" : "")) != 0)
        return ap_err_memory(scan->err);
    return 0;
}

static struct ap_wtlist_stamp stamp_of(const struct stat *st)
{
    return (struct ap_wtlist_stamp){
        st->st_size, nanoseconds(st->st_mtim), nanoseconds(st->st_ctim), st->st_ino, st->st_mode};
}

static bool same_stamp(const struct ap_wtlist_stamp *a, const struct ap_wtlist_stamp *b)
{
    return a->size == b->size && a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns && a->ino == b->ino &&
           a->mode == b->mode;
}

void ap_wtscan_remember(struct ap_wtlist_entry *entry, const struct stat *st, int64_t now)
{
    entry->stamp = stamp_of(st);
    entry->known = true;
    entry->racy = entry->stamp.ctime_ns + AP_WTSCAN_RACY_NS >= now;
}

static int ask_size(struct ap_wtscan *scan, struct ap_wtlist_entry *entry)
{
    size_t size;
    git_object_t type;
    if (entry->blob_size >= 0)
        return 0;
    int result = ap_gitlib.odb_read_header(&size, &type, scan->odb, &entry->id);
    if (result < 0)
        return ap_gitlib_fail(scan->err, result, "%s", ap_wtlist_path(scan->list, entry));
    entry->blob_size = (int64_t)size;
    return 0;
}

/* Whether the file or symlink has the entry's bytes. */
static int same_bytes(bool *same, struct ap_wtscan *scan, struct ap_wtlist_entry *entry, const struct stat *st)
{
    struct ap_buf *bytes = &scan->scratch;
    const char *name = ap_wtscan_name(scan->path.bytes);
    git_oid id;
    *same = false;
    if (ask_size(scan, entry) != 0)
        return -1;
    if (st->st_size != entry->blob_size)
        return 0;
    bytes->used = 0;
    int result;
    if (S_ISLNK(st->st_mode)) {
        result = ap_dirtree_read_link(bytes, scan->fd, name);
    } else {
        struct stat opened;
        int fd = ap_dirtree_open_file(&opened, scan->fd, name);
        result = fd < 0 || ap_buf_reserve(bytes, (size_t)st->st_size + 1) != 0 ? -1 : ap_dirtree_read(bytes, fd);
        int saved = errno;
        if (fd >= 0)
            close(fd);
        errno = saved;
    }
    if (result != 0)
        return ap_err_errno(scan->err, errno, "%s", scan->path.bytes);
    result = ap_gitlib.odb_hash(&id, bytes->bytes, bytes->used, GIT_OBJECT_BLOB);
    if (result < 0)
        return ap_gitlib_fail(scan->err, result, "%s", scan->path.bytes);
    *same = memcmp(&id, &entry->id, sizeof id) == 0;
    if (bytes->room > SCRATCH_KEPT)
        ap_buf_dispose(bytes);
    return 0;
}

/* Whether permissions are exactly as checkout sets them, the owner is us, and there is no other hard link. */
static bool is_as_written(const struct ap_wtlist_entry *entry, const struct stat *st)
{
    if (S_ISLNK(st->st_mode))
        return true;
    return (st->st_mode & 07777) == (entry->mode & 0777) && st->st_nlink == 1 && st->st_uid == geteuid();
}

/* Compares a file or symlink with the tree's entry. */
static int compare(struct ap_wtscan *scan, struct ap_wtlist_entry *entry, const struct stat *st)
{
    struct ap_wtlist_stamp stamp = stamp_of(st);
    const char *kind = "modified";
    unsigned mode = ap_wtscan_mode(st);
    bool same = !scan->unproven && entry->known && !entry->racy && same_stamp(&stamp, &entry->stamp);
    entry->state = AP_WTLIST_DIFFERENT;
    if ((mode == GIT_FILEMODE_LINK) != (entry->mode == GIT_FILEMODE_LINK))
        kind = "type";
    else if (!same && same_bytes(&same, scan, entry, st) != 0)
        return -1;
    if (same && mode == entry->mode && (!scan->strict || is_as_written(entry, st))) {
        bool touched = scan->touched && entry->known && (entry->noticed || !same_stamp(&stamp, &entry->stamp));
        if (touched && ap_wtscan_note(scan, scan->path.bytes, "touched", st, entry->mode, false) != 0)
            return -1;
        if (!entry->known || entry->racy || !same_stamp(&stamp, &entry->stamp))
            ap_wtscan_remember(entry, st, scan->now);
        entry->state = AP_WTLIST_SAME;
        return 0;
    }
    if (same)
        kind = "mode";
    return scan->strict ? 0 : ap_wtscan_note(scan, scan->path.bytes, kind, st, entry->mode, false);
}

static int enqueue(struct ap_wtscan *scan)
{
    size_t length = scan->path.used;
    if (ap_buf_add(&scan->queue, scan->path.bytes, length) != 0 ||
        ap_buf_add(&scan->queue, &length, sizeof length) != 0)
        return ap_err_memory(scan->err);
    return 0;
}

/* Notes what the tree does not have: to be removed, or "added". */
static int extra(struct ap_wtscan *scan, const struct stat *st, bool hidden)
{
    const char *path = scan->path.bytes;
    if (!scan->strict && S_ISDIR(st->st_mode) && strcasecmp(ap_wtscan_name(path), ".git") != 0)
        return enqueue(scan);
    if (!scan->strict)
        return ap_wtscan_note(scan, path, "added", st, 0, hidden);
    if (ap_buf_add(&scan->starts, &scan->found.used, sizeof scan->found.used) != 0 ||
        add_field(&scan->found, path) != 0)
        return ap_err_memory(scan->err);
    return 0;
}

/* Looks at scan->path, which is root/.../name; `fd` is its directory. */
static int look(struct ap_wtscan *scan, unsigned char type)
{
    const char *path = scan->path.bytes;
    struct ap_wtlist_entry *entry = ap_wtlist_find(scan->list, path, scan->path.used - 1);
    struct stat st = {.st_mode = S_IFDIR};
    if (type != DT_DIR && fstatat(scan->fd, ap_wtscan_name(path), &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : ap_err_errno(scan->err, errno, "%s", path);
    if (entry == NULL || entry->hidden)
        return extra(scan, &st, entry != NULL);
    if (entry->mode == GIT_FILEMODE_TREE || entry->mode == GIT_FILEMODE_COMMIT) {
        if (S_ISDIR(st.st_mode)) {
            entry->state = AP_WTLIST_SAME;
            return enqueue(scan);
        }
        if (entry->mode == GIT_FILEMODE_TREE || scan->strict)
            return extra(scan, &st, false);
    }
    if (S_ISDIR(st.st_mode)) /* the file is missing, and the directory's content is added */
        return extra(scan, &st, false);
    if (!ap_wtscan_is_ordinary(&st) || entry->mode == GIT_FILEMODE_COMMIT) {
        if (scan->strict)
            return extra(scan, &st, false);
        entry->state = AP_WTLIST_DIFFERENT;
        return ap_wtscan_note(scan, path, "type", &st, entry->mode, false);
    }
    return compare(scan, entry, &st);
}

/* Moves the last directory of the queue to scan->path. */
static int dequeue(struct ap_wtscan *scan)
{
    size_t length;
    memcpy(&length, scan->queue.bytes + scan->queue.used - sizeof length, sizeof length);
    scan->queue.used -= sizeof length + length;
    scan->path.used = 0;
    return ap_buf_add(&scan->path, scan->queue.bytes + scan->queue.used, length) != 0 ? ap_err_memory(scan->err) : 0;
}

/* Opens the directory at scan->path, relative to the held one if that is above it, so that depth costs no time. */
static int open_directory(struct ap_wtscan *scan)
{
    const char *path = scan->path.bytes;
    size_t above = scan->held.used > 1 ? scan->held.used - 1 : 0;
    bool inside = above > 0 && strncmp(path, scan->held.bytes, above) == 0 && path[above] == '/';
    int fd = inside ? ap_dirtree_open(scan->fd, path + above + 1) : ap_dirtree_open(scan->root, path);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        int errnum = errno;
        if (fd >= 0)
            close(fd);
        return ap_err_errno(scan->err, errnum, "directory %s", path);
    }
    if (scan->dir != NULL)
        closedir(scan->dir);
    scan->dir = dir;
    scan->fd = fd;
    scan->held.used = 0;
    return ap_buf_add(&scan->held, path, scan->path.used) != 0 ? ap_err_memory(scan->err) : 0;
}

/* Makes a directory accessible: 0700 to look at it, and for checkout exactly git's mode. */
static int open_up_directory(struct ap_wtscan *scan)
{
    bool exact = scan->strict && scan->path.used > 1;
    struct stat st;
    if (fstat(scan->fd, &st) != 0)
        return ap_err_errno(scan->err, errno, "directory %s", scan->path.bytes);
    mode_t wanted = exact ? 0755 : 0700, counts = exact ? 07777 & ~(mode_t)S_ISGID : 0700;
    if ((st.st_mode & counts) != wanted)
        fchmod(scan->fd, scan->path.used > 1 ? 0755 : 0700);
    return 0;
}

/* Notes an empty directory that the tree does not have: make, for one, takes it for a target that is up to date. */
static int note_empty(struct ap_wtscan *scan)
{
    const char *path = scan->path.bytes;
    struct stat st;
    if (!scan->touched || scan->path.used <= 1 || ap_wtlist_find(scan->list, path, scan->path.used - 1) != NULL)
        return 0;
    if (fstat(scan->fd, &st) != 0)
        return ap_err_errno(scan->err, errno, "directory %s", path);
    return ap_wtscan_note(scan, path, "added", &st, 0, false);
}

/* Looks at everything in the last directory of the queue. */
static int scan_directory(struct ap_wtscan *scan)
{
    if (dequeue(scan) != 0 || open_directory(scan) != 0 || open_up_directory(scan) != 0)
        return -1;
    int depth = 0;
    for (const char *at = scan->path.bytes; (at = strchr(at, '/')) != NULL; at++)
        depth++;
    if (depth >= DEPTH)
        return ap_err_set(scan->err, "EPATH", "deeper than %d directories", DEPTH);
    size_t base = scan->path.used > 1 ? scan->path.used : 0;
    bool empty = true;
    for (struct dirent *entry; (entry = readdir(scan->dir)) != NULL;) {
        const char *name = entry->d_name;
        if (name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0')))
            continue;
        empty = false;
        scan->path.used = base;
        if (base > 0)
            scan->path.bytes[base - 1] = '/';
        if (add_field(&scan->path, name) != 0)
            return ap_err_memory(scan->err);
        if (look(scan, entry->d_type) != 0)
            return -1;
    }
    return empty ? note_empty(scan) : 0;
}

int ap_wtscan_run(struct ap_wtscan *scan)
{
    struct ap_wtlist *list = scan->list;
    for (size_t i = 0; i < list->count; i++)
        list->entries[i].state = AP_WTLIST_MISSING;
    scan->now = ap_wtscan_now();
    scan->path.used = 0;
    if (add_field(&scan->path, "") != 0 || enqueue(scan) != 0)
        return ap_err_memory(scan->err);
    while (scan->queue.used > 0)
        if (scan_directory(scan) != 0)
            return -1;
    return 0;
}
