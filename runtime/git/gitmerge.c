/* SPDX-License-Identifier: MIT */
/* gitmerge: how two commits join: their base, their merge, reverting one of them. Returns trees or the conflicting
 * paths; makes no commit and moves no ref. Called by lgitobj.c. */
#include "git/gitmerge.h"

#include <string.h>

/* Names the commit that a history lacks. */
static int fail_history(struct ap_err *err, int result, const char *what)
{
    static const char missing[] = "no match for id (";
    const git_error *last = ap_gitlib.error_last();
    const char *id = last != NULL && last->message != NULL ? strstr(last->message, missing) : NULL;
    if (id == NULL)
        return ap_gitlib_fail(err, result, "%s", what);
    return ap_err_set(err, "EGIT",
        "the history lacks the commit %.*s, whose object is missing: git fetch --refetch REMOTE brings it, "
        "from a remote or the path of another copy",
        GIT_OID_HEXSZ, id + sizeof missing - 1);
}

int ap_gitmerge_base(git_oid *out, git_repository *repo, const git_oid *a, const git_oid *b, struct ap_err *err)
{
    int result = ap_gitlib.merge_base(out, repo, a, b);
    return result < 0 ? fail_history(err, result, "merge base") : 0;
}

int ap_gitmerge_descendant_of(
    bool *yes, git_repository *repo, const git_oid *commit, const git_oid *ancestor, struct ap_err *err)
{
    *yes = memcmp(commit, ancestor, sizeof *commit) == 0;
    if (*yes)
        return 0;
    int result = ap_gitlib.graph_descendant_of(repo, commit, ancestor);
    *yes = result == 1;
    return result < 0 ? fail_history(err, result, "history") : 0;
}

int ap_gitmerge_ahead_behind(
    size_t *ahead, size_t *behind, git_repository *repo, const git_oid *a, const git_oid *b, struct ap_err *err)
{
    int result = ap_gitlib.graph_ahead_behind(ahead, behind, repo, a, b);
    return result < 0 ? fail_history(err, result, "history") : 0;
}

static int list_conflicts(struct ap_buf *conflicts, git_index *index)
{
    git_index_conflict_iterator *iterator = NULL;
    const git_index_entry *sides[3];
    int result = ap_gitlib.index_conflict_iterator_new(&iterator, index);
    while (result == 0 && (result = ap_gitlib.index_conflict_next(&sides[0], &sides[1], &sides[2], iterator)) == 0) {
        const git_index_entry *side = sides[1] != NULL ? sides[1] : sides[2] != NULL ? sides[2] : sides[0];
        result = ap_buf_add(conflicts, side->path, strlen(side->path) + 1) != 0 ? AP_GITLIB_NO_MEMORY : 0;
    }
    ap_gitlib.index_conflict_iterator_free(iterator);
    return result == GIT_ITEROVER ? 0 : result;
}

/* The tree of a merge's index; frees the index. */
static int finish_merge(
    git_oid *out, struct ap_buf *conflicts, git_repository *repo, git_index *index, int result, struct ap_err *err)
{
    if (result == 0 && ap_gitlib.index_has_conflicts(index)) {
        result = list_conflicts(conflicts, index);
        if (result == 0)
            result = ap_err_set(err, "ECONFLICT", "both sides change the same place");
        else
            ap_gitlib_fail(err, result, "merge");
    } else {
        if (result == 0)
            result = ap_gitlib.index_write_tree_to(out, index, repo);
        if (result < 0)
            ap_gitlib_fail(err, result, "merge");
    }
    ap_gitlib.index_free(index);
    return result < 0 ? -1 : 0;
}

static const git_merge_options merge_options = {
    .version = GIT_MERGE_OPTIONS_VERSION,
    .flags = GIT_MERGE_FIND_RENAMES | GIT_MERGE_SKIP_REUC,
    .file_favor = GIT_MERGE_FILE_FAVOR_NORMAL,
};

int ap_gitmerge_commits(git_oid *out, struct ap_buf *conflicts, git_repository *repo, const git_oid *ours,
    const git_oid *theirs, struct ap_err *err)
{
    git_commit *our = NULL, *their = NULL;
    git_index *index = NULL;
    int result = ap_gitlib.commit_lookup(&our, repo, ours);
    if (result == 0)
        result = ap_gitlib.commit_lookup(&their, repo, theirs);
    if (result == 0)
        result = ap_gitlib.merge_commits(&index, repo, our, their, &merge_options);
    result = finish_merge(out, conflicts, repo, index, result, err);
    ap_gitlib.commit_free(our);
    ap_gitlib.commit_free(their);
    return result;
}

/* The tree that a commit was made from: its first parent's, or the empty one. */
static int parent_tree(git_tree **out, git_repository *repo, git_commit *commit, struct ap_err *err)
{
    git_commit *parent = NULL;
    git_oid id;
    if (ap_gitlib.commit_parentcount(commit) == 0)
        return ap_gitlib_edit_tree(&id, repo, NULL, NULL, 0, err) != 0 ? -1 : ap_gitlib_tree(out, repo, &id, err);
    int result = ap_gitlib.commit_lookup(&parent, repo, ap_gitlib.commit_parent_id(commit, 0));
    if (result == 0)
        result = ap_gitlib.commit_tree(out, parent);
    ap_gitlib.commit_free(parent);
    return result < 0 ? ap_gitlib_fail(err, result, "parent") : 0;
}

int ap_gitmerge_revert(git_oid *out, struct ap_buf *conflicts, git_repository *repo, const git_oid *commit,
    const git_oid *onto, struct ap_err *err)
{
    git_commit *undone = NULL;
    git_tree *from = NULL, *to = NULL, *ours = NULL;
    git_index *index = NULL;
    int result = ap_gitlib.commit_lookup(&undone, repo, commit);
    if (result == 0)
        result = ap_gitlib.commit_tree(&from, undone);
    if (result < 0)
        ap_gitlib_fail(err, result, "revert");
    else
        result = parent_tree(&to, repo, undone, err);
    if (result == 0)
        result = ap_gitlib_tree(&ours, repo, onto, err);
    if (result == 0) {
        result = ap_gitlib.merge_trees(&index, repo, from, ours, to, &merge_options);
        result = finish_merge(out, conflicts, repo, index, result, err);
    }
    ap_gitlib.tree_free(ours);
    ap_gitlib.tree_free(to);
    ap_gitlib.tree_free(from);
    ap_gitlib.commit_free(undone);
    return result < 0 ? -1 : 0;
}
