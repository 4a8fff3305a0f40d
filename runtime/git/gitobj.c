/* SPDX-License-Identifier: MIT */
/* gitobj: reads commits, trees and blobs by id, and computes their differences. Knows no refs and no working tree;
 * writes nothing. Called by lgitobj.c. */
#include "git/gitobj.h"

#include <stdio.h>
#include <string.h>

enum { TREE_DEPTH = 1000, BINARY_ABOVE = 64 << 20 };

static int add_field(struct ap_buf *out, const char *text)
{
    return ap_buf_add(out, text, strlen(text) + 1);
}

static int add_id(struct ap_buf *out, const git_oid *id)
{
    char hex[GIT_OID_HEXSZ + 1];
    ap_gitlib.oid_tostr(hex, sizeof hex, id);
    return ap_buf_add(out, hex, sizeof hex);
}

static int add_number(struct ap_buf *out, const char *format, long long number)
{
    char text[32];
    snprintf(text, sizeof text, format, number);
    return add_field(out, text);
}

/* ---- commits ---- */

static int add_commit(struct ap_buf *out, git_commit *commit)
{
    const git_signature *author = ap_gitlib.commit_author(commit);
    unsigned count = ap_gitlib.commit_parentcount(commit);
    int result = add_id(out, ap_gitlib.commit_id(commit)) | add_id(out, ap_gitlib.commit_tree_id(commit));
    for (unsigned i = 0; i < count && result == 0; i++) {
        result = add_id(out, ap_gitlib.commit_parent_id(commit, i));
        if (result == 0)
            out->bytes[out->used - 1] = i + 1 < count ? ' ' : '\0';
    }
    if (count == 0 && result == 0)
        result = add_field(out, "");
    const char *message = ap_gitlib.commit_message(commit);
    return result | add_field(out, author->name) | add_field(out, author->email) |
           add_number(out, "%lld", ap_gitlib.commit_time(commit)) | add_field(out, message != NULL ? message : "");
}

int ap_gitobj_commit(struct ap_buf *out, git_repository *repo, const git_oid *id, struct ap_err *err)
{
    git_commit *commit = NULL;
    int result = ap_gitlib.commit_lookup(&commit, repo, id);
    if (result < 0)
        return ap_gitlib_fail(err, result, "commit");
    result = add_commit(out, commit);
    ap_gitlib.commit_free(commit);
    return result != 0 ? ap_err_memory(err) : 0;
}

/* The id at path in a commit's tree; zero if there is none. */
static int id_at(git_oid *out, git_repository *repo, const git_oid *commit_id, const char *path)
{
    git_commit *commit = NULL;
    git_tree *tree = NULL;
    git_tree_entry *entry = NULL;
    memset(out, 0, sizeof *out);
    int result = ap_gitlib.commit_lookup(&commit, repo, commit_id);
    if (result == 0)
        result = ap_gitlib.commit_tree(&tree, commit);
    if (result == 0) {
        result = ap_gitlib.tree_entry_bypath(&entry, tree, path);
        if (result == 0)
            *out = *ap_gitlib.tree_entry_id(entry);
        else if (result == GIT_ENOTFOUND)
            result = 0;
    }
    ap_gitlib.tree_entry_free(entry);
    ap_gitlib.tree_free(tree);
    ap_gitlib.commit_free(commit);
    return result;
}

/* Same as git log PATH: a commit that agrees with one of its parents there did not change it. */
static int changes_path(bool *changes, git_repository *repo, git_commit *commit, const char *path)
{
    git_oid mine, theirs;
    unsigned count = ap_gitlib.commit_parentcount(commit);
    int result = id_at(&mine, repo, ap_gitlib.commit_id(commit), path);
    *changes = count > 0 || memcmp(&mine, &(git_oid){{0}}, sizeof mine) != 0;
    for (unsigned i = 0; i < count && result == 0 && *changes; i++) {
        result = id_at(&theirs, repo, ap_gitlib.commit_parent_id(commit, i), path);
        *changes = memcmp(&mine, &theirs, sizeof mine) != 0;
    }
    return result;
}

static int log_one(struct ap_buf *out, size_t *count, git_repository *repo, const git_oid *id, const char *path)
{
    git_commit *commit = NULL;
    bool wanted = true;
    int result = ap_gitlib.commit_lookup(&commit, repo, id);
    if (result == 0 && path != NULL)
        result = changes_path(&wanted, repo, commit, path);
    if (result == 0 && wanted) {
        (*count)++;
        result = add_commit(out, commit) != 0 ? AP_GITLIB_NO_MEMORY : 0;
    }
    ap_gitlib.commit_free(commit);
    return result;
}

int ap_gitobj_log(struct ap_buf *out, git_repository *repo, const git_oid *id, const git_oid *hide, const char *path,
    size_t max, struct ap_err *err)
{
    git_revwalk *walk = NULL;
    git_oid at;
    size_t count = 0;
    if (path != NULL && ap_gitlib_check_path(path, strlen(path), err) != 0)
        return -1;
    int result = ap_gitlib.revwalk_new(&walk, repo);
    if (result == 0)
        result = ap_gitlib.revwalk_push(walk, id);
    if (result == 0 && hide != NULL)
        result = ap_gitlib.revwalk_hide(walk, hide);
    while (result == 0 && (max == 0 || count < max) && (result = ap_gitlib.revwalk_next(&at, walk)) == 0)
        result = log_one(out, &count, repo, &at, path);
    ap_gitlib.revwalk_free(walk);
    if (result < 0 && result != GIT_ITEROVER && !(result == GIT_ENOTFOUND && count > 0))
        return ap_gitlib_fail(err, result, "history");
    return 0;
}

/* ---- trees ---- */

/* For an object that a tree names and libgit2 does not find: it is missing or unreadable. libgit2 does not report
 * which, and the code must differ from that of a missing path. */
static int unreadable(struct ap_err *err, const char *path)
{
    const git_error *last = ap_gitlib.error_last();
    return ap_err_set(err, "EGIT", "%s: its object is missing or cannot be read: %s", path,
        last != NULL && last->message != NULL ? last->message : "refused by libgit2");
}

static int find_entry(
    git_tree_entry **out, git_repository *repo, const git_oid *tree_id, const char *path, struct ap_err *err)
{
    git_tree *tree = NULL;
    if (ap_gitlib_check_path(path, strlen(path), err) != 0 || ap_gitlib_tree(&tree, repo, tree_id, err) != 0)
        return -1;
    int result = ap_gitlib.tree_entry_bypath(out, tree, path);
    ap_gitlib.tree_free(tree);
    if (result == GIT_ENOTFOUND)
        return ap_err_set(err, "ENOENT", "there is no %s in that tree", path);
    return result < 0 ? ap_gitlib_fail(err, result, "%s", path) : 0;
}

int ap_gitobj_has(bool *has, git_repository *repo, const git_oid *tree, const char *path, struct ap_err *err)
{
    struct ap_err why = {0};
    git_tree_entry *entry = NULL;
    *has = find_entry(&entry, repo, tree, path, &why) == 0;
    ap_gitlib.tree_entry_free(entry);
    if (!*has && strcmp(why.code, "ENOENT") != 0)
        return ap_err_set(err, why.code, "%s", why.message);
    return 0;
}

int ap_gitobj_read(
    struct ap_buf *out, unsigned *mode, git_repository *repo, const git_oid *tree, const char *path, struct ap_err *err)
{
    git_tree_entry *entry = NULL;
    git_blob *blob = NULL;
    int result = -1;
    if (find_entry(&entry, repo, tree, path, err) != 0)
        return -1;
    *mode = ap_gitlib.tree_entry_filemode(entry);
    if (*mode == GIT_FILEMODE_TREE || *mode == GIT_FILEMODE_COMMIT) {
        bool directory = *mode == GIT_FILEMODE_TREE;
        ap_err_set(err, directory ? "EISDIR" : "ESUBMODULE", "%s is a %s", path, directory ? "directory" : "submodule");
        goto out;
    }
    result = ap_gitlib.blob_lookup(&blob, repo, ap_gitlib.tree_entry_id(entry));
    if (result == GIT_ENOTFOUND)
        unreadable(err, path);
    else if (result < 0)
        ap_gitlib_fail(err, result, "%s", path);
    else if (ap_buf_add(out, ap_gitlib.blob_rawcontent(blob), (size_t)ap_gitlib.blob_rawsize(blob)) != 0)
        result = ap_err_memory(err);
out:
    ap_gitlib.blob_free(blob);
    ap_gitlib.tree_entry_free(entry);
    return result < 0 ? -1 : 0;
}

static int add_entry(struct ap_buf *out, const char *path, const git_tree_entry *entry)
{
    return add_field(out, path) | add_number(out, "%06llo", (long long)ap_gitlib.tree_entry_filemode(entry)) |
           add_id(out, ap_gitlib.tree_entry_id(entry));
}

/* A tree's own order is that of whole paths, so a plain walk is sorted. `path` ends where this tree's names are
 * appended. */
static int add_entries(struct ap_buf *out, struct ap_buf *path, git_repository *repo, const git_oid *tree_id, int depth,
    struct ap_err *err)
{
    git_tree *tree = NULL;
    if (depth > TREE_DEPTH)
        return ap_err_set(err, "EPATH", "a tree is deeper than %d directories", TREE_DEPTH);
    if (ap_gitlib_tree(&tree, repo, tree_id, err) != 0)
        return -1;
    size_t count = ap_gitlib.tree_entrycount(tree), base = path->used;
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        const git_tree_entry *entry = ap_gitlib.tree_entry_byindex(tree, i);
        bool directory = ap_gitlib.tree_entry_filemode(entry) == GIT_FILEMODE_TREE;
        path->used = base;
        if (add_field(path, ap_gitlib.tree_entry_name(entry)) != 0)
            result = ap_err_memory(err);
        else if (!directory && add_entry(out, path->bytes, entry) != 0)
            result = ap_err_memory(err);
        else if (directory) {
            path->bytes[path->used - 1] = '/';
            result = add_entries(out, path, repo, ap_gitlib.tree_entry_id(entry), depth + 1, err);
        }
    }
    path->used = base;
    ap_gitlib.tree_free(tree);
    return result;
}

static int add_entries_below(struct ap_buf *out, git_repository *repo, const git_oid *tree, const char *prefix,
    struct ap_buf *path, struct ap_err *err)
{
    struct ap_err why = {0};
    git_tree_entry *entry = NULL;
    if (find_entry(&entry, repo, tree, prefix, &why) != 0)
        return strcmp(why.code, "ENOENT") == 0 ? 0 : ap_err_set(err, why.code, "%s", why.message);
    int result = add_field(path, prefix);
    if (result != 0)
        ap_err_memory(err);
    else if (ap_gitlib.tree_entry_filemode(entry) == GIT_FILEMODE_TREE) {
        path->bytes[path->used - 1] = '/';
        result = add_entries(out, path, repo, ap_gitlib.tree_entry_id(entry), 0, err);
    } else if (add_entry(out, prefix, entry) != 0)
        result = ap_err_memory(err);
    ap_gitlib.tree_entry_free(entry);
    return result;
}

int ap_gitobj_entries(
    struct ap_buf *out, git_repository *repo, const git_oid *tree, const char *prefix, struct ap_err *err)
{
    struct ap_buf path = {0}, below = {0};
    int result;
    size_t length = prefix != NULL ? strlen(prefix) : 0;
    if (length == 0) {
        result = add_entries(out, &path, repo, tree, 0, err);
    } else {
        result = ap_buf_add(&below, prefix, length + 1);
        if (result != 0)
            ap_err_memory(err);
        else if (below.bytes[length - 1] == '/')
            below.bytes[length - 1] = '\0';
        if (result == 0)
            result = add_entries_below(out, repo, tree, below.bytes, &path, err);
    }
    ap_buf_dispose(&below);
    ap_buf_dispose(&path);
    return result;
}

/* ---- differences ---- */

static int make_diff(git_diff **out, git_repository *repo, const git_oid *a, const git_oid *b,
    const struct ap_gitobj_diff *diff, unsigned flags, struct ap_err *err)
{
    git_tree *old = NULL, *new = NULL;
    git_diff_options options = {.version = GIT_DIFF_OPTIONS_VERSION,
        .flags = GIT_DIFF_DISABLE_PATHSPEC_MATCH | flags,
        .ignore_submodules = GIT_SUBMODULE_IGNORE_UNSPECIFIED,
        .context_lines = 3,
        .max_size = BINARY_ABOVE};
    git_diff_find_options find = {.version = GIT_DIFF_FIND_OPTIONS_VERSION, .flags = GIT_DIFF_FIND_RENAMES};
    if (diff != NULL) {
        options.context_lines = diff->context;
        options.pathspec.strings = diff->paths;
        options.pathspec.count = diff->path_count;
    }
    int result = -1;
    if (ap_gitlib_tree(&old, repo, a, err) != 0 || ap_gitlib_tree(&new, repo, b, err) != 0)
        goto out;
    result = ap_gitlib.diff_tree_to_tree(out, repo, old, new, &options);
    if (result == 0)
        result = ap_gitlib.diff_find_similar(*out, &find);
    if (result < 0)
        ap_gitlib_fail(err, result, "diff");
out:
    ap_gitlib.tree_free(old);
    ap_gitlib.tree_free(new);
    return result < 0 ? -1 : 0;
}

int ap_gitobj_patch(struct ap_buf *out, git_repository *repo, const git_oid *a, const git_oid *b,
    const struct ap_gitobj_diff *diff, struct ap_err *err)
{
    git_diff *made = NULL;
    git_buf text = {0};
    int result = make_diff(&made, repo, a, b, diff, 0, err);
    if (result == 0) {
        result = ap_gitlib.diff_to_buf(&text, made, GIT_DIFF_FORMAT_PATCH);
        if (result < 0)
            ap_gitlib_fail(err, result, "patch");
        else if (ap_buf_add(out, text.ptr, text.size) != 0)
            result = ap_err_memory(err);
    }
    ap_gitlib.buf_dispose(&text);
    ap_gitlib.diff_free(made);
    return result < 0 ? -1 : 0;
}

static const char *status_name(git_delta_t status)
{
    switch (status) {
    case GIT_DELTA_ADDED:
        return "added";
    case GIT_DELTA_DELETED:
        return "deleted";
    case GIT_DELTA_RENAMED:
        return "renamed";
    case GIT_DELTA_TYPECHANGE:
        return "type";
    default:
        return "modified";
    }
}

static int add_change(struct ap_buf *out, size_t *changed_lines, git_diff *diff, size_t index)
{
    git_patch *patch = NULL;
    size_t added = 0, deleted = 0;
    int result = ap_gitlib.patch_from_diff(&patch, diff, index);
    if (result == 0 && patch != NULL)
        result = ap_gitlib.patch_line_stats(NULL, &added, &deleted, patch);
    if (result < 0)
        goto out;
    const git_diff_delta *delta =
        patch != NULL ? ap_gitlib.patch_get_delta(patch) : ap_gitlib.diff_get_delta(diff, index);
    bool binary = (delta->flags & GIT_DIFF_FLAG_BINARY) != 0, gone = delta->status == GIT_DELTA_DELETED;
    *changed_lines += binary ? 1 : added + deleted;
    if ((add_field(out, gone ? delta->old_file.path : delta->new_file.path) |
            add_field(out, delta->status == GIT_DELTA_RENAMED ? delta->old_file.path : "") |
            add_field(out, status_name(delta->status)) | add_number(out, "%06llo", delta->new_file.mode) |
            add_number(out, "%06llo", delta->old_file.mode) | add_id(out, &delta->new_file.id) |
            add_number(out, "%lld", (long long)added) | add_number(out, "%lld", (long long)deleted)) != 0)
        result = AP_GITLIB_NO_MEMORY;
out:
    ap_gitlib.patch_free(patch);
    return result;
}

int ap_gitobj_changes(struct ap_buf *out, size_t *changed_lines, git_repository *repo, const git_oid *a,
    const git_oid *b, struct ap_err *err)
{
    git_diff *diff = NULL;
    *changed_lines = 0;
    int result = make_diff(&diff, repo, a, b, NULL, GIT_DIFF_INCLUDE_TYPECHANGE, err);
    if (result == 0) {
        size_t count = ap_gitlib.diff_num_deltas(diff);
        for (size_t i = 0; i < count && result == 0; i++)
            result = add_change(out, changed_lines, diff, i);
        if (result < 0)
            ap_gitlib_fail(err, result, "changes");
    }
    ap_gitlib.diff_free(diff);
    return result < 0 ? -1 : 0;
}
