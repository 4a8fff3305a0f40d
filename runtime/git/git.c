/* SPDX-License-Identifier: MIT */
/* git: opens the user's repository, describes it, resolves revisions, and writes commits durably in the user's name.
 * Never touches the working tree or the index, never runs hooks or filters. Of the user's git configuration it reads
 * only user.name, user.email and safe.directory. gitref handles refs, gitobj the contents of objects, gitcheckout the
 * user's working tree. */
#define _GNU_SOURCE
#include "git/git.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct identity {
    char *name, *email;
};

struct ap_git {
    git_repository *repo, *objects;
    struct identity author, committer; /* found at the first commit */
    unsigned generation;
};

/* ---- opening ---- */

static int open_repository(git_repository **out, const char *path)
{
    return ap_gitlib.repository_open_ext(out, path, 0, NULL);
}

static void set_search_paths(const char *path)
{
    ap_gitlib.libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_SYSTEM, path);
    ap_gitlib.libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_XDG, path);
    ap_gitlib.libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_GLOBAL, path);
}

/* libgit2 refused, perhaps because of the owner (without any configuration it reports that as "not found"). The user's
 * safe.directory is the remedy, so only here their configuration is read, to check, on a handle that is thrown away. */
static int open_if_trusted(git_repository **out, const char *path, int refusal)
{
    git_repository *checked = NULL;
    ap_gitlib.libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    int result = open_repository(out, path);
    ap_gitlib.libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1);
    if (result < 0)
        return refusal;
    set_search_paths(NULL);
    result = open_repository(&checked, path);
    set_search_paths("");
    ap_gitlib.repository_free(checked);
    if (result == 0)
        return 0;
    ap_gitlib.repository_free(*out);
    *out = NULL;
    return GIT_EOWNER;
}

static int open_objects(git_repository **out, git_repository *repo, struct ap_err *err)
{
    if (ap_gitlib_loose_first(repo, err) != 0 || ap_gitlib_write_beside_gc(repo, err) != 0)
        return -1;
    return ap_gitlib_wrap(out, repo, err);
}

/* What to do about a repository in a format that libgit2 does not read, by the name of git's extension. */
static const struct remedy {
    const char *extension, *text;
} remedies[] = {
    {"refstorage", ": git refs migrate --ref-format=files makes it one that every git reads"},
    {"objectformat",
        " (sha256): copy the files to a new folder, and there: git init && git add -A && git commit -m start"},
    {"worktreeconfig", ": git config --unset extensions.worktreeConfig, if no other working tree has its own settings"},
    {NULL, ""},
};

/* libgit2 refused to open a repository for a reason of its own. */
static int open_fail(struct ap_err *err, int result, const char *path)
{
    const git_error *last = ap_gitlib.error_last();
    const char *mark = "unsupported extension name extensions.";
    const char *at = last != NULL && last->message != NULL ? strstr(last->message, mark) : NULL;
    if (at == NULL)
        return ap_gitlib_fail(err, result, "%s", path);
    const char *name = at + strlen(mark);
    const struct remedy *remedy = remedies;
    while (remedy->extension != NULL && strcmp(remedy->extension, name) != 0)
        remedy++;
    return ap_err_set(
        err, "EFORMAT", "%s: apsis cannot read a repository with git's extensions.%s%s", path, name, remedy->text);
}

int ap_git_open(struct ap_git **out, const char *path, struct ap_err *err)
{
    if (ap_gitlib_load(err) != 0)
        return -1;
    struct ap_git *git = calloc(1, sizeof *git);
    if (git == NULL)
        return ap_err_memory(err);
    int result = open_repository(&git->repo, path);
    if (result == GIT_EOWNER || result == GIT_ENOTFOUND)
        result = open_if_trusted(&git->repo, path, result);
    if (result == GIT_ENOTFOUND)
        ap_err_set(err, "ENOREPO", "%s is not in a git repository", path);
    else if (result == GIT_EOWNER)
        ap_err_set(err, "EOWNER",
            "the git repository of %s belongs to another user; to trust it: "
            "git config --global --add safe.directory \"$(realpath '%s')\"",
            path, path);
    else if (result < 0)
        open_fail(err, result, path);
    else
        result = open_objects(&git->objects, git->repo, err);
    if (result < 0) {
        ap_git_close(git);
        return -1;
    }
    *out = git;
    return 0;
}

void ap_git_close(struct ap_git *git)
{
    if (git == NULL)
        return;
    ap_gitlib.repository_free(git->objects);
    ap_gitlib.repository_free(git->repo);
    free(git->author.name);
    free(git->author.email);
    free(git->committer.name);
    free(git->committer.email);
    free(git);
}

git_repository *ap_git_repository(struct ap_git *git)
{
    return git->repo;
}

git_repository *ap_git_objects(struct ap_git *git)
{
    return git->objects;
}

int ap_git_renew(struct ap_git *git, struct ap_err *err)
{
    git_refdb *refs = NULL;
    git_repository *objects = NULL;
    int result = ap_gitlib.refdb_open(&refs, git->repo);
    if (result == 0) /* gives back what was read of refs */
        result = ap_gitlib.repository_set_refdb(git->repo, refs);
    ap_gitlib.refdb_free(refs);
    if (result < 0)
        return ap_gitlib_fail(err, result, "refs");
    if (open_objects(&objects, git->repo, err) != 0)
        return -1;
    ap_gitlib.repository_free(git->objects);
    git->objects = objects;
    git->generation++;
    return 0;
}

unsigned ap_git_generation(const struct ap_git *git)
{
    return git->generation;
}

/* ---- describing it ---- */

static void copy_path(char *to, size_t room, const char *path)
{
    snprintf(to, room, "%s", path != NULL ? path : "");
    size_t length = strlen(to);
    if (length > 1 && to[length - 1] == '/')
        to[length - 1] = '\0';
}

static bool is_promisor(const git_config_entry *entry)
{
    size_t length = strlen(entry->name);
    int promisor = 1;
    if (strcmp(entry->name, "extensions.partialclone") == 0)
        return true;
    if (strncmp(entry->name, "remote.", 7) != 0 || length < 9 || strcmp(entry->name + length - 9, ".promisor") != 0)
        return false;
    return ap_gitlib.config_parse_bool(&promisor, entry->value) < 0 || promisor;
}

/* A clone made with --filter fetches its objects from the network: git marks such a remote as promisor. Reads all keys,
 * because libgit2's iterator by pattern leaks memory at each key that does not match. */
static int is_partial(bool *partial, git_repository *repo)
{
    git_config *config = NULL;
    git_config_iterator *iterator = NULL;
    git_config_entry *entry;
    *partial = false;
    int result = ap_gitlib.repository_config(&config, repo);
    if (result == 0)
        result = ap_gitlib.config_iterator_new(&iterator, config);
    while (result == 0 && (result = ap_gitlib.config_next(&entry, iterator)) == 0)
        *partial = *partial || is_promisor(entry);
    ap_gitlib.config_iterator_free(iterator);
    ap_gitlib.config_free(config);
    return result == GIT_ITEROVER ? 0 : result;
}

int ap_git_info(struct ap_git_info *info, struct ap_git *git, struct ap_err *err)
{
    *info = (struct ap_git_info){0};
    copy_path(info->gitdir, sizeof info->gitdir, ap_gitlib.repository_path(git->repo));
    copy_path(info->workdir, sizeof info->workdir, ap_gitlib.repository_workdir(git->repo));
    info->bare = ap_gitlib.repository_is_bare(git->repo) == 1;
    info->shallow = ap_gitlib.repository_is_shallow(git->repo) == 1;
    int result = is_partial(&info->partial, git->repo);
    git_reference *head = NULL;
    if (result == 0)
        result = ap_gitlib.reference_lookup(&head, git->repo, "HEAD");
    if (result < 0)
        return ap_gitlib_fail_ref(err, result, git->repo, "HEAD");
    if (ap_gitlib.reference_type(head) == GIT_REFERENCE_SYMBOLIC) {
        const char *target = ap_gitlib.reference_symbolic_target(head);
        bool branch = strncmp(target, "refs/heads/", 11) == 0;
        snprintf(info->branch, sizeof info->branch, "%s", branch ? target + 11 : "");
    } else {
        info->detached = true;
    }
    ap_gitlib.reference_free(head);
    result = ap_gitlib.reference_name_to_id(&info->head, git->repo, "HEAD");
    info->born = result == 0;
    if (result < 0 && result != GIT_ENOTFOUND && result != GIT_EUNBORNBRANCH)
        return ap_gitlib_fail_ref(err, result, git->repo, "HEAD");
    return 0;
}

int ap_git_find(git_oid *out, struct ap_git *git, const char *rev, git_object_t type, struct ap_err *err)
{
    git_object *object = NULL, *peeled = NULL;
    int result = GIT_ENOTFOUND;
    bool torn = false;
    if (strspn(rev, "0123456789abcdef") == GIT_OID_HEXSZ && rev[GIT_OID_HEXSZ] == '\0') {
        git_oid id;
        result = ap_gitlib.oid_fromstr(&id, rev);
        if (result == 0)
            result = ap_gitlib.object_lookup(&object, git->objects, &id, GIT_OBJECT_ANY);
    } else {
        result = ap_gitlib.revparse_single(&object, git->repo, rev);
    }
    if (result == 0 && (type != GIT_OBJECT_ANY || ap_gitlib.object_type(object) == GIT_OBJECT_TAG)) {
        result = ap_gitlib.object_peel(&peeled, object, type);
        torn = result == GIT_ENOTFOUND;
    }
    if (torn) /* not ENOENT: the revision exists, but the object it names is missing or unreadable */
        ap_err_set(err, "EGIT", "revision \"%s\": the object it names is missing or cannot be read", rev);
    else if (result < 0)
        ap_gitlib_fail(err, result, "revision \"%s\"", rev);
    else
        *out = *ap_gitlib.object_id(peeled != NULL ? peeled : object);
    ap_gitlib.object_free(peeled);
    ap_gitlib.object_free(object);
    return result < 0 ? -1 : 0;
}

int ap_git_is_ignored(bool *ignored, struct ap_git *git, const char *path, struct ap_err *err)
{
    if (ap_gitlib.repository_workdir(git->repo) == NULL)
        return ap_err_set(err, "EBARE", "the repository has no working tree");
    int yes = 0, result = ap_gitlib.ignore_path_is_ignored(&yes, git->repo, path);
    *ignored = yes != 0;
    return result < 0 ? ap_gitlib_fail(err, result, "%s", path) : 0;
}

/* ---- commits ---- */

/* If *out has no value yet: the key's, if there is one. -1 when out of memory: no other name may be used then. */
static int config_value(char **out, git_config *config, const char *key)
{
    git_buf value = {0};
    bool found = *out == NULL && ap_gitlib.config_get_string_buf(&value, config, key) == 0 && value.size > 0;
    if (found)
        *out = strdup(value.ptr);
    ap_gitlib.buf_dispose(&value);
    return found && *out == NULL ? -1 : 0;
}

static int identity_from(struct identity *who, git_config *config)
{
    return config_value(&who->name, config, "user.name") | config_value(&who->email, config, "user.email");
}

static int identity_from_file(struct identity *who, const char *path)
{
    git_config *config = NULL;
    bool opened = access(path, R_OK) == 0 && ap_gitlib.config_open_ondisk(&config, path) == 0;
    int result = opened ? identity_from(who, config) : 0;
    ap_gitlib.config_free(config);
    return result;
}

static int identity_below(struct identity *who, const char *directory, const char *file)
{
    char path[PATH_MAX];
    if (directory == NULL || directory[0] != '/' ||
        snprintf(path, sizeof path, "%s/%s", directory, file) >= (int)sizeof path)
        return 0;
    return identity_from_file(who, path);
}

/* The user's own files, or the one that is named in their place. */
static int identity_from_user(struct identity *who)
{
    const char *global = getenv("GIT_CONFIG_GLOBAL"), *home = getenv("HOME"), *xdg = getenv("XDG_CONFIG_HOME");
    bool given = xdg != NULL && *xdg != '\0';
    if (global != NULL)
        return identity_from_file(who, global);
    int result = identity_below(who, home, ".gitconfig");
    return result != 0 ? result : identity_below(who, given ? xdg : home, given ? "git/config" : ".config/git/config");
}

/* If *out has no value yet: a copy of text, if it has one. */
static int text_value(char **out, const char *text)
{
    bool given = *out == NULL && text != NULL && *text != '\0';
    if (given)
        *out = strdup(text);
    return given && *out == NULL ? -1 : 0;
}

static void without_brackets(char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '<' || *text == '>' || *text == '\n')
            *text = ' ';
}

/* git's variables, as with git, then the repository's configuration, the user's own files, $EMAIL, our default. */
static int find_identity(
    struct identity *who, git_repository *repo, const char *name, const char *email, struct ap_err *err)
{
    if (who->name != NULL && who->email != NULL)
        return 0;
    git_config *config = NULL;
    int result = ap_gitlib.repository_config(&config, repo);
    if (result < 0)
        return ap_gitlib_fail(err, result, "the repository's configuration");
    bool failed = text_value(&who->name, getenv(name)) != 0 || text_value(&who->email, getenv(email)) != 0 ||
                  identity_from(who, config) != 0 || identity_from_user(who) != 0 ||
                  text_value(&who->name, "apsis") != 0 || text_value(&who->email, getenv("EMAIL")) != 0 ||
                  text_value(&who->email, "apsis@localhost") != 0;
    ap_gitlib.config_free(config);
    if (failed)
        return ap_err_memory(err);
    without_brackets(who->name);
    without_brackets(who->email);
    return 0;
}

/* Looks up the tree and the parents; after a failure *parents has those found so far. */
static int find_parts(
    git_tree **tree, git_commit **parents, git_repository *repo, const struct ap_git_commit *spec, struct ap_err *err)
{
    int result = ap_gitlib.tree_lookup(tree, repo, &spec->tree);
    for (size_t i = 0; i < spec->parent_count && result == 0; i++)
        result = ap_gitlib.commit_lookup(&parents[i], repo, &spec->parents[i]);
    return result < 0 ? ap_gitlib_fail(err, result, "commit") : 0;
}

/* Does not use git_commit_create, which in libgit2 1.5 returns 0 when the object could not be written. */
static int write_commit(git_oid *out, git_repository *repo, const struct ap_git_commit *spec, git_signature *author,
    git_signature *committer, struct ap_err *err)
{
    git_tree *tree = NULL;
    git_buf text = {0};
    git_commit **parents = calloc(spec->parent_count + 1, sizeof *parents);
    int result = parents != NULL ? find_parts(&tree, parents, repo, spec, err) : ap_err_memory(err);
    if (result != 0)
        goto out;
    result = ap_gitlib.commit_create_buffer(
        &text, repo, author, committer, NULL, spec->message, tree, spec->parent_count, (const git_commit **)parents);
    if (result == 0)
        result = ap_gitlib_write(out, repo, text.ptr, text.size, GIT_OBJECT_COMMIT);
    if (result < 0)
        ap_gitlib_fail(err, result, "commit");
out:
    for (size_t i = 0; parents != NULL && i < spec->parent_count; i++)
        ap_gitlib.commit_free(parents[i]);
    free(parents);
    ap_gitlib.buf_dispose(&text);
    ap_gitlib.tree_free(tree);
    return result < 0 ? -1 : 0;
}

int ap_git_commit(git_oid *out, struct ap_git *git, const struct ap_git_commit *spec, struct ap_err *err)
{
    git_signature *author = NULL, *committer = NULL;
    if (find_identity(&git->author, git->repo, "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", err) != 0 ||
        find_identity(&git->committer, git->repo, "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", err) != 0)
        return -1;
    int result = ap_gitlib.signature_new(&committer, git->committer.name, git->committer.email, spec->time, 0);
    if (result == 0)
        result = ap_gitlib.signature_new(&author, spec->name != NULL ? spec->name : git->author.name,
            spec->email != NULL ? spec->email : git->author.email, spec->author_time, 0);
    if (result < 0)
        ap_gitlib_fail(err, result, "commit");
    else
        result = write_commit(out, git->repo, spec, author, committer, err);
    ap_gitlib.signature_free(author);
    ap_gitlib.signature_free(committer);
    return result < 0 ? -1 : 0;
}
