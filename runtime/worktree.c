/* SPDX-License-Identifier: MIT */
/* worktree: looks at the directory in one pass that both checkout and changes use, writes what differs, and turns what is on
 * disk into blobs and a tree. The directory belongs to it: whatever is not in the tree goes. Never follows a symlink, never
 * writes outside the directory, never touches the user's own working tree, refs or index. Called by lworktree.c. */
#define _GNU_SOURCE
#include "worktree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "dirtree.h"
#include "wtlist.h"

enum {
    DEPTH = 4096,
    STREAM_ABOVE = 8 << 20,
    FIELDS = 7,
    RACY_NS = 20 * 1000 * 1000, /* file times advance in steps of about 4 ms: nearer than this they prove nothing */
};

struct ap_worktree {
    git_repository *objects;
    git_odb *odb;
    int root;
    struct ap_wtlist list;
    git_oid tree;
    bool ready; /* a checkout has succeeded, and none failed since */
    struct ap_buf scratch;
};

static int out_of_memory(struct ap_err *err)
{
    return ap_err_set(err, "ENOMEM", "out of memory");
}

static int64_t nanoseconds(struct timespec at)
{
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return nanoseconds(now);
}

int ap_worktree_open(struct ap_worktree **out, git_repository *repo, const char *dir, struct ap_err *err)
{
    struct ap_worktree *worktree = calloc(1, sizeof *worktree);
    if (worktree == NULL)
        return out_of_memory(err);
    worktree->root = -1;
    int result = 0;
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        result = ap_err_errno(err, errno, "%s", dir);
    else if ((worktree->root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        result = ap_err_errno(err, errno, "%s", dir);
    else
        result = ap_gitlib_wrap(&worktree->objects, repo, err);
    if (result == 0 && ap_gitlib.repository_odb(&worktree->odb, worktree->objects) < 0)
        result = ap_gitlib_fail(err, -1, "object database");
    if (result != 0) {
        ap_worktree_close(worktree);
        return -1;
    }
    *out = worktree;
    return 0;
}

void ap_worktree_close(struct ap_worktree *worktree)
{
    if (worktree == NULL)
        return;
    if (worktree->root >= 0)
        close(worktree->root);
    ap_wtlist_dispose(&worktree->list);
    ap_buf_dispose(&worktree->scratch);
    if (worktree->odb != NULL)
        ap_gitlib.odb_free(worktree->odb);
    if (worktree->objects != NULL)
        ap_gitlib.repository_free(worktree->objects);
    free(worktree);
}

git_repository *ap_worktree_objects(struct ap_worktree *worktree)
{
    return worktree->objects;
}

bool ap_worktree_tree(git_oid *out, struct ap_worktree *worktree)
{
    *out = worktree->tree;
    return worktree->ready;
}

/* ---- looking ---- */

/* One pass over the directory. Strict (for checkout): permissions, owner and link count matter too, and what is not in the
 * tree is noted without a look inside; otherwise the findings are full records. */
struct scan {
    struct ap_worktree *worktree;
    bool strict;
    int64_t now;
    int fd;               /* the directory being read */
    struct ap_buf path;   /* of what is being looked at, NUL-terminated */
    struct ap_buf queue;  /* directories still to be read: path, NUL, and a size_t with its length */
    struct ap_buf found;  /* FIELDS fields each; strict: the path alone */
    struct ap_buf starts; /* size_t: where each finding begins */
    struct ap_err *err;
};

static void scan_dispose(struct scan *scan)
{
    ap_buf_dispose(&scan->path);
    ap_buf_dispose(&scan->queue);
    ap_buf_dispose(&scan->found);
    ap_buf_dispose(&scan->starts);
}

static int add_field(struct ap_buf *out, const char *text)
{
    return ap_buf_add(out, text, strlen(text) + 1);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static unsigned git_mode(const struct stat *st)
{
    if (S_ISLNK(st->st_mode))
        return GIT_FILEMODE_LINK;
    return st->st_mode & 0100 ? GIT_FILEMODE_BLOB_EXECUTABLE : GIT_FILEMODE_BLOB;
}

static bool is_ordinary(const struct stat *st)
{
    return S_ISREG(st->st_mode) || S_ISLNK(st->st_mode);
}

static int note(struct scan *scan, const char *path, const char *kind, const struct stat *st, unsigned old_mode, bool hidden)
{
    char mode[16] = "", size[24] = "0", old[16] = "";
    struct ap_buf *target = &scan->worktree->scratch;
    bool file = st != NULL && is_ordinary(st) && strcasecmp(base_name(path), ".git") != 0;
    target->used = 0;
    if (st != NULL)
        snprintf(mode, sizeof mode, file ? "%06o" : "other", git_mode(st));
    if (file)
        snprintf(size, sizeof size, "%lld", (long long)st->st_size);
    if (old_mode != 0)
        snprintf(old, sizeof old, "%06o", old_mode);
    if (file && S_ISLNK(st->st_mode) && ap_dirtree_read_link(target, scan->fd, base_name(path)) != 0)
        return ap_err_errno(scan->err, errno, "%s", path);
    if ((ap_buf_add(&scan->starts, &scan->found.used, sizeof scan->found.used) | add_field(&scan->found, path) |
         add_field(&scan->found, kind) | add_field(&scan->found, mode) | add_field(&scan->found, size) |
         ap_buf_add(&scan->found, target->bytes, target->used) | add_field(&scan->found, "") | add_field(&scan->found, old) |
         add_field(&scan->found, hidden ? "1" : "")) != 0)
        return out_of_memory(scan->err);
    return 0;
}

static struct ap_wtlist_stamp stamp_of(const struct stat *st)
{
    return (struct ap_wtlist_stamp){st->st_size, nanoseconds(st->st_mtim), nanoseconds(st->st_ctim), st->st_ino, st->st_mode};
}

static bool same_stamp(const struct ap_wtlist_stamp *a, const struct ap_wtlist_stamp *b)
{
    return a->size == b->size && a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns && a->ino == b->ino &&
           a->mode == b->mode;
}

static void remember(struct ap_wtlist_entry *entry, const struct stat *st, int64_t now)
{
    entry->stamp = stamp_of(st);
    entry->known = true;
    entry->racy = entry->stamp.ctime_ns + RACY_NS >= now;
    entry->state = AP_WTLIST_SAME;
}

static int ask_size(struct scan *scan, struct ap_wtlist_entry *entry)
{
    size_t size;
    git_object_t type;
    if (entry->blob_size >= 0)
        return 0;
    int result = ap_gitlib.odb_read_header(&size, &type, scan->worktree->odb, &entry->id);
    if (result < 0)
        return ap_gitlib_fail(scan->err, result, "%s", ap_wtlist_path(&scan->worktree->list, entry));
    entry->blob_size = (int64_t)size;
    return 0;
}

/* Whether the file or symlink has the entry's bytes. */
static int same_bytes(bool *same, struct scan *scan, struct ap_wtlist_entry *entry, const struct stat *st)
{
    struct ap_buf *bytes = &scan->worktree->scratch;
    const char *name = base_name(scan->path.bytes);
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
    if (bytes->room > STREAM_ABOVE)
        ap_buf_dispose(bytes);
    return 0;
}

/* Permissions exactly as checkout gives them, ours, and under no other name. */
static bool is_as_written(const struct ap_wtlist_entry *entry, const struct stat *st)
{
    if (S_ISLNK(st->st_mode))
        return true;
    return (st->st_mode & 07777) == (entry->mode & 0777) && st->st_nlink == 1 && st->st_uid == geteuid();
}

/* A file or symlink where the tree has one. */
static int compare(struct scan *scan, struct ap_wtlist_entry *entry, const struct stat *st)
{
    struct ap_wtlist_stamp stamp = stamp_of(st);
    const char *kind = "modified";
    unsigned mode = git_mode(st);
    bool same = entry->known && !entry->racy && same_stamp(&stamp, &entry->stamp);
    entry->state = AP_WTLIST_DIFFERENT;
    if ((mode == GIT_FILEMODE_LINK) != (entry->mode == GIT_FILEMODE_LINK))
        kind = "type";
    else if (!same && same_bytes(&same, scan, entry, st) != 0)
        return -1;
    if (same && mode == entry->mode && (!scan->strict || is_as_written(entry, st))) {
        if (!entry->known || entry->racy || !same_stamp(&stamp, &entry->stamp))
            remember(entry, st, scan->now);
        entry->state = AP_WTLIST_SAME;
        return 0;
    }
    if (same)
        kind = "mode";
    return scan->strict ? 0 : note(scan, scan->path.bytes, kind, st, entry->mode, false);
}

static int enqueue(struct scan *scan)
{
    size_t length = scan->path.used;
    if (ap_buf_add(&scan->queue, scan->path.bytes, length) != 0 || ap_buf_add(&scan->queue, &length, sizeof length) != 0)
        return out_of_memory(scan->err);
    return 0;
}

/* What the tree does not have: to be removed, or "added". */
static int extra(struct scan *scan, const struct stat *st, bool hidden)
{
    const char *path = scan->path.bytes;
    if (!scan->strict && S_ISDIR(st->st_mode) && strcasecmp(base_name(path), ".git") != 0)
        return enqueue(scan);
    if (!scan->strict)
        return note(scan, path, "added", st, 0, hidden);
    if (ap_buf_add(&scan->starts, &scan->found.used, sizeof scan->found.used) != 0 || add_field(&scan->found, path) != 0)
        return out_of_memory(scan->err);
    return 0;
}

/* scan->path is root/.../name, `fd` its directory. */
static int look(struct scan *scan, unsigned char type)
{
    const char *path = scan->path.bytes;
    struct ap_wtlist_entry *entry = ap_wtlist_find(&scan->worktree->list, path, scan->path.used - 1);
    struct stat st = {.st_mode = S_IFDIR};
    if (type != DT_DIR && fstatat(scan->fd, base_name(path), &st, AT_SYMLINK_NOFOLLOW) != 0)
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
    if (S_ISDIR(st.st_mode)) /* the file is missing, and what is in the directory is added */
        return extra(scan, &st, false);
    if (!is_ordinary(&st) || entry->mode == GIT_FILEMODE_COMMIT) {
        if (scan->strict)
            return extra(scan, &st, false);
        entry->state = AP_WTLIST_DIFFERENT;
        return note(scan, path, "type", &st, entry->mode, false);
    }
    return compare(scan, entry, &st);
}

/* Takes the last directory off the queue and looks at all that is in it. */
static int scan_directory(struct scan *scan)
{
    size_t length;
    memcpy(&length, scan->queue.bytes + scan->queue.used - sizeof length, sizeof length);
    scan->queue.used -= sizeof length + length;
    scan->path.used = 0;
    if (ap_buf_add(&scan->path, scan->queue.bytes + scan->queue.used, length) != 0)
        return out_of_memory(scan->err);
    int fd = ap_dirtree_open(scan->worktree->root, scan->path.bytes), depth = 0;
    struct stat st;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL || fstat(fd, &st) != 0) {
        int errnum = errno;
        if (dir != NULL)
            closedir(dir);
        else if (fd >= 0)
            close(fd);
        return ap_err_errno(scan->err, errnum, "directory %s", scan->path.bytes);
    }
    bool root = length == 1;
    if ((st.st_mode & (scan->strict && !root ? 07777 & ~02000 : 0700)) != (scan->strict && !root ? 0755 : 0700))
        fchmod(fd, root ? 0700 : 0755);
    for (const char *at = scan->path.bytes; (at = strchr(at, '/')) != NULL; at++)
        depth++;
    int result = depth < DEPTH ? 0 : ap_err_set(scan->err, "EPATH", "deeper than %d directories", DEPTH);
    size_t base = root ? 0 : length;
    scan->fd = fd;
    for (struct dirent *entry; result == 0 && (entry = readdir(dir)) != NULL;) {
        const char *name = entry->d_name;
        if (name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0')))
            continue;
        scan->path.used = base;
        if (base > 0)
            scan->path.bytes[base - 1] = '/';
        result = add_field(&scan->path, name) != 0 ? out_of_memory(scan->err) : look(scan, entry->d_type);
    }
    closedir(dir);
    return result;
}

static int scan_all(struct scan *scan)
{
    struct ap_wtlist *list = &scan->worktree->list;
    for (size_t i = 0; i < list->count; i++)
        list->entries[i].state = AP_WTLIST_MISSING;
    scan->now = now_ns();
    scan->path.used = 0;
    if (add_field(&scan->path, "") != 0 || enqueue(scan) != 0)
        return out_of_memory(scan->err);
    while (scan->queue.used > 0)
        if (scan_directory(scan) != 0)
            return -1;
    return 0;
}

/* ---- checking out ---- */

/* The parent directory of the last path asked for, kept open. */
struct parent {
    int root, fd;
    struct ap_buf path;
};

static void parent_dispose(struct parent *parent)
{
    if (parent->fd >= 0)
        close(parent->fd);
    ap_buf_dispose(&parent->path);
}

static int parent_of(struct parent *parent, const char *path, struct ap_err *err)
{
    size_t length = (size_t)(base_name(path) - path);
    length -= length > 0;
    if (parent->fd >= 0 && parent->path.used == length + 1 && memcmp(parent->path.bytes, path, length) == 0)
        return parent->fd;
    if (parent->fd >= 0)
        close(parent->fd);
    parent->fd = -1;
    parent->path.used = 0;
    if (ap_buf_add(&parent->path, path, length) != 0 || ap_buf_add(&parent->path, "", 1) != 0)
        return out_of_memory(err);
    parent->fd = ap_dirtree_open(parent->root, parent->path.bytes);
    return parent->fd < 0 ? ap_err_errno(err, errno, "directory of %s", path) : parent->fd;
}

static int write_entry(struct ap_worktree *worktree, struct ap_wtlist_entry *entry, int parent, struct ap_err *err)
{
    const char *path = ap_wtlist_path(&worktree->list, entry);
    git_blob *blob = NULL;
    struct stat st;
    if (entry->state != AP_WTLIST_MISSING && ap_dirtree_remove(worktree->root, parent, base_name(path), err) != 0)
        return -1;
    if (entry->mode == GIT_FILEMODE_TREE || entry->mode == GIT_FILEMODE_COMMIT) {
        if (mkdirat(parent, base_name(path), 0755) != 0)
            return ap_err_errno(err, errno, "directory %s", path);
        return 0;
    }
    int result = ap_gitlib.blob_lookup(&blob, worktree->objects, &entry->id);
    if (result < 0)
        return ap_gitlib_fail(err, result, "%s", path);
    size_t size = (size_t)ap_gitlib.blob_rawsize(blob);
    result = ap_dirtree_write(&st, parent, base_name(path), ap_gitlib.blob_rawcontent(blob), size, entry->mode, err);
    ap_gitlib.blob_free(blob);
    if (result != 0)
        return -1;
    entry->blob_size = (int64_t)size;
    remember(entry, &st, INT64_MAX); /* settle() judges all of them at the end */
    return 0;
}

static int remove_extras(size_t *removed, struct scan *scan, struct parent *parent)
{
    size_t count = scan->starts.used / sizeof(size_t);
    for (size_t i = 0; i < count; i++) {
        const char *path = scan->found.bytes + ((size_t *)(void *)scan->starts.bytes)[i];
        int fd = parent_of(parent, path, scan->err);
        if (fd < 0 || ap_dirtree_remove(scan->worktree->root, fd, base_name(path), scan->err) != 0)
            return -1;
        ++*removed;
    }
    return 0;
}

/* A write is safely in the past only when all are done: then what was written just now is marked to be looked at again. */
static void settle(struct ap_wtlist *list)
{
    int64_t now = now_ns();
    for (size_t i = 0; i < list->count; i++)
        if (list->entries[i].known && list->entries[i].stamp.ctime_ns + RACY_NS >= now)
            list->entries[i].racy = true;
}

static int bring(struct ap_worktree_done *done, struct ap_worktree *worktree, struct ap_err *err)
{
    struct scan scan = {.worktree = worktree, .strict = true, .err = err};
    struct parent parent = {.root = worktree->root, .fd = -1};
    struct ap_wtlist *list = &worktree->list;
    int result = scan_all(&scan);
    if (result == 0)
        result = remove_extras(&done->removed, &scan, &parent);
    for (size_t i = 0; i < list->count && result == 0; i++) {
        struct ap_wtlist_entry *entry = &list->entries[i];
        if (entry->hidden || entry->state == AP_WTLIST_SAME)
            continue;
        int fd = parent_of(&parent, ap_wtlist_path(list, entry), err);
        result = fd < 0 ? -1 : write_entry(worktree, entry, fd, err);
        done->written += result == 0 && entry->mode != GIT_FILEMODE_TREE;
    }
    parent_dispose(&parent);
    scan_dispose(&scan);
    settle(list);
    return result;
}

int ap_worktree_checkout(struct ap_worktree_done *done, struct ap_worktree *worktree, const git_oid *tree, const char **hide,
                         size_t hide_count, struct ap_err *err)
{
    struct ap_wtlist list = {0};
    struct ap_wtlist_hide hidden = {hide, hide_count};
    *done = (struct ap_worktree_done){0};
    if (ap_wtlist_build(&list, &worktree->list, worktree->objects, tree, &hidden, err) != 0)
        return -1;
    ap_wtlist_dispose(&worktree->list);
    worktree->list = list;
    worktree->ready = false;
    if (bring(done, worktree, err) != 0)
        return -1;
    worktree->tree = *tree;
    worktree->ready = true;
    return 0;
}

/* ---- reading back ---- */

static int by_path(const void *a, const void *b, void *bytes)
{
    return strcmp((char *)bytes + *(const size_t *)a, (char *)bytes + *(const size_t *)b);
}

/* Scans, and sorts scan->starts by path. */
static int find_changes(struct scan *scan)
{
    struct ap_wtlist *list = &scan->worktree->list;
    if (!scan->worktree->ready)
        return ap_err_set(scan->err, "ESTATE", "nothing has been checked out here yet, or the last checkout failed");
    if (scan_all(scan) != 0)
        return -1;
    for (size_t i = 0; i < list->count; i++) {
        struct ap_wtlist_entry *entry = &list->entries[i];
        bool file = entry->mode != GIT_FILEMODE_TREE && entry->mode != GIT_FILEMODE_COMMIT;
        if (file && !entry->hidden && entry->state == AP_WTLIST_MISSING &&
            note(scan, ap_wtlist_path(list, entry), "deleted", NULL, entry->mode, false) != 0)
            return -1;
    }
    size_t count = scan->starts.used / sizeof(size_t);
    if (count > 1)
        qsort_r(scan->starts.bytes, count, sizeof(size_t), by_path, scan->found.bytes);
    return 0;
}

static const char *skip_fields(const char *at, int count)
{
    while (count-- > 0)
        at += strlen(at) + 1;
    return at;
}

int ap_worktree_changes(struct ap_buf *out, struct ap_worktree *worktree, struct ap_err *err)
{
    struct scan scan = {.worktree = worktree, .err = err};
    int result = find_changes(&scan);
    for (size_t i = 0; result == 0 && i < scan.starts.used / sizeof(size_t); i++) {
        const char *record = scan.found.bytes + ((size_t *)(void *)scan.starts.bytes)[i];
        if (ap_buf_add(out, record, (size_t)(skip_fields(record, FIELDS) - record)) != 0)
            result = out_of_memory(err);
    }
    scan_dispose(&scan);
    return result;
}

static int stream_blob(git_oid *out, git_odb *odb, int fd, int64_t size)
{
    git_odb_stream *stream = NULL;
    char bytes[65536];
    ssize_t count = 0;
    int result = ap_gitlib.odb_open_wstream(&stream, odb, (git_object_size_t)size, GIT_OBJECT_BLOB);
    while (result == 0 && ((count = read(fd, bytes, sizeof bytes)) > 0 || (count < 0 && errno == EINTR)))
        if (count > 0)
            result = ap_gitlib.odb_stream_write(stream, bytes, (size_t)count);
    if (result == 0)
        result = count < 0 ? -1 : ap_gitlib.odb_stream_finalize_write(out, stream);
    ap_gitlib.odb_stream_free(stream);
    return result;
}

/* The blob of what stands at parent/name now. */
static int write_blob(struct ap_gitlib_edit *edit, struct ap_worktree *worktree, int parent, struct ap_err *err)
{
    const char *name = base_name(edit->path);
    struct ap_buf *bytes = &worktree->scratch;
    struct stat st;
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return ap_err_errno(err, errno, "%s", edit->path);
    if (!is_ordinary(&st))
        return ap_err_set(err, "EPATH", "%s is neither a file nor a symlink", edit->path);
    edit->mode = git_mode(&st);
    int fd = -1, result;
    bytes->used = 0;
    if (S_ISLNK(st.st_mode)) {
        result = ap_dirtree_read_link(bytes, parent, name);
    } else {
        fd = ap_dirtree_open_file(&st, parent, name);
        if (fd >= 0 && st.st_size > STREAM_ABOVE) {
            result = stream_blob(&edit->id, worktree->odb, fd, st.st_size);
            close(fd);
            return result < 0 ? ap_gitlib_fail(err, result, "%s", edit->path) : 0;
        }
        result = fd < 0 ? -1 : ap_dirtree_read(bytes, fd);
    }
    int errnum = errno;
    if (fd >= 0)
        close(fd);
    if (result != 0)
        return ap_err_errno(err, errnum, "%s", edit->path);
    result = ap_gitlib.odb_write(&edit->id, worktree->odb, bytes->bytes, bytes->used, GIT_OBJECT_BLOB);
    return result < 0 ? ap_gitlib_fail(err, result, "%s", edit->path) : 0;
}

int ap_worktree_write_tree(git_oid *out, struct ap_worktree *worktree, const struct ap_worktree_pick *picks, size_t count,
                           struct ap_err *err)
{
    struct parent parent = {.root = worktree->root, .fd = -1};
    struct ap_gitlib_edit *edits = calloc(count + 1, sizeof *edits);
    size_t used = 0;
    int result = 0;
    if (!worktree->ready)
        result = ap_err_set(err, "ESTATE", "nothing has been checked out here yet, or the last checkout failed");
    else if (edits == NULL)
        result = out_of_memory(err);
    for (size_t i = 0; i < count && result == 0; i++) {
        const char *path = picks[i].path;
        const struct ap_wtlist_entry *entry = ap_wtlist_find(&worktree->list, path, strlen(path));
        if (entry != NULL && entry->hidden)
            continue;
        struct ap_gitlib_edit *edit = &edits[used++];
        edit->path = path;
        result = ap_gitlib_check_path(path, strlen(path), err);
        if (result != 0 || picks[i].deleted)
            continue;
        int fd = parent_of(&parent, path, err);
        result = fd < 0 ? -1 : write_blob(edit, worktree, fd, err);
    }
    if (result == 0)
        result = ap_gitlib_edit_tree(out, worktree->objects, &worktree->tree, edits, used, err);
    free(edits);
    parent_dispose(&parent);
    return result;
}

int ap_worktree_write_all(git_oid *out, struct ap_worktree *worktree, struct ap_err *err)
{
    struct scan scan = {.worktree = worktree, .err = err};
    struct ap_worktree_pick *picks = NULL;
    int result = find_changes(&scan);
    size_t count = scan.starts.used / sizeof(size_t), used = 0;
    if (result == 0 && (picks = calloc(count + 1, sizeof *picks)) == NULL)
        result = out_of_memory(err);
    for (size_t i = 0; i < count && result == 0; i++) {
        const char *record = scan.found.bytes + ((size_t *)(void *)scan.starts.bytes)[i];
        const char *kind = skip_fields(record, 1);
        if (strcmp(skip_fields(record, 2), "other") == 0)
            result = ap_err_set(err, "EPATH", "%s is neither a file nor a symlink", record);
        picks[used++] = (struct ap_worktree_pick){record, strcmp(kind, "deleted") == 0};
    }
    if (result == 0)
        result = ap_worktree_write_tree(out, worktree, picks, used, err);
    free(picks);
    scan_dispose(&scan);
    return result;
}
