/* SPDX-License-Identifier: MIT */
/* test_git: gitlib, git, gitref and gitobj on a repository made by libgit2 itself: no git program, no network. */
#define _GNU_SOURCE
#include "git/git.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/gitcheckout.h"
#include "git/gitmerge.h"
#include "git/gitobj.h"
#include "git/gitref.h"
#include "tap.h"
#include "trip.h"
#include "vanish.h"

static char dir[] = "/tmp/apsis-test-git-c-XXXXXX";
static struct ap_err err;

static void write_file(const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        fputs(text, file);
        fclose(file);
    }
}

/* The minimum that git accepts as a repository. */
static void make_repository(void)
{
    static const char *const folders[] = {".git", ".git/objects", ".git/refs", ".git/refs/heads"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s/%s", dir, folders[i]);
        mkdir(path, 0755);
    }
    write_file(".git/HEAD", "ref: refs/heads/main\n");
    write_file(".git/config", "[user]\n\tname = <Tester>\n\temail = t@example.org\n");
}

static git_oid blob(struct ap_git *git, const char *text)
{
    git_oid id = {{0}};
    ap_gitlib_write(&id, ap_git_objects(git), text, strlen(text), GIT_OBJECT_BLOB);
    return id;
}

static int edit(git_oid *tree, struct ap_git *git, const git_oid *base, const char *path, const char *text)
{
    struct ap_gitlib_edit one = {.path = path, .mode = text != NULL ? 0100644 : 0};
    if (text != NULL)
        one.id = blob(git, text);
    return ap_gitlib_edit_tree(tree, ap_git_objects(git), base, &one, 1, &err);
}

static git_oid commit(struct ap_git *git, const git_oid *tree, const git_oid *parent)
{
    git_oid id = {{0}};
    struct ap_git_commit spec = {.tree = *tree, .parents = parent, .parent_count = parent != NULL, .message = "m\n"};
    ok(ap_git_commit(&id, git, &spec, &err) == 0, "a commit is written");
    return id;
}

static void test_paths(void)
{
    static const char *const bad[] = {"", "/a", "a/", "a//b", ".", "..", "a/../b", ".git", ".GiT/x", "a/.git"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ok(ap_gitlib_check_path(bad[i], strlen(bad[i]), &err) != 0 && strcmp(err.code, "EPATH") == 0,
            "\"%s\" is refused", bad[i]);
    ok(ap_gitlib_check_path("a\0b", 3, &err) != 0, "a NUL byte is refused");
    ok(ap_gitlib_check_path(".gitignore", 10, &err) == 0, ".gitignore is a path like another");
    ok(ap_gitlib_check_path("a/...b", 6, &err) == 0, "dots inside a name are fine");
}

static void test_trees(struct ap_git *git)
{
    git_repository *objects = ap_git_objects(git);
    git_oid empty, one, two, back;
    struct ap_buf out = {0};
    unsigned mode;
    ok(ap_gitlib_edit_tree(&empty, objects, NULL, NULL, 0, &err) == 0, "the empty tree can be made");
    ok(edit(&one, git, NULL, "a/b/c", "text") == 0, "directories are made as needed");
    ok(ap_gitobj_read(&out, &mode, objects, &one, "a/b/c", &err) == 0 && out.used == 4 && mode == 0100644,
        "and read back");
    ok(edit(&two, git, &one, "a/b/c/d", "x") != 0 && strcmp(err.code, "EPATH") == 0,
        "a path through a file is refused");
    ok(edit(&two, git, &one, "a", "x") != 0 && strcmp(err.code, "EPATH") == 0, "a file over a directory is refused");
    struct ap_gitlib_edit near[] = {
        {.path = "d/a"}, {.path = "d0/b"}, {.path = "d-/c"}, {.path = "d/a2"}, {.path = "e"}};
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        near[i].mode = 0100644;
        near[i].id = blob(git, near[i].path);
    }
    ok(ap_gitlib_edit_tree(&two, objects, NULL, near, 5, &err) == 0, "folders whose names begin alike");
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        out.used = 0;
        ok(ap_gitobj_read(&out, &mode, objects, &two, near[i].path, &err) == 0 && out.used == strlen(near[i].path) &&
                memcmp(out.bytes, near[i].path, out.used) == 0,
            "%s is where it belongs", near[i].path);
    }
    ok(edit(&back, git, &one, "a/b/c", NULL) == 0 && memcmp(&back, &empty, sizeof back) == 0, "empty directories go");
    ok(edit(&back, git, &one, "a/x/y", NULL) == 0 && memcmp(&back, &one, sizeof back) == 0,
        "deleting nothing is nothing");
    ok(ap_gitobj_read(&out, &mode, objects, &one, "a/b", &err) != 0 && strcmp(err.code, "EISDIR") == 0,
        "no directory is read");
    ap_buf_dispose(&out);
}

static void test_refs(struct ap_git *git, const git_oid *a, const git_oid *b)
{
    git_repository *repo = ap_git_repository(git);
    const char *name = "refs/apsis/run/c0001";
    git_oid now;
    ok(ap_gitref_set(repo, name, a, AP_GITREF_ABSENT, NULL, "x", &err) == 0, "a ref is made where none was");
    ok(ap_gitref_set(repo, name, b, AP_GITREF_ABSENT, NULL, "x", &err) != 0 && strcmp(err.code, "EMOVED") == 0,
        "but not where one is");
    ok(ap_gitref_set(repo, name, b, AP_GITREF_EXACTLY, b, "x", &err) != 0 && strcmp(err.code, "EMOVED") == 0,
        "a ref that is not as expected stays");
    ok(ap_gitref_read(&now, repo, name, &err) == 0 && memcmp(&now, a, sizeof now) == 0, "as it was");
    ok(ap_gitref_set(repo, name, b, AP_GITREF_EXACTLY, a, "x", &err) == 0, "a ref as expected moves");
    ok(ap_gitref_set(repo, "HEAD", b, AP_GITREF_ANYTHING, NULL, "x", &err) != 0, "HEAD is not ours to set");
    ok(ap_gitref_set(repo, "refsx/heads/a", b, AP_GITREF_ANYTHING, NULL, "x", &err) != 0 &&
            strcmp(err.code, "EINVAL") == 0,
        "nor is what only begins like a ref");
    ok(ap_gitref_delete(repo, name, &err) == 0, "a ref is deleted");
    ok(ap_gitref_read(&now, repo, name, &err) != 0 && strcmp(err.code, "ENOENT") == 0, "and then is not there");
}

static void test_symbolic(struct ap_git *git, const git_oid *id)
{
    git_repository *repo = ap_git_repository(git);
    struct ap_buf out = {0};
    ok(ap_gitref_symbolic(&out, repo, "HEAD", &err) == 0 && strcmp(out.bytes, "refs/heads/main") == 0,
        "a symbolic ref names its target, which need not exist");
    out.used = 0;
    ap_gitref_set(repo, "refs/heads/plain", id, AP_GITREF_ANYTHING, NULL, "x", &err);
    ok(ap_gitref_symbolic(&out, repo, "refs/heads/plain", &err) == 0 && out.used == 0, "an id is no target");
    ok(ap_gitref_symbolic(&out, repo, "refs/heads/none", &err) != 0 && strcmp(err.code, "ENOENT") == 0,
        "no ref has none");
    ap_gitref_delete(repo, "refs/heads/plain", &err);
    ap_buf_dispose(&out);
}

static void test_counts(struct ap_git *git, const git_oid *base, const git_oid *ours, const git_oid *theirs)
{
    git_repository *objects = ap_git_objects(git);
    git_oid missing = {{1}};
    size_t ahead = 9, behind = 9;
    ok(ap_gitmerge_ahead_behind(&ahead, &behind, objects, ours, ours, &err) == 0 && ahead == 0 && behind == 0,
        "a commit is level with itself");
    ok(ap_gitmerge_ahead_behind(&ahead, &behind, objects, ours, base, &err) == 0 && ahead == 1 && behind == 0,
        "a child is one ahead");
    ok(ap_gitmerge_ahead_behind(&ahead, &behind, objects, base, ours, &err) == 0 && ahead == 0 && behind == 1,
        "its parent one behind");
    ok(ap_gitmerge_ahead_behind(&ahead, &behind, objects, ours, theirs, &err) == 0 && ahead == 1 && behind == 1,
        "siblings are both");
    ok(ap_gitmerge_ahead_behind(&ahead, &behind, objects, ours, &missing, &err) != 0, "a missing commit is an error");
}

static void test_history(struct ap_git *git)
{
    git_repository *objects = ap_git_objects(git);
    git_oid tree, ours_tree, theirs_tree, joined, expected;
    struct ap_buf out = {0};
    bool yes;
    edit(&tree, git, NULL, "a", "1\n2\n3\n");
    git_oid base = commit(git, &tree, NULL);
    edit(&ours_tree, git, &tree, "a", "ONE\n2\n3\n");
    edit(&theirs_tree, git, &tree, "b", "new\n");
    git_oid ours = commit(git, &ours_tree, &base), theirs = commit(git, &theirs_tree, &base);
    ok(ap_gitmerge_commits(&joined, &out, objects, &ours, &theirs, &err) == 0, "two sides merge");
    edit(&expected, git, &ours_tree, "b", "new\n");
    ok(memcmp(&joined, &expected, sizeof joined) == 0, "to the tree with both changes");
    edit(&theirs_tree, git, &tree, "a", "UNO\n2\n3\n");
    theirs = commit(git, &theirs_tree, &base);
    ok(ap_gitmerge_commits(&joined, &out, objects, &ours, &theirs, &err) != 0 && strcmp(err.code, "ECONFLICT") == 0 &&
            out.used == 2 && strcmp(out.bytes, "a") == 0,
        "a collision is named");
    edit(&theirs_tree, git, &tree, "a", NULL);
    theirs = commit(git, &theirs_tree, &base);
    out.used = 0;
    ok(ap_gitmerge_commits(&joined, &out, objects, &ours, &theirs, &err) != 0 && out.used == 2 &&
            strcmp(out.bytes, "a") == 0,
        "so is a change of what they removed");
    out.used = 0;
    ok(ap_gitmerge_commits(&joined, &out, objects, &theirs, &ours, &err) != 0 && out.used == 2 &&
            strcmp(out.bytes, "a") == 0,
        "and of what we removed");
    ok(ap_gitmerge_revert(&joined, &out, objects, &ours, &ours_tree, &err) == 0 &&
            memcmp(&joined, &tree, sizeof tree) == 0,
        "a revert undoes");
    ok(ap_gitmerge_descendant_of(&yes, objects, &ours, &base, &err) == 0 && yes, "a child descends from its parent");
    ok(ap_gitmerge_descendant_of(&yes, objects, &base, &ours, &err) == 0 && !yes, "and not the other way round");
    test_counts(git, &base, &ours, &theirs);
    test_symbolic(git, &base);
    test_refs(git, &base, &ours);
    ap_buf_dispose(&out);
}

/* A tree whose folder d is an object that is not there. */
static void test_missing(struct ap_git *git)
{
    static const char record[] = "40000 d\0abcdefghijklmnopqrst";
    git_repository *objects = ap_git_objects(git);
    git_oid tree;
    unsigned mode = 0;
    bool has = true;
    struct ap_buf out = {0};
    ok(ap_gitlib_write(&tree, objects, record, sizeof record - 1, GIT_OBJECT_TREE) == 0, "a tree with a folder");
    ok(ap_gitobj_read(&out, &mode, objects, &tree, "d/e", &err) == -1 && strcmp(err.code, "EGIT") == 0 &&
            strncmp(err.message, "d/e: ", 5) == 0,
        "what is below a folder that is missing cannot be read: %s", err.message);
    ok(ap_gitobj_has(&has, objects, &tree, "d/e", &err) == -1 && strcmp(err.code, "EGIT") == 0,
        "nor is it known whether it is there");
    ok(ap_gitobj_read(&out, &mode, objects, &tree, "n/e", &err) == -1 && strcmp(err.code, "ENOENT") == 0 &&
            strcmp(err.message, "there is no n/e in that tree") == 0,
        "what has no folder is not there: %s", err.message);
    ok(ap_gitobj_has(&has, objects, &tree, "n/e", &err) == 0 && !has, "which is known");
    ap_buf_dispose(&out);
}

static void test_identity(struct ap_git *git)
{
    git_oid tree;
    struct ap_buf out = {0};
    edit(&tree, git, NULL, "a", "1");
    git_oid id = commit(git, &tree, NULL);
    ok(ap_gitobj_commit(&out, ap_git_objects(git), &id, &err) == 0, "a commit is read");
    /* id, tree, no parents, then the author's name */
    ok(strcmp(out.bytes + 41 + 41 + 1, "Tester") == 0, "the name is the repository's, without brackets");
    ap_buf_dispose(&out);
}

/* Who the author of a commit is, by files and the environment, in a repository that does not say it. */
static void test_identities(void)
{
    static const char user[] = "[user]\n\tname = %s\n\temail = %s@example.org\n";
    static const struct {
        const char *home, *xdg, *name, *email; /* the environment; NULL: unset; folders are below dir */
        const char *author, *address;
    } cases[] = {
        {"none", NULL, NULL, NULL, "apsis", "apsis@localhost"},
        {NULL, NULL, NULL, NULL, "apsis", "apsis@localhost"},
        {"none", NULL, "E", "e@x", "E", "e@x"},
        {"none", NULL, "", "", "apsis", "apsis@localhost"},
        {"none", NULL, "E", NULL, "E", "apsis@localhost"},
        {"none", NULL, NULL, "e@x", "apsis", "e@x"},
        {"none", NULL, "<A>\nB", "e@x", "A  B", "e@x"},
        {"home", NULL, "E", "", "E", "h@example.org"},
        {"home", "xdg", NULL, NULL, "H", "h@example.org"},
        {"none", "xdg", NULL, "e@x", "X", "e@x"},
        {"mixed", NULL, NULL, "e@x", "M", "e@x"},
        {"mixed", "xdg", NULL, NULL, "X", "x@example.org"},
        {"mixed", "", "", NULL, "M", "apsis@localhost"},
    };
    static const char *const folders[] = {"home", "xdg", "xdg/git", "mixed", "mixed/.config", "mixed/.config/git",
        "who", "who/.git", "who/.git/objects", "who/.git/refs"};
    char text[200], path[300];
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, folders[i]);
        mkdir(path, 0755);
    }
    write_file("who/.git/HEAD", "ref: refs/heads/main\n");
    snprintf(text, sizeof text, user, "H", "h");
    write_file("home/.gitconfig", text);
    snprintf(text, sizeof text, user, "X", "x");
    write_file("xdg/git/config", text);
    write_file("mixed/.config/git/config", "[user]\n\tname = M\n\temail =\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const names[] = {"HOME", "XDG_CONFIG_HOME", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"};
        const char *const values[] = {cases[i].home, cases[i].xdg, cases[i].name, cases[i].email};
        for (int n = 0; n < 4; n++) {
            snprintf(path, sizeof path, n < 2 && values[n] != NULL && *values[n] != '\0' ? "%s/%s" : "%.0s%s", dir,
                values[n] != NULL ? values[n] : "");
            if (values[n] != NULL)
                setenv(names[n], path, 1);
            else
                unsetenv(names[n]);
        }
        struct ap_git *git = NULL;
        struct ap_buf out = {0};
        git_oid tree;
        snprintf(path, sizeof path, "%s/who", dir);
        ok(ap_git_open(&git, path, &err) == 0, "a repository without a user");
        edit(&tree, git, NULL, "a", "1");
        git_oid id = commit(git, &tree, NULL);
        ap_gitobj_commit(&out, ap_git_objects(git), &id, &err);
        const char *author = out.bytes + 41 + 41 + 1, *address = author + strlen(author) + 1;
        ok(strcmp(author, cases[i].author) == 0 && strcmp(address, cases[i].address) == 0, "the author is %s <%s>",
            author, address);
        ap_buf_dispose(&out);
        ap_git_close(git);
    }
    setenv("HOME", "/none", 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("GIT_AUTHOR_NAME");
    unsetenv("GIT_AUTHOR_EMAIL");
}

/* What a repository's own files say about it. */
static void test_info(void)
{
    static const struct {
        const char *head, *config, *branch;
        bool bare, detached, partial;
    } cases[] = {
        {"ref: refs/heads/a/b\n", "", "a/b", false, false, false},
        {"ref: refs/heads/main\n", "[core]\n\tbare = true\n", "main", true, false, false},
        {"0123456789012345678901234567890123456789\n", "", "", false, true, false},
        {"ref: refs/heads/x\n", "[remote \"r\"]\n\tpromisor = true\n", "x", false, false, true},
        {"ref: refs/heads/x\n", "[remote \"r\"]\n\tpromisor\n", "x", false, false, true},
        {"ref: refs/heads/x\n", "[remote \"r\"]\n\tpromisor = what\n", "x", false, false, true},
        {"ref: refs/heads/x\n", "[remote \"r\"]\n\tpromisor = false\n", "x", false, false, false},
        {"ref: refs/heads/x\n", "[remote \"r\"]\n\turl = promisor\n[other \"r\"]\n\tpromisor = true\n", "x", false,
            false, false},
        {"ref: refs/heads/x\n", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialclone = r\n", "x", false,
            false, true},
    };
    char path[300], gitdir[320];
    snprintf(path, sizeof path, "%s/who", dir);
    snprintf(gitdir, sizeof gitdir, "%s/.git", path);
    /* The last: libgit2 1.5 leaks memory where the format's version is 1. */
    size_t count = sizeof cases / sizeof cases[0] - (getenv("APSIS_SANITIZED") != NULL);
    for (size_t i = 0; i < count; i++) {
        struct ap_git *git = NULL;
        struct ap_git_info info;
        bool ignored;
        write_file("who/.git/HEAD", cases[i].head);
        write_file("who/.git/config", cases[i].config);
        ok(ap_git_open(&git, gitdir, &err) == 0 && ap_git_info(&info, git, &err) == 0, "described: %s", err.message);
        ok(strcmp(info.branch, cases[i].branch) == 0 && info.bare == cases[i].bare &&
                info.detached == cases[i].detached && info.partial == cases[i].partial &&
                info.born == cases[i].detached && !info.shallow && strcmp(info.gitdir, gitdir) == 0 &&
                strcmp(info.workdir, cases[i].bare ? "" : path) == 0,
            "as on %s, bare %d, detached %d, partial %d, of %s", info.branch, info.bare, info.detached, info.partial,
            info.workdir);
        ok(ap_git_is_ignored(&ignored, git, "a", &err) == (cases[i].bare ? -1 : 0) &&
                (!cases[i].bare || strcmp(err.code, "EBARE") == 0),
            "ignored files need a working tree");
        ap_git_close(git);
    }
    write_file("who/.git/HEAD", "ref: refs/heads/main\n");
    write_file("who/.git/config", "");
}

/* The objects of another repository are this one's, too. */
static void test_alternates(struct ap_git *git)
{
    struct ap_git *other = NULL;
    struct ap_buf out = {0};
    git_oid tree;
    unsigned mode;
    char path[300], text[320];
    edit(&tree, git, NULL, "borrowed", "from there");
    snprintf(path, sizeof path, "%s/who", dir);
    ok(ap_git_open(&other, path, &err) == 0 &&
            ap_gitobj_read(&out, &mode, ap_git_objects(other), &tree, "borrowed", &err) != 0,
        "an object that is elsewhere is not here");
    ap_git_close(other);
    snprintf(text, sizeof text, "%s/who/.git/objects/info", dir);
    mkdir(text, 0755);
    snprintf(text, sizeof text, "%s/.git/objects\n", dir);
    write_file("who/.git/objects/info/alternates", text);
    ok(ap_git_open(&other, path, &err) == 0 &&
            ap_gitobj_read(&out, &mode, ap_git_objects(other), &tree, "borrowed", &err) == 0 && out.used == 10,
        "but by alternates: %s", err.message);
    ok(edit(&tree, other, NULL, "own", "here") == 0, "and what is written is written here");
    ap_git_close(other);
    ap_buf_dispose(&out);
}

/* Where git would run a program on a file that is checked out, nothing is. */
static void test_filters(struct ap_git *git)
{
    git_oid empty, tree;
    struct ap_buf out = {0};
    char path[300];
    ap_gitlib_edit_tree(&empty, ap_git_objects(git), NULL, NULL, 0, &err);
    edit(&tree, git, NULL, "plain.y", "y");
    edit(&tree, git, &tree, "some.x", "x");
    write_file(".gitattributes", "*.x filter=f\n*.y -filter\n");
    ok(ap_gitcheckout(&out, ap_git_repository(git), &empty, &tree, false, &err) != 0 &&
            strcmp(err.code, "EFILTER") == 0 &&
            strcmp(err.message, "git has a filter or an encoding for some.x") == 0 && out.used == 7,
        "a filter is refused: %s", err.message);
    snprintf(path, sizeof path, "%s/some.x", dir);
    ok(access(path, F_OK) != 0, "and nothing is written");
    write_file(".gitattributes", "*.x text\n*.y -filter\n");
    ap_git_renew(git, &err);
    out.used = 0;
    ok(ap_gitcheckout(&out, ap_git_repository(git), &empty, &tree, true, &err) == 0 && access(path, F_OK) != 0,
        "without one it could be: %s", err.message);
    write_file(".git/index.lock", "");
    ok(ap_gitcheckout(&out, ap_git_repository(git), &empty, &tree, true, &err) != 0 && strcmp(err.code, "ELOCKED") == 0,
        "not while another git has the index");
    snprintf(path, sizeof path, "%s/.git/index.lock", dir);
    unlink(path);
    ap_buf_dispose(&out);
}

static void test_writes_beside_gc(struct ap_git *git)
{
    git_oid tree, id;
    struct ap_git_commit spec = {.parent_count = 0, .message = "beside gc\n", .time = 1};
    edit(&tree, git, NULL, "beside", "gc");
    spec.tree = tree;
    vanishing = 5;
    ok(ap_git_commit(&id, git, &spec, &err) == 0 && vanishing == 0,
        "a commit is written though its folder vanishes five times: %s", err.message);
    ok(ap_git_find(&id, git, "HEAD", GIT_OBJECT_COMMIT, &err) != 0, "no ref has moved");
    vanishing = 5;
    ok(edit(&tree, git, &tree, "another", "blob") == 0 && vanishing == 0, "so are blobs and trees");
    vanishing = 1000;
    spec.message = "never\n";
    ok(ap_git_commit(&id, git, &spec, &err) != 0, "a folder that always vanishes ends in an error");
    vanishing = 0;
}

/* A file in place of the folder of the commit's object: the write fails, and repeating it cannot help. */
static void test_write_that_fails(struct ap_git *git)
{
    char hex[GIT_OID_HEXSZ + 1], name[100];
    git_oid tree, id, again;
    struct ap_git_commit spec = {.parent_count = 0, .message = "cannot be written at all\n", .time = 1};
    edit(&tree, git, NULL, "a", "that fails");
    spec.tree = tree;
    ap_git_commit(&id, git, &spec, &err);
    ap_gitlib.oid_tostr(hex, sizeof hex, &id);
    snprintf(name, sizeof name, "%s/.git/objects/%.2s/%s", dir, hex, hex + 2);
    ok(unlink(name) == 0, "the commit's object is removed");
    *strrchr(name, '/') = '\0';
    ok(rmdir(name) == 0, "and its folder");
    write_file(name + strlen(dir) + 1, "");
    ok(ap_git_commit(&again, git, &spec, &err) != 0, "a commit that cannot be written is an error");
    ok(strstr(err.message, "commit: ") == err.message, "with the reason: %s", err.message);
    unlink(name);
}

static struct ap_git *tripped;

/* Either both locks go, or it fails, or one that cannot be removed is left. */
static int clear_whole(struct ap_err *error)
{
    static const char *const names[] = {".git/refs/heads/main.lock", ".git/refs/heads/a/b.lock"};
    struct ap_gitref_locks locks;
    int at = trip_at, zero_at = trip_zero_at, there = 0;
    char path[300];
    trip_rest();
    for (int i = 0; i < 2; i++)
        write_file(names[i], "");
    trip_at = at;
    trip_zero_at = zero_at;
    int result = ap_gitref_clear_locks(&locks, ap_git_repository(tripped), "refs/heads", 0, error);
    trip_rest();
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        there += access(path, F_OK) == 0;
    }
    return result != 0 ? result : locks.removed != 2 - there ? 1 : there > 0 ? TRIP_REFUSED : 0;
}

/* The longest name whose lock has a path, and one that is longer. */
static void test_long_lock(struct ap_git *git)
{
    struct ap_gitref_locks locks;
    char name[PATH_MAX] = "refs";
    size_t longest = PATH_MAX - 1 - strlen(".lock") - strlen(ap_gitlib.repository_commondir(ap_git_repository(git)));
    for (size_t at = 4; at < longest; at++)
        name[at] = at % 100 == 4 ? '/' : 'n';
    ok(ap_gitref_clear_locks(&locks, ap_git_repository(git), name, 0, &err) == 0, "no lock of a name of %zu bytes: %s",
        longest, err.message);
    name[longest] = 'n';
    ok(ap_gitref_clear_locks(&locks, ap_git_repository(git), name, 0, &err) != 0 &&
            strcmp(err.code, "ENAMETOOLONG") == 0,
        "a longer one is refused: %s", err.message);
}

static git_oid moved_to[2];

static void remove_new_ref(void)
{
    char path[300];
    ap_gitref_delete(ap_git_repository(tripped), "refs/heads/n/e", &err);
    snprintf(path, sizeof path, "%s/.git/refs/heads/n", dir);
    rmdir(path);
}

/* In a folder that is new, too. */
static int set_whole(struct ap_err *error)
{
    static int turn;
    int at = trip_at, zero_at = trip_zero_at;
    git_oid now;
    const git_oid *to = &moved_to[turn++ % 2];
    trip_rest();
    remove_new_ref();
    trip_at = at;
    trip_zero_at = zero_at;
    int result = ap_gitref_set(ap_git_repository(tripped), "refs/heads/n/e", to, AP_GITREF_ANYTHING, NULL, "x", error);
    trip_rest();
    if (result != 0)
        return TRIP_REFUSED;
    return ap_gitref_read(&now, ap_git_repository(tripped), "refs/heads/n/e", &err) == 0 &&
                   memcmp(&now, to, sizeof now) == 0
               ? 0
               : 1;
}

/* A ref is not there as long as the folders above it may be lost. */
static void test_syncs(struct ap_git *git)
{
    static const char *const folders[] = {"/objects", "/refs", "/refs/heads"};
    static const int codes[] = {EIO, EINVAL, ENOTSUP};
    git_oid tree;
    tripped = git;
    for (int i = 0; i < 2; i++) {
        edit(&tree, git, NULL, "a", i == 0 ? "first" : "second");
        moved_to[i] = commit(git, &tree, NULL);
    }
    for (size_t i = 0; i < 9; i++) {
        trip_unsynced = folders[i / 3];
        trip_unsynced_errno = codes[i % 3];
        remove_new_ref();
        int result = ap_gitref_set(
            ap_git_repository(git), "refs/heads/n/e", &moved_to[i % 2], AP_GITREF_ANYTHING, NULL, "x", &err);
        ok(codes[i % 3] != EIO ? result == 0 : result != 0 && strcmp(err.code, "EIO") == 0,
            "a ref, where %s gives %s when it is synced", trip_unsynced, strerror(trip_unsynced_errno));
    }
    trip_unsynced = NULL;
    remove_new_ref();
}

static void test_each_call(struct ap_git *git)
{
    char path[300];
    snprintf(path, sizeof path, "%s/.git/refs/heads/a", dir);
    mkdir(path, 0755);
    tripped = git;
    int input = fcntl(0, F_DUPFD_CLOEXEC, 10);
    close(0); /* so that the first descriptor is 0, which is one like any other */
    trip_each("clear_locks", clear_whole);
    trip_each_of("set", set_whole, true);
    remove_new_ref();
    dup2(input, 0);
    close(input);
}

int main(void)
{
    struct ap_git *git = NULL;
    struct ap_git_info info;
    if (mkdtemp(dir) == NULL)
        return 1;
    ok(ap_git_open(&git, dir, &err) != 0 && strcmp(err.code, "ENOREPO") == 0, "a plain folder is no repository");
    test_paths();
    make_repository();
    if (!ok(ap_git_open(&git, dir, &err) == 0, "a repository opens: %s", err.message))
        return done();
    ok(ap_git_info(&info, git, &err) == 0 && !info.born && strcmp(info.branch, "main") == 0, "HEAD is unborn on main");
    test_trees(git);
    test_missing(git);
    test_history(git);
    test_identity(git);
    test_identities();
    test_info();
    test_alternates(git);
    test_filters(git);
    test_writes_beside_gc(git);
    test_write_that_fails(git);
    test_long_lock(git);
    test_syncs(git);
    test_each_call(git);
    ap_git_close(git);
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    ok(system(command) == 0, "the folder is gone");
    return done();
}
