/* SPDX-License-Identifier: MIT */
/* worktree: writes the difference to a tree into its directory, and turns what differs on disk into blobs and a tree.
 * Owns the directory: removes whatever is not in the tree. Never follows a symlink, never writes outside the directory,
 * never touches the user's working tree, refs or index. Called by lworktree.c. */
#define _GNU_SOURCE
#include "worktree/worktree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "worktree/dirtree.h"
#include "worktree/wtscan.h"
#include "worktree/wtwatch.h"

enum { STREAM_ABOVE = 8 << 20 };

struct ap_worktree {
    git_repository *objects;
    git_odb *odb;
    int root;
    struct ap_wtlist list;
    git_oid tree;
    struct ap_wtwatch watch;
    bool ready;    /* a checkout has succeeded, and none has failed since */
    bool unproven; /* a file's times do not show that it was written */
    struct ap_buf scratch;
};

static struct ap_wtscan scan_of(struct ap_worktree *worktree, bool strict, struct ap_err *err)
{
    return (struct ap_wtscan){.root = worktree->root,
        .list = &worktree->list,
        .odb = worktree->odb,
        .strict = strict,
        .unproven = worktree->unproven,
        .err = err};
}

int ap_worktree_open(struct ap_worktree **out, git_repository *repo, const char *dir, struct ap_err *err)
{
    struct ap_worktree *worktree = calloc(1, sizeof *worktree);
    if (worktree == NULL)
        return ap_err_memory(err);
    worktree->root = worktree->watch.fd = -1;
    int result = 0;
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        result = ap_err_errno(err, errno, "%s", dir);
    else if ((worktree->root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        result = ap_err_errno(err, errno, "%s", dir);
    else
        result = ap_worktree_renew(worktree, repo, err);
    worktree->unproven = result == 0 && !ap_dirtree_times_prove(worktree->root);
    if (result != 0) {
        ap_worktree_close(worktree);
        return -1;
    }
    *out = worktree;
    return 0;
}

int ap_worktree_renew(struct ap_worktree *worktree, git_repository *repo, struct ap_err *err)
{
    git_repository *objects = NULL;
    git_odb *odb = NULL;
    if (ap_gitlib_wrap(&objects, repo, err) != 0)
        return -1;
    if (ap_gitlib.repository_odb(&odb, objects) < 0) {
        ap_gitlib.repository_free(objects);
        return ap_gitlib_fail(err, -1, "object database");
    }
    ap_gitlib.odb_free(worktree->odb); /* NULL is nothing, for these two */
    ap_gitlib.repository_free(worktree->objects);
    worktree->objects = objects;
    worktree->odb = odb;
    return 0;
}

void ap_worktree_close(struct ap_worktree *worktree)
{
    if (worktree == NULL)
        return;
    if (worktree->root >= 0)
        close(worktree->root);
    ap_wtwatch_dispose(&worktree->watch);
    ap_wtlist_dispose(&worktree->list);
    ap_buf_dispose(&worktree->scratch);
    ap_gitlib.odb_free(worktree->odb); /* NULL is nothing, for these two */
    ap_gitlib.repository_free(worktree->objects);
    free(worktree);
}

bool ap_worktree_tree(git_oid *out, struct ap_worktree *worktree)
{
    *out = worktree->tree;
    return worktree->ready;
}

/* ---- checking out ---- */

/* The parent directory of the last path used, kept open. */
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
    size_t length = (size_t)(ap_wtscan_name(path) - path);
    length -= length > 0;
    if (parent->fd >= 0 && parent->path.used == length + 1 && memcmp(parent->path.bytes, path, length) == 0)
        return parent->fd;
    if (parent->fd >= 0)
        close(parent->fd);
    parent->fd = -1;
    parent->path.used = 0;
    if (ap_buf_add(&parent->path, path, length) != 0 || ap_buf_add(&parent->path, "", 1) != 0)
        return ap_err_memory(err);
    parent->fd = ap_dirtree_open(parent->root, parent->path.bytes);
    return parent->fd < 0 ? ap_err_errno(err, errno, "directory of %s", path) : parent->fd;
}

static int write_entry(struct ap_worktree *worktree, struct ap_wtlist_entry *entry, int parent, struct ap_err *err)
{
    const char *path = ap_wtlist_path(&worktree->list, entry);
    git_blob *blob = NULL;
    struct stat st;
    if (entry->state != AP_WTLIST_MISSING && ap_dirtree_remove(worktree->root, parent, ap_wtscan_name(path), err) != 0)
        return -1;
    if (entry->mode == GIT_FILEMODE_TREE || entry->mode == GIT_FILEMODE_COMMIT) {
        if (mkdirat(parent, ap_wtscan_name(path), 0755) != 0)
            return ap_err_errno(err, errno, "directory %s", path);
        return 0;
    }
    int result = ap_gitlib.blob_lookup(&blob, worktree->objects, &entry->id);
    if (result < 0)
        return ap_gitlib_fail(err, result, "%s", path);
    size_t size = (size_t)ap_gitlib.blob_rawsize(blob);
    result =
        ap_dirtree_write(&st, parent, ap_wtscan_name(path), ap_gitlib.blob_rawcontent(blob), size, entry->mode, err);
    ap_gitlib.blob_free(blob);
    if (result != 0)
        return -1;
    entry->blob_size = (int64_t)size;
    ap_wtscan_remember(entry, &st, INT64_MAX); /* settle() judges them all at the end */
    return 0;
}

static int remove_extras(size_t *removed, struct ap_wtscan *scan, struct parent *parent)
{
    size_t count = scan->starts.used / sizeof(size_t);
    for (size_t i = 0; i < count; i++) {
        const char *path = scan->found.bytes + ((size_t *)(void *)scan->starts.bytes)[i];
        int fd = parent_of(parent, path, scan->err);
        if (fd < 0 || ap_dirtree_remove(scan->root, fd, ap_wtscan_name(path), scan->err) != 0)
            return -1;
        ++*removed;
    }
    return 0;
}

/* Only when all writes are done is each safely in the past: entries written just now are marked to be checked again. */
static void settle(struct ap_wtlist *list)
{
    int64_t now = ap_wtscan_now();
    for (size_t i = 0; i < list->count; i++)
        if (list->entries[i].known && list->entries[i].stamp.ctime_ns + AP_WTSCAN_RACY_NS >= now)
            list->entries[i].racy = true;
}

static int bring(struct ap_worktree_done *done, struct ap_worktree *worktree, struct ap_err *err)
{
    struct ap_wtscan scan = scan_of(worktree, true, err);
    struct parent parent = {.root = worktree->root, .fd = -1};
    struct ap_wtlist *list = &worktree->list;
    int result = ap_wtscan_run(&scan);
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
    ap_wtscan_dispose(&scan);
    settle(list);
    return result;
}

int ap_worktree_assume(
    struct ap_worktree *worktree, const git_oid *tree, const char **hide, size_t hide_count, struct ap_err *err)
{
    struct ap_wtlist list = {0};
    struct ap_wtlist_hide hidden = {hide, hide_count};
    if (ap_wtlist_build(&list, &worktree->list, worktree->objects, tree, &hidden, err) != 0)
        return -1;
    ap_wtlist_dispose(&worktree->list);
    ap_wtwatch_forget(&worktree->watch);
    worktree->list = list;
    worktree->tree = *tree;
    worktree->ready = true;
    return 0;
}

int ap_worktree_checkout(struct ap_worktree_done *done, struct ap_worktree *worktree, const git_oid *tree,
    const char **hide, size_t hide_count, struct ap_err *err)
{
    *done = (struct ap_worktree_done){0};
    if (ap_worktree_assume(worktree, tree, hide, hide_count, err) != 0)
        return -1;
    worktree->ready = bring(done, worktree, err) == 0;
    return worktree->ready ? 0 : -1;
}

/* ---- reading back ---- */

static int by_path(const void *a, const void *b, void *bytes)
{
    return strcmp((char *)bytes + *(const size_t *)a, (char *)bytes + *(const size_t *)b);
}

/* Scans, and sorts scan->starts by path. */
static int find_changes(struct ap_wtscan *scan, const struct ap_worktree *worktree)
{
    struct ap_wtlist *list = scan->list;
    if (!worktree->ready)
        return ap_err_set(scan->err, "ESTATE", "nothing has been checked out here yet, or the last checkout failed");
    if (ap_wtscan_run(scan) != 0)
        return -1;
    for (size_t i = 0; i < list->count; i++) {
        struct ap_wtlist_entry *entry = &list->entries[i];
        bool file = entry->mode != GIT_FILEMODE_TREE && entry->mode != GIT_FILEMODE_COMMIT;
        if (file && !entry->hidden && entry->state == AP_WTLIST_MISSING &&
            ap_wtscan_note(scan, ap_wtlist_path(list, entry), "deleted", NULL, entry->mode, false) != 0)
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

int ap_worktree_watch(struct ap_worktree *worktree, struct ap_err *err)
{
    return ap_wtwatch_begin(&worktree->watch, worktree->root, &worktree->list, worktree->unproven, err);
}

int ap_worktree_changes(struct ap_buf *out, struct ap_worktree *worktree, bool touched, struct ap_err *err)
{
    struct ap_wtscan scan = scan_of(worktree, false, err);
    scan.touched = touched;
    if (touched)
        ap_wtwatch_mark(&worktree->watch, worktree->root, &worktree->list, worktree->unproven);
    int result = find_changes(&scan, worktree);
    for (size_t i = 0; result == 0 && i < scan.starts.used / sizeof(size_t); i++) {
        const char *record = scan.found.bytes + ((size_t *)(void *)scan.starts.bytes)[i];
        if (ap_buf_add(out, record, (size_t)(skip_fields(record, AP_WTSCAN_FIELDS) - record)) != 0)
            result = ap_err_memory(err);
    }
    ap_wtscan_dispose(&scan);
    return result;
}

static int stream_once(git_oid *out, git_odb *odb, int fd, int64_t size)
{
    git_odb_stream *stream = NULL;
    char bytes[65536];
    ssize_t count = 0;
    off_t at = 0;
    int result = ap_gitlib.odb_open_wstream(&stream, odb, (git_object_size_t)size, GIT_OBJECT_BLOB);
    while (result == 0 && (count = pread(fd, bytes, sizeof bytes, at)) > 0) {
        result = ap_gitlib.odb_stream_write(stream, bytes, (size_t)count);
        at += count;
    }
    if (result == 0)
        result = count < 0 ? -1 : ap_gitlib.odb_stream_finalize_write(out, stream);
    ap_gitlib.odb_stream_free(stream);
    return result;
}

static int stream_blob(git_oid *out, git_odb *odb, int fd, int64_t size)
{
    int result = stream_once(out, odb, fd, size);
    for (int again = 0; again < AP_GITLIB_TRIES && result < 0 && ap_gitlib_vanished(); again++)
        result = stream_once(out, odb, fd, size);
    return result;
}

/* Writes the blob of what is now at parent/name. */
static int write_blob(struct ap_gitlib_edit *edit, struct ap_worktree *worktree, int parent, struct ap_err *err)
{
    const char *name = ap_wtscan_name(edit->path);
    struct ap_buf *bytes = &worktree->scratch;
    struct stat st;
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return ap_err_errno(err, errno, "%s", edit->path);
    if (!ap_wtscan_is_ordinary(&st))
        return ap_err_set(err, "EPATH", "%s is neither a file nor a symlink", edit->path);
    edit->mode = ap_wtscan_mode(&st);
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

int ap_worktree_write_tree(
    git_oid *out, struct ap_worktree *worktree, const struct ap_worktree_pick *picks, size_t count, struct ap_err *err)
{
    struct parent parent = {.root = worktree->root, .fd = -1};
    struct ap_gitlib_edit *edits = calloc(count + 1, sizeof *edits);
    size_t used = 0;
    int result = 0;
    if (!worktree->ready)
        result = ap_err_set(err, "ESTATE", "nothing has been checked out here yet, or the last checkout failed");
    else if (edits == NULL)
        result = ap_err_memory(err);
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
    struct ap_wtscan scan = scan_of(worktree, false, err);
    struct ap_worktree_pick *picks = NULL;
    int result = find_changes(&scan, worktree);
    size_t count = scan.starts.used / sizeof(size_t), used = 0;
    if (result == 0 && (picks = calloc(count + 1, sizeof *picks)) == NULL)
        result = ap_err_memory(err);
    for (size_t i = 0; i < count && result == 0; i++) {
        const char *record = scan.found.bytes + ((size_t *)(void *)scan.starts.bytes)[i];
        picks[used++] = (struct ap_worktree_pick){record, strcmp(skip_fields(record, 1), "deleted") == 0};
    }
    if (result == 0)
        result = ap_worktree_write_tree(out, worktree, picks, used, err);
    free(picks);
    ap_wtscan_dispose(&scan);
    return result;
}
