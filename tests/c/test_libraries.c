/* SPDX-License-Identifier: MIT */
/* test_libraries: how libgit2 and libcurl are found: under which names, and how it fails if none is there or
 * it is too old. Each case runs in a process of its own, as a library that was loaded stays. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "git/gitlib.h"
#include "http/curllib.h"
#include "tap.h"

static const char *there;   /* the only name that a library has; "": it has none */
static const char *library; /* what is found under that name */
static char asked[300];     /* the names that were asked for, each with a blank after it */
static int closed;

void *dlopen(const char *name, int flags)
{
    void *address = dlsym(RTLD_NEXT, "dlopen"), *(*real)(const char *, int);
    memcpy(&real, &address, sizeof real);
    if (name == NULL || there == NULL)
        return real(name, flags);
    strcat(strcat(asked, name), " ");
    return strcmp(name, there) == 0 ? real(library, flags) : real("/nowhere/nothing.so", flags);
}

int dlclose(void *handle)
{
    void *address = dlsym(RTLD_NEXT, "dlclose");
    int (*real)(void *);
    memcpy(&real, &address, sizeof real);
    closed++;
    return real(handle);
}

typedef int loader(struct ap_err *err);

/* Whether load asks for these names and then succeeds (message: ""), or fails with such a message, twice alike. */
static bool loads(loader *load, const char *names, const char *message)
{
    pid_t pid = fork();
    int status = 0;
    if (pid > 0)
        return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    struct ap_err err = {0};
    bool found = *message == '\0', too_old = strstr(message, " has no ") != NULL;
    for (int time = 0; time < 2; time++) {
        int result = load(&err);
        const char *expected = found && time > 0 ? "" : names; /* what is loaded is not looked for again */
        if (strcmp(asked, expected) != 0 || closed != too_old || result != (found ? 0 : -1) ||
            (!found && (strcmp(err.code, "ENOLIB") != 0 || strstr(err.message, message) == NULL)))
            _exit(1);
        asked[0] = '\0';
        closed = 0;
    }
    there = NULL;
    _exit(found && load(NULL) != 0 ? 1 : 0);
}

static bool loads_as(const char *name, const char *file, loader *load, const char *names, const char *message)
{
    there = name;
    library = file;
    bool as_expected = loads(load, names, message);
    there = NULL;
    return as_expected;
}

int main(void)
{
    static const char git[] = "libgit2.so." LIBGIT2_SOVERSION, curl[] = "libcurl.so.4";
    static const char gits[] = "libgit2.so." LIBGIT2_SOVERSION " libgit2.so ";
    static const char curls[] = "libcurl.so.4 libcurl-gnutls.so.4 libcurl.so ";
    static const char no_git[] = "libgit2 " LIBGIT2_SOVERSION
                                 " is not installed (apt install libgit2-" LIBGIT2_SOVERSION "): /nowhere/nothing.so: ";
    ok(loads_as(git, git, ap_gitlib_load, "libgit2.so." LIBGIT2_SOVERSION " ", ""),
        "libgit2 of the version that apsis was built with comes first");
    ok(loads_as("libgit2.so", git, ap_gitlib_load, gits, ""), "if it is not there, the one without a version is taken");
    ok(loads_as("", NULL, ap_gitlib_load, gits, no_git), "no libgit2: what is missing, and how to install it");
    ok(loads_as(git, "libc.so.6", ap_gitlib_load, "libgit2.so." LIBGIT2_SOVERSION " ", "libgit2 has no git_"),
        "a libgit2 without a function that is needed is closed, and the function named");
    ok(loads_as(curl, curl, ap_curllib_load, "libcurl.so.4 ", ""), "libcurl's usual name comes first");
    ok(loads_as("libcurl-gnutls.so.4", curl, ap_curllib_load, "libcurl.so.4 libcurl-gnutls.so.4 ", ""),
        "then git's libcurl");
    ok(loads_as("libcurl.so", curl, ap_curllib_load, curls, ""), "then the one without a version");
    ok(loads_as(
           "", NULL, ap_curllib_load, curls, "libcurl is not installed (apt install libcurl4): /nowhere/nothing.so: "),
        "no libcurl: what is missing, and how to install it");
    ok(loads_as(curl, "libc.so.6", ap_curllib_load, "libcurl.so.4 ", "libcurl has no curl_"),
        "a libcurl without a function that is needed is closed, and the function named");
    return done();
}
