/* SPDX-License-Identifier: MIT */
/* test_gitcalls: each call of libgit2 that can fail does so once while one thing is done. It then fails, too, and says
 * why; or it gives what it gives without that. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/git.h"
#include "git/gitcheckout.h"
#include "git/gitmerge.h"
#include "git/gitobj.h"
#include "git/gitref.h"
#include "tap.h"
#include "worktree/worktree.h"

/* clang-format off */
#define FALLIBLE(X) \
    X(object_lookup) X(object_peel) X(repository_open_ext) X(repository_wrap_odb) X(repository_odb) \
    X(repository_set_config) X(repository_set_index) X(repository_config) X(config_new) X(config_open_ondisk) \
    X(config_get_bool) X(config_iterator_new) X(config_next) X(config_parse_bool) X(index_new) \
    X(index_write_tree_to) X(index_conflict_iterator_new) X(index_conflict_next) X(revparse_single) \
    X(reference_lookup) X(reference_name_to_id) X(reference_create_matching) X(reference_remove) \
    X(reference_iterator_glob_new) X(reference_iterator_new) X(reference_next) X(reference_name_is_valid) \
    X(signature_new) X(commit_lookup) X(commit_tree) X(tree_lookup) X(tree_entry_bypath) X(treebuilder_new) \
    X(treebuilder_insert) X(treebuilder_remove) X(treebuilder_write) X(blob_lookup) X(odb_new) X(odb_add_backend) \
    X(odb_backend_loose) X(odb_backend_pack) X(repository_set_odb) X(refdb_open) X(repository_set_refdb) \
    X(commit_create_buffer) X(odb_get_backend) X(odb_hash) X(odb_write) X(odb_read_header) X(odb_open_wstream) \
    X(odb_stream_write) X(odb_stream_finalize_write) X(revwalk_new) X(revwalk_push) X(revwalk_hide) X(revwalk_next) \
    X(merge_base) X(graph_descendant_of) X(graph_ahead_behind) X(merge_commits) X(merge_trees) X(diff_tree_to_tree) \
    X(diff_find_similar) X(diff_to_buf) X(patch_from_diff) X(patch_line_stats) X(ignore_path_is_ignored) \
    X(status_list_new) X(checkout_tree) X(attr_get)
/* clang-format on */

static int fail_at, calls; /* which call fails; 0: none */
static const char *failed; /* its name */
static int (*set_error)(int class, const char *text);

/* Of many calls of one function in a row, the first few stand for all. */
static bool fails(const char *name)
{
    static const char *last;
    static int again;
    again = name == last ? again + 1 : 0;
    last = name;
    if (fail_at == 0 || again > 3 || ++calls != fail_at)
        return false;
    failed = name;
    set_error(GIT_ERROR_INVALID, "made to fail");
    return true;
}

/* Every argument of these functions is a number or an address: a function of ten such can stand for any of them. */
typedef long any_function(long, long, long, long, long, long, long, long, long, long);

#define WRAPPER(name)                                                                                                  \
    static any_function *real_##name;                                                                                  \
    static long wrapped_##name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)         \
    {                                                                                                                  \
        return fails(#name) ? GIT_ERROR : real_##name(a, b, c, d, e, f, g, h, i, j);                                   \
    }
FALLIBLE(WRAPPER)

static void wrap_all(void)
{
    void *library = dlopen("libgit2.so." LIBGIT2_SOVERSION, RTLD_NOW | RTLD_NOLOAD);
    void *address = dlsym(library, "git_error_set_str");
    memcpy(&set_error, &address, sizeof address);
    any_function *wrapped;
#define WRAP(name)                                                                                                     \
    memcpy(&real_##name, &ap_gitlib.name, sizeof wrapped);                                                             \
    wrapped = wrapped_##name;                                                                                          \
    memcpy(&ap_gitlib.name, &wrapped, sizeof wrapped);
    FALLIBLE(WRAP)
}

static char dir[] = "/tmp/apsis-test-gitcalls-XXXXXX";
static struct ap_git *git;
static git_oid trees[4], commits[4]; /* the first, two that differ in other places, and one that collides */
static struct ap_err ignored;

static const char *in_dir(const char *name)
{
    static char paths[4][300];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(in_dir(name), "w");
    fputs(text, file);
    fclose(file);
}

static int keep(struct ap_buf *out, const void *bytes, size_t count, int result)
{
    return result != 0 ? result : ap_buf_add(out, bytes, count);
}

/* ---- what is done: each adds what it finds to out ---- */

static int opening(struct ap_buf *out, struct ap_err *err)
{
    struct ap_git *other = NULL;
    struct ap_git_info info;
    if (ap_git_open(&other, dir, err) != 0)
        return -1;
    int result = keep(out, &info, sizeof info, ap_git_info(&info, other, err));
    ap_git_close(other);
    return result;
}

static int renewing(struct ap_buf *out, struct ap_err *err)
{
    git_oid id;
    int result = ap_git_renew(git, err);
    return result != 0 ? result : keep(out, &id, sizeof id, ap_git_find(&id, git, "HEAD", GIT_OBJECT_TREE, err));
}

static int finding(struct ap_buf *out, struct ap_err *err)
{
    char hex[GIT_OID_HEXSZ + 1];
    git_oid id[2];
    ap_gitlib.oid_tostr(hex, sizeof hex, &commits[1]);
    int result = ap_git_find(&id[0], git, hex, GIT_OBJECT_TREE, err);
    return keep(out, id, sizeof id, result != 0 ? -1 : ap_git_find(&id[1], git, "main~0", GIT_OBJECT_COMMIT, err));
}

static int looking(struct ap_buf *out, struct ap_err *err)
{
    bool yes = false, encoded;
    size_t count = 0;
    int result = keep(out, &yes, sizeof yes, ap_git_is_ignored(&yes, git, "a.o", err));
    if (result == 0)
        result = ap_gitcheckout_dirty(out, &count, &encoded, ap_git_repository(git), true, 9, err);
    return keep(out, &count, sizeof count, result);
}

static int committing(struct ap_buf *out, struct ap_err *err)
{
    struct ap_git *other;
    struct ap_git_commit spec = {.tree = trees[1], .parents = commits, .parent_count = 2, .message = "m", .time = 1};
    git_oid id;
    int at = fail_at;
    fail_at = 0;
    if (ap_git_open(&other, dir, err) != 0)
        return -1;
    fail_at = at;
    int result = keep(out, &id, sizeof id, ap_git_commit(&id, other, &spec, err));
    ap_git_close(other);
    return result;
}

static int reading(struct ap_buf *out, struct ap_err *err)
{
    git_repository *objects = ap_git_objects(git);
    unsigned mode = 0;
    bool has[2] = {false, false};
    int result = ap_gitobj_commit(out, objects, &commits[1], err);
    if (result == 0)
        result = ap_gitobj_read(out, &mode, objects, &trees[1], "d/e/f", err);
    if (result == 0)
        result = ap_gitobj_has(&has[0], objects, &trees[1], "d/e", err);
    if (result == 0)
        result = ap_gitobj_has(&has[1], objects, &trees[1], "d/none", err);
    return keep(out, has, sizeof has, result);
}

static int listing(struct ap_buf *out, struct ap_err *err)
{
    git_repository *objects = ap_git_objects(git);
    int result = ap_gitobj_entries(out, objects, &trees[1], NULL, err);
    if (result == 0)
        result = ap_gitobj_entries(out, objects, &trees[1], "d/e", err);
    if (result == 0)
        result = ap_gitobj_entries(out, objects, &trees[1], "none", err);
    return result;
}

static int logging(struct ap_buf *out, struct ap_err *err)
{
    git_repository *objects = ap_git_objects(git);
    int result = ap_gitobj_log(out, objects, &commits[1], &commits[2], NULL, 0, err);
    return result != 0 ? result : ap_gitobj_log(out, objects, &commits[1], NULL, "a", 0, err);
}

static int comparing(struct ap_buf *out, struct ap_err *err)
{
    struct ap_gitobj_diff diff = {.context = 3};
    size_t lines = 0;
    int result = ap_gitobj_patch(out, ap_git_objects(git), &trees[0], &trees[1], &diff, err);
    if (result == 0)
        result = ap_gitobj_changes(out, &lines, ap_git_objects(git), &trees[0], &trees[1], err);
    return keep(out, &lines, sizeof lines, result);
}

static int joining(struct ap_buf *out, struct ap_err *err)
{
    git_repository *objects = ap_git_objects(git);
    git_oid id[3];
    size_t counts[2] = {0, 0};
    bool yes = false;
    int result = ap_gitmerge_base(&id[0], objects, &commits[1], &commits[2], err);
    if (result == 0)
        result = ap_gitmerge_descendant_of(&yes, objects, &commits[1], &commits[0], err);
    if (result == 0)
        result = ap_gitmerge_ahead_behind(&counts[0], &counts[1], objects, &commits[1], &commits[2], err);
    if (result == 0)
        result = ap_gitmerge_commits(&id[1], out, objects, &commits[1], &commits[2], err);
    if (result == 0)
        result = ap_gitmerge_revert(&id[2], out, objects, &commits[1], &trees[1], err);
    if (result == 0)
        result = keep(out, &yes, sizeof yes, ap_gitmerge_revert(&id[2], out, objects, &commits[0], &trees[0], err));
    return keep(out, id, sizeof id, keep(out, counts, sizeof counts, result));
}

static int colliding(struct ap_buf *out, struct ap_err *err)
{
    git_oid id;
    int result = ap_gitmerge_commits(&id, out, ap_git_objects(git), &commits[1], &commits[3], err);
    return result != 0 && strcmp(err->code, "ECONFLICT") == 0 ? 0 : -1;
}

static int naming(struct ap_buf *out, struct ap_err *err)
{
    git_repository *repo = ap_git_repository(git);
    git_oid id;
    char path[4096] = "";
    bool found = false;
    int result = keep(out, &id, sizeof id, ap_gitref_read(&id, repo, "refs/heads/main", err));
    if (result == 0)
        result = ap_gitref_symbolic(out, repo, "HEAD", err);
    if (result == 0)
        result = ap_gitref_list(out, repo, "refs/heads/", err);
    if (result == 0)
        result = ap_gitref_list(out, repo, "refs/heads/*", err);
    if (result == 0)
        result = keep(out, &found, sizeof found, ap_gitref_checked_out(&found, path, repo, "main", err));
    return keep(out, path, strlen(path), result);
}

static int moving(struct ap_buf *out, struct ap_err *err)
{
    git_repository *repo = ap_git_repository(git);
    git_oid now;
    int at = fail_at;
    fail_at = 0;
    ap_gitref_set(repo, "refs/heads/moved", &commits[0], AP_GITREF_ANYTHING, NULL, "m", &ignored);
    fail_at = at;
    int result = ap_gitref_set(repo, "refs/heads/moved", &commits[1], AP_GITREF_EXACTLY, &commits[0], "m", err);
    if (result == 0)
        result = keep(out, &now, sizeof now, ap_gitref_read(&now, repo, "refs/heads/moved", err));
    if (result == 0)
        result = ap_gitref_delete(repo, "refs/heads/moved", err);
    return keep(out, "", 1, result == 0 ? 0 : -1);
}

static int editing(struct ap_buf *out, struct ap_err *err)
{
    git_repository *objects = ap_git_objects(git);
    struct ap_gitlib_edit edits[] = {{.path = "a"}, {.path = "d/e/f"}, {.path = "d/e/none"},
        {.path = "d/g", .mode = 0100644}, {.path = "h/i/j", .mode = 0100755}, {.path = "k", .mode = 0120000}};
    git_oid id;
    int result = 0;
    for (size_t i = 0; i < sizeof edits / sizeof edits[0] && result == 0; i++)
        result = ap_gitlib_write(&edits[i].id, objects, edits[i].path, strlen(edits[i].path), GIT_OBJECT_BLOB);
    if (result != 0)
        return ap_gitlib_fail(err, result, "blob");
    return keep(
        out, &id, sizeof id, ap_gitlib_edit_tree(&id, objects, &trees[1], edits, sizeof edits / sizeof edits[0], err));
}

/* From the first tree to another and back, by git's own rules. */
static int checking_out(struct ap_buf *out, struct ap_err *err)
{
    git_repository *repo = ap_git_repository(git);
    int at = fail_at;
    fail_at = 0;
    ap_gitcheckout(out, repo, &trees[1], &trees[0], false, &ignored);
    out->used = 0;
    fail_at = at;
    int result = ap_gitcheckout(out, repo, &trees[0], &trees[1], true, err);
    if (result == 0)
        result = ap_gitcheckout(out, repo, &trees[0], &trees[1], false, err);
    bool made = access(in_dir("d/e/f"), F_OK) == 0;
    return keep(out, &made, sizeof made, result);
}

/* A worktree in a separate folder: checks out, lists changes, and reads files, also as a stream. */
static int working(struct ap_buf *out, struct ap_err *err)
{
    struct ap_worktree *worktree;
    struct ap_worktree_done did;
    git_oid written;
    int at = fail_at;
    fail_at = 0;
    if (system("rm -rf \"$DIR/worktree\"") != 0)
        return -1;
    fail_at = at;
    if (ap_worktree_open(&worktree, ap_git_objects(git), in_dir("worktree"), err) != 0)
        return -1;
    int result = keep(out, &did, sizeof did, ap_worktree_checkout(&did, worktree, &trees[1], NULL, 0, err));
    put("worktree/new", "x");
    put("worktree/large", "x");
    if (truncate(in_dir("worktree/large"), 9 << 20) != 0)
        result = -1;
    put("worktree/a", "changed");
    if (result == 0)
        result = ap_worktree_changes(out, worktree, true, err);
    if (result == 0)
        result = keep(out, &written, sizeof written, ap_worktree_write_all(&written, worktree, err));
    if (result == 0)
        result = keep(out, &did, sizeof did, ap_worktree_checkout(&did, worktree, &written, NULL, 0, err));
    if (result == 0)
        result = ap_worktree_renew(worktree, ap_git_objects(git), err);
    ap_worktree_close(worktree);
    return result;
}

/* ---- the tests ---- */

/* libgit2's results and the codes that they become. */
static void codes(void)
{
    static const struct {
        int result, class;
        const char *code;
    } cases[] = {
        {GIT_ERROR, GIT_ERROR_INVALID, "EGIT"},
        {GIT_ERROR, GIT_ERROR_NOMEMORY, "ENOMEM"},
        {GIT_ENOTFOUND, GIT_ERROR_NOMEMORY, "ENOENT"},
        {GIT_EEXISTS, 0, "EEXIST"},
        {GIT_EAMBIGUOUS, 0, "EAMBIGUOUS"},
        {GIT_EBAREREPO, 0, "EBARE"},
        {GIT_EUNBORNBRANCH, 0, "EUNBORN"},
        {GIT_ECONFLICT, 0, "ECONFLICT"},
        {GIT_EMERGECONFLICT, 0, "ECONFLICT"},
        {GIT_EINVALIDSPEC, 0, "EINVAL"},
        {GIT_EPEEL, 0, "EINVAL"},
        {GIT_EINVALID, 0, "EINVAL"},
        {GIT_ELOCKED, 0, "ELOCKED"},
        {GIT_EMODIFIED, 0, "EMOVED"},
        {GIT_EOWNER, 0, "EOWNER"},
    };
    struct ap_err err;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        set_error(cases[i].class, "why");
        ok(ap_gitlib_fail(&err, cases[i].result, "%s", "what") == -1 && strcmp(err.code, cases[i].code) == 0 &&
                strcmp(err.message, "what: why") == 0,
            "%d is %s", cases[i].result, err.code);
    }
    ok(ap_gitlib_fail(&err, AP_GITLIB_NO_MEMORY, "what") == -1 && strcmp(err.code, "ENOMEM") == 0 &&
            strcmp(err.message, "what: out of memory") == 0,
        "%s", err.message);
    set_error(GIT_ERROR_OS, "cannot open it: No such file or directory");
    ok(ap_gitlib_vanished(), "what is not there may have vanished");
    set_error(GIT_ERROR_INVALID, "cannot open it: No such file or directory");
    ok(!ap_gitlib_vanished(), "not if the system did not say so");
    set_error(GIT_ERROR_OS, "cannot open it: Permission denied");
    ok(!ap_gitlib_vanished(), "nor if it said something else");
}

static int set_result, set_calls;

/* Sets the ref, and then gives another result, after a file was missing somewhere on the way. */
static int set_with(git_reference **out, git_repository *repo, const char *name, const git_oid *id, int force,
    const git_oid *expected, const char *message)
{
    int result = (int)real_reference_create_matching(
        (long)out, (long)repo, (long)name, (long)id, force, (long)expected, (long)message, 0, 0, 0);
    set_error(GIT_ERROR_OS, "cannot open it: No such file or directory");
    set_calls++;
    return set_result != 0 ? set_result : result;
}

/* How often a ref is set again that `git gc` locks, or whose folder it removes. */
static void again(void)
{
    git_repository *repo = ap_git_repository(git);
    struct ap_err err;
    __typeof__(ap_gitlib.reference_create_matching) before = ap_gitlib.reference_create_matching;
    ap_gitlib.reference_create_matching = set_with;
    ok(ap_gitref_set(repo, "refs/heads/again", &commits[0], AP_GITREF_ABSENT, NULL, "m", &err) == 0 && set_calls == 1,
        "a ref that was set is set once, whatever failed on the way: %d", set_calls);
    set_calls = 0;
    set_result = GIT_ERROR;
    ok(ap_gitref_set(repo, "refs/heads/again", &commits[0], AP_GITREF_ANYTHING, NULL, "m", &err) != 0 &&
            set_calls == 1 + AP_GITLIB_TRIES,
        "one whose folder always vanishes is given up: %d", set_calls);
    set_calls = 0;
    set_result = GIT_ELOCKED;
    ok(ap_gitref_set(repo, "refs/heads/again", &commits[0], AP_GITREF_ANYTHING, NULL, "m", &err) != 0 &&
            strcmp(err.code, "ELOCKED") == 0 && set_calls == 31,
        "and one that is always locked: %d", set_calls);
    ap_gitlib.reference_create_matching = before;
    ap_gitref_delete(repo, "refs/heads/again", &err);
}

static void each_call(const char *what, int (*act)(struct ap_buf *out, struct ap_err *err))
{
    struct ap_buf wanted = {0}, out = {0};
    struct ap_err err = {0};
    char wrong[1200] = "";
    int tried = 0;
    ok(act(&wanted, &err) == 0 && wanted.used > 0 && (act == colliding || err.code[0] == '\0'), "%s: no error%s", what,
        err.message);
    do {
        out.used = 0;
        err = (struct ap_err){0};
        calls = 0;
        fail_at = ++tried;
        int result = act(&out, &err);
        fail_at = 0;
        bool same = out.used == wanted.used && memcmp(out.bytes, wanted.bytes, out.used) == 0;
        if (calls >= tried && wrong[0] == '\0' && (result == 0 ? !same : err.code[0] == '\0'))
            snprintf(wrong, sizeof wrong, ", but %s, call %d: %d (%s)", failed, tried, result, err.message);
    } while (calls >= tried);
    ok(wrong[0] == '\0' && tried > 1, "%s: each of %d calls fails%s", what, tried - 1, wrong);
    ap_buf_dispose(&wanted);
    ap_buf_dispose(&out);
}

static void make_tree(int index, const git_oid *base, struct ap_gitlib_edit *edits, const char **texts, size_t count)
{
    struct ap_git_commit spec = {.parents = commits, .parent_count = index > 0, .message = "m\n", .time = 1000 + index};
    for (size_t i = 0; i < count; i++)
        if (edits[i].mode != 0)
            ap_gitlib_write(&edits[i].id, ap_git_objects(git), texts[i], strlen(texts[i]), GIT_OBJECT_BLOB);
    ok(ap_gitlib_edit_tree(&trees[index], ap_git_objects(git), base, edits, count, &ignored) == 0, "tree %d", index);
    spec.tree = trees[index];
    ok(ap_git_commit(&commits[index], git, &spec, &ignored) == 0, "commit %d", index);
}

static void make_repository(void)
{
    static const char *const folders[] = {".git", ".git/objects", ".git/refs", ".git/refs/heads"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        mkdir(in_dir(folders[i]), 0755);
    put(".git/HEAD", "ref: refs/heads/main\n");
    put(".git/config", "[user]\n\tname = T\n\temail = t@example.org\n[remote \"r\"]\n\tpromisor = true\n");
    ok(ap_git_open(&git, dir, &ignored) == 0, "a repository opens");
    make_tree(0, NULL,
        (struct ap_gitlib_edit[]){{.path = "a", .mode = 0100644}, {.path = "b", .mode = 0100644},
            {.path = "d/c", .mode = 0100644}, {.path = ".gitattributes", .mode = 0100644}},
        (const char *[]){"1\n2\n3\n", "b\nb\nb\nb\n", "c", "*.x text\n"}, 4);
    make_tree(1, &trees[0],
        (struct ap_gitlib_edit[]){{.path = "a", .mode = 0100644}, {.path = "b"}, {.path = "renamed", .mode = 0100644},
            {.path = "d/e/f", .mode = 0100755}},
        (const char *[]){"one\n2\n3\n", "", "b\nb\nb\nb\n", "f"}, 4);
    make_tree(2, &trees[0], (struct ap_gitlib_edit[]){{.path = "d/new", .mode = 0100644}}, (const char *[]){"n"}, 1);
    make_tree(3, &trees[0], (struct ap_gitlib_edit[]){{.path = "a", .mode = 0100644}}, (const char *[]){"uno\n"}, 1);
    ap_gitref_set(ap_git_repository(git), "refs/heads/main", &commits[0], AP_GITREF_ANYTHING, NULL, "m", &ignored);
    ap_gitref_set(ap_git_repository(git), "refs/heads/b", &commits[1], AP_GITREF_ANYTHING, NULL, "m", &ignored);
    struct ap_buf out = {0};
    git_oid empty;
    ap_gitlib_edit_tree(&empty, ap_git_objects(git), NULL, NULL, 0, &ignored);
    ok(ap_gitcheckout(&out, ap_git_repository(git), &empty, &trees[0], false, &ignored) == 0, "with its files: %s",
        ignored.message);
    ap_buf_dispose(&out);
}

int main(void)
{
    if (mkdtemp(dir) == NULL || setenv("DIR", dir, 1) != 0)
        return 1;
    make_repository();
    wrap_all();
    codes();
    again();
    each_call("open and describe", opening);
    each_call("renew", renewing);
    each_call("find", finding);
    each_call("ignored and dirty", looking);
    each_call("commit", committing);
    each_call("read", reading);
    each_call("list", listing);
    each_call("log", logging);
    each_call("compare", comparing);
    each_call("merge and revert", joining);
    each_call("collide", colliding);
    each_call("refs", naming);
    each_call("move a ref", moving);
    each_call("edit", editing);
    each_call("check out", checking_out);
    each_call("a worktree", working);
    ap_git_close(git);
    ok(system("rm -rf \"$DIR\"") == 0, "removed");
    return done();
}
