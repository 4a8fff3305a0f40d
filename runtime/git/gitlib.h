/* SPDX-License-Identifier: MIT */
/* gitlib: libgit2, loaded at first use because linking it costs every start 11 ms, and the tree editing that both git
 * and worktree need. A leaf, like err: knows no repository of ours and no directory. */
#ifndef AP_GITLIB_H
#define AP_GITLIB_H

#include <git2.h>
#include <git2/sys/commit.h>
#include <git2/sys/config.h>
#include <git2/sys/index.h>
#include <git2/sys/odb_backend.h>
#include <git2/sys/repository.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Every libgit2 function that apsis calls, without the prefix git_. */
/* clang-format off */
#define AP_GITLIB_FUNCTIONS(X) \
    X(libgit2_init) X(libgit2_opts) X(error_last) X(oid_fromstr) X(oid_tostr) X(object_lookup) X(object_peel) \
    X(object_free) X(object_id) X(object_type) X(repository_open_ext) X(repository_wrap_odb) X(repository_free) \
    X(repository_odb) X(repository_set_config) X(repository_set_index) X(repository_config) X(repository_path) \
    X(repository_commondir) X(repository_workdir) X(repository_is_bare) X(repository_is_shallow) X(config_new) \
    X(config_free) X(config_open_ondisk) X(config_get_string_buf) X(config_get_bool) X(config_iterator_new) \
    X(config_next) X(config_iterator_free) X(config_parse_bool) X(buf_dispose) X(index_new) X(index_free) \
    X(repository_index) X(index_caps) X(index_set_caps) X(index_read) X(index_get_bypath) \
    X(index_has_conflicts) X(index_write_tree_to) X(index_conflict_iterator_new) X(index_conflict_next) \
    X(index_conflict_iterator_free) X(revparse_single) X(reference_lookup) X(reference_name_to_id) X(reference_free) \
    X(reference_type) X(reference_target) X(reference_symbolic_target) X(reference_name) X(reference_resolve) \
    X(reference_create_matching) X(reference_remove) X(reference_iterator_glob_new) X(reference_iterator_new) \
    X(reference_next) X(reference_iterator_free) X(reference_name_is_valid) X(signature_new) X(signature_free) \
    X(commit_lookup) X(commit_free) X(commit_id) X(commit_tree) X(commit_tree_id) X(commit_parent_id) \
    X(commit_parentcount) X(commit_message) X(commit_author) X(commit_time) X(tree_lookup) X(tree_free) \
    X(tree_entrycount) X(tree_entry_byindex) X(tree_entry_bypath) X(tree_entry_free) X(tree_entry_id) \
    X(tree_entry_name) X(tree_entry_filemode) X(treebuilder_new) X(treebuilder_free) X(treebuilder_insert) \
    X(treebuilder_remove) X(treebuilder_get) X(treebuilder_entrycount) X(treebuilder_write) X(blob_lookup) \
    X(blob_free) X(blob_rawcontent) X(blob_rawsize) X(odb_new) X(odb_add_backend) X(odb_backend_loose) \
    X(odb_backend_pack) X(repository_set_odb) X(refdb_open) X(refdb_free) X(repository_set_refdb) \
    X(commit_create_buffer) X(odb_num_backends) X(odb_get_backend) X(odb_free) X(odb_hash) X(odb_write) \
    X(odb_read_header) X(odb_open_wstream) X(odb_stream_write) X(odb_stream_finalize_write) X(odb_stream_free) \
    X(revwalk_new) X(revwalk_free) X(revwalk_push) X(revwalk_hide) X(revwalk_next) X(merge_base) \
    X(graph_descendant_of) X(graph_ahead_behind) X(merge_commits) X(merge_trees) X(diff_tree_to_tree) \
    X(diff_find_similar) X(diff_num_deltas) X(diff_get_delta) X(diff_free) X(diff_to_buf) X(patch_from_diff) \
    X(patch_line_stats) X(patch_get_delta) X(patch_free) X(ignore_path_is_ignored) X(status_list_new) \
    X(status_list_entrycount) X(status_byindex) X(status_list_free) X(checkout_tree) \
    X(attr_get) X(attr_value)
/* clang-format on */

struct ap_gitlib {
#define AP_GITLIB_FIELD(name) __typeof__(&git_##name) name;
    AP_GITLIB_FUNCTIONS(AP_GITLIB_FIELD)
#undef AP_GITLIB_FIELD
};

/* Empty until ap_gitlib_load has returned 0. */
extern struct ap_gitlib ap_gitlib;

/* Loads and sets up libgit2 once: fsync on, no git configuration read. Code ENOLIB if it is not installed. */
int ap_gitlib_load(struct ap_err *err);

/* What our own functions return among libgit2's results. */
enum { AP_GITLIB_NO_MEMORY = -10000 };

/* How many times a write is repeated while `git gc` removes its folder. */
enum { AP_GITLIB_TRIES = 20 };

/* Fills err from libgit2's last error and its return value; returns -1. */
int ap_gitlib_fail(struct ap_err *err, int result, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same for a ref; ETORN and the remedy if its file is torn. */
int ap_gitlib_fail_ref(struct ap_err *err, int result, git_repository *repo, const char *name);

/* A repository of objects only, over the same object database: without working tree, index, attributes or
 * configuration, so that results depend only on the objects. */
int ap_gitlib_wrap(git_repository **out, git_repository *repo, struct ap_err *err);

/* Gives a repository an object database that looks for an object's own file before it looks into packs, and writes new
 * objects without opening packs: the index of each opened pack stays in memory. Does nothing if the repository has
 * alternates. */
int ap_gitlib_loose_first(git_repository *repo, struct ap_err *err);

/* Whether libgit2's last error was a missing file or folder: for a write, that `git gc` removed the folder. */
bool ap_gitlib_vanished(void);

/* `git gc` removes the folder of an object's file when it is empty, even between the steps of a write into it. From now
 * on each object of this repository is written again then. Streams are not: their writer must start again. */
int ap_gitlib_write_beside_gc(git_repository *repo, struct ap_err *err);

/* Writes an object and returns its id; libgit2's result. (git_blob_create_from_buffer writes a stream.) */
int ap_gitlib_write(git_oid *out, git_repository *repo, const void *bytes, size_t size, git_object_t type);

int ap_gitlib_tree(git_tree **out, git_repository *repo, const git_oid *id, struct ap_err *err);

/* 0 if path may be in a tree of ours; else code EPATH. Refuses empty, absolute, "..", ".", ".git" and NUL-bearing
 * paths. */
int ap_gitlib_check_path(const char *path, size_t length, struct ap_err *err);

struct ap_gitlib_edit {
    const char *path; /* '/'-separated, relative, NUL-terminated */
    unsigned mode;    /* 0: delete; else 100644, 100755, 120000 or 160000 (octal) */
    int keep_mode;    /* an existing 100755 keeps its mode, whatever `mode` is */
    git_oid id;
};

/* The tree that `base` (NULL: empty) becomes by these edits, which are sorted in place. Directories are created and
 * removed as needed; deleting a missing path is no error; a path through a file, or an entry over a directory, is
 * EPATH. */
int ap_gitlib_edit_tree(git_oid *out, git_repository *repo, const git_oid *base, struct ap_gitlib_edit *edits,
    size_t count, struct ap_err *err);

#endif
