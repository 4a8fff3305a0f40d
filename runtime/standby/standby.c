/* SPDX-License-Identifier: MIT */
/* standby: copies of this process that sleep until one of them is woken and goes on in its place. The first process,
 * the keeper, is the parent of all: it only waits, and ends as the one that runs ends, with all copies; if it is
 * killed, the kernel kills them. Owns the page that all share: who runs, who sleeps, the text for the one that is
 * woken. Called by lstandby.c. */
#define _GNU_SOURCE
#include "standby/standby.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

enum { MOST = 1024, FAILED = 3 };

static struct shared {
    pid_t keeper;
    volatile pid_t running;      /* or the copy that was woken to run */
    volatile pid_t asleep[MOST]; /* 0: a free place; the keeper frees one when it has reaped the process */
    size_t length;
    char words[AP_STANDBY_WORDS];
} * shared;

static int no_copy(int errnum, struct ap_err *err)
{
    return ap_err_errno(err, errnum, "no copy of the process");
}

/* The kernel kills a copy with the keeper; one that came too late for that ends itself. */
static void begin_copy(void)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != shared->keeper)
        _exit(FAILED);
}

/* fork, but of the keeper's children: a copy outlives the one it is of, and the keeper reaps all. */
static pid_t fork_sibling(void)
{
    pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0)
        begin_copy();
    return pid;
}

static _Noreturn void end_all(int status)
{
    for (int i = 0; i < MOST; i++)
        if (shared->asleep[i] != 0)
            kill(shared->asleep[i], SIGKILL);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    _exit(128 + WTERMSIG(status));
}

/* The keeper's whole life: Ctrl-C is for the one that runs; what ends a program ends the keeper, and so all. */
static _Noreturn void keep(void)
{
    signal(SIGINT, SIG_IGN);
    static const int ending[] = {SIGTERM, SIGHUP, SIGPIPE, SIGALRM};
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        signal(ending[i], SIG_DFL);
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, 0);
        if (pid < 0 && errno != EINTR)
            _exit(FAILED);
        for (int i = 0; pid > 0 && i < MOST; i++)
            if (shared->asleep[i] == pid)
                shared->asleep[i] = 0;
        if (pid > 0 && pid == shared->running)
            end_all(status);
    }
}

int ap_standby_keep(struct ap_err *err)
{
    void *page = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return no_copy(errno, err);
    shared = page;
    shared->keeper = getpid();
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        int errnum = errno;
        munmap(page, sizeof *shared);
        shared = NULL;
        return no_copy(errnum, err);
    }
    if (pid > 0) {
        shared->running = pid;
        keep();
    }
    begin_copy();
    shared->running = getpid();
    return 0;
}

/* Sleeps, and leaves another copy to go on each time it is woken. Returns in that one. */
static void sleep_until_woken(void)
{
    sigset_t wake;
    sigemptyset(&wake);
    sigaddset(&wake, SIGUSR1);
    for (;;) {
        int number;
        if (sigwait(&wake, &number) != 0)
            continue;
        if (fork_sibling() <= 0)
            break; /* no copy: this one goes on itself */
    }
    shared->running = getpid(); /* not by the one that sleeps on: it might be late, and name one that has ended */
}

int ap_standby_leave(pid_t *pid, struct ap_err *err)
{
    int place = 0;
    while (shared != NULL && place < MOST && shared->asleep[place] != 0)
        place++;
    if (shared == NULL || place == MOST)
        return no_copy(EAGAIN, err);
    fflush(NULL);
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* a copy that sleeps takes no other signal, nor misses the one */
    *pid = fork_sibling();
    int errnum = errno;
    if (*pid > 0)
        shared->asleep[place] = *pid;
    else if (*pid == 0)
        sleep_until_woken();
    sigprocmask(SIG_SETMASK, &before, NULL);
    return *pid < 0 ? no_copy(errnum, err) : 0;
}

static volatile pid_t *place_of(pid_t pid)
{
    for (int i = 0; shared != NULL && pid > 0 && i < MOST; i++)
        if (shared->asleep[i] == pid)
            return &shared->asleep[i];
    return NULL;
}

int ap_standby_wake(pid_t pid, const char *text, size_t length, struct ap_err *err)
{
    if (place_of(pid) == NULL || length > sizeof shared->words)
        return ap_err_set(err, "ESRCH", "no copy of the process sleeps there");
    memcpy(shared->words, text, length);
    shared->length = length;
    fflush(NULL);
    shared->running = pid;
    if (kill(pid, SIGUSR1) == 0)
        _exit(0);
    int errnum = errno;
    shared->running = getpid();
    return no_copy(errnum, err);
}

const char *ap_standby_words(size_t *length)
{
    *length = shared->length;
    return shared->words;
}

void ap_standby_drop(pid_t pid)
{
    if (place_of(pid) != NULL)
        kill(pid, SIGKILL);
}
