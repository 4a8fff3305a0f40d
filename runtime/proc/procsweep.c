/* SPDX-License-Identifier: MIT */
/* procsweep: ends what commands of an earlier, killed process left running: those whose environment names a workspace
 * and that have no process of this program among their ancestors. A cage that outlives apsis ends its command itself,
 * and may be about to write down an answer: it is left some time. Bounded in time. Called only by lproc.c. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "proc/proc.h"

enum { ENVIRONMENT_MAX = 4 << 20, ANCESTORS_MAX = 100, ROUNDS = 200, PAUSE_NS = 5000000, CAGE_S = 10 };
static const char variable[] = "APSIS_WORKSPACE=";

static int open_of(pid_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Whether a process's environment names a workspace in dir. */
static bool is_of(pid_t pid, const char *dir, struct ap_buf *text)
{
    size_t length = strlen(dir);
    ssize_t count = 0;
    int fd = open_of(pid, "environ");
    if (fd < 0)
        return false;
    for (text->used = 0; text->used < ENVIRONMENT_MAX && ap_buf_reserve(text, text->used + 65536) == 0;
         text->used += (size_t)count)
        if ((count = read(fd, text->bytes + text->used, 65535)) <= 0)
            break;
    close(fd);
    const char *end = text->bytes + text->used;
    for (const char *at = text->bytes; at != NULL && at < end;
         at = memchr(at, '\0', (size_t)(end - at)), at = at != NULL ? at + 1 : NULL)
        if ((size_t)(end - at) > sizeof variable + length && memcmp(at, variable, sizeof variable - 1) == 0 &&
            memcmp(at + sizeof variable - 1, dir, length) == 0 && at[sizeof variable - 1 + length] == '/')
            return true;
    return false;
}

static pid_t parent_of(pid_t pid)
{
    char text[512] = "";
    int fd = open_of(pid, "stat");
    if (fd < 0)
        return 0;
    (void)!read(fd, text, sizeof text - 1);
    close(fd);
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && strlen(name_end) > 4 ? (pid_t)atoi(name_end + 4) : 0;
}

static bool is_cage(pid_t pid)
{
    static const char name[] = "apsis-cage";
    char text[sizeof name] = "";
    int fd = open_of(pid, "cmdline");
    if (fd < 0)
        return false;
    (void)!read(fd, text, sizeof text);
    close(fd);
    return memcmp(text, name, sizeof name) == 0;
}

/* Who looks after a process: this program, if it is an ancestor; else a cage, if it is one or one is an ancestor. */
enum keeper { KEEPER_NONE, KEEPER_CAGE, KEEPER_APSIS };

static enum keeper keeper_of(pid_t pid)
{
    char path[64], ours[4096], theirs[4096];
    ssize_t length = readlink("/proc/self/exe", ours, sizeof ours);
    enum keeper keeper = is_cage(pid) ? KEEPER_CAGE : KEEPER_NONE;
    for (int i = 0; i < ANCESTORS_MAX && (pid = parent_of(pid)) > 1; i++) {
        snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
        if (length > 0 && readlink(path, theirs, sizeof theirs) == length && memcmp(ours, theirs, (size_t)length) == 0)
            return KEEPER_APSIS;
        if (is_cage(pid))
            keeper = KEEPER_CAGE;
    }
    return keeper;
}

/* Through a pidfd, so that no other process that got the same pid is hit. */
static bool end(pid_t pid, const char *dir, struct ap_buf *text)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    bool ended = fd >= 0 && is_of(pid, dir, text) && syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0;
    if (fd >= 0)
        close(fd);
    return ended;
}

/* Ends all that nobody looks after, as far as one look at /proc shows. How many; *kept: a cage looks after some. */
static int end_all(DIR *proc, const char *dir, bool spares_cages, bool *kept, struct ap_buf *text)
{
    int found = 0;
    *kept = false;
    for (struct dirent *entry; (entry = readdir(proc)) != NULL;) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid <= 1 || pid == getpid() || !is_of(pid, dir, text))
            continue;
        enum keeper keeper = keeper_of(pid);
        if (keeper == KEEPER_CAGE && spares_cages)
            *kept = true;
        else if (keeper != KEEPER_APSIS)
            found += end(pid, dir, text);
    }
    return found;
}

int ap_proc_sweep(int *ended, const char *dir, struct ap_err *err)
{
    struct ap_buf text = {0};
    struct timespec pause = {0, PAUSE_NS};
    long long until_ns = ap_sys_now_ns() + CAGE_S * 1000000000LL;
    bool kept = false;
    *ended = 0;
    for (int round = 0, found = 1; round < ROUNDS && (found > 0 || kept); round += !kept) {
        DIR *proc = opendir("/proc");
        if (proc == NULL) {
            ap_buf_dispose(&text);
            return ap_err_errno(err, errno, "/proc");
        }
        found = end_all(proc, dir, ap_sys_now_ns() < until_ns, &kept, &text);
        closedir(proc);
        *ended = found > *ended ? found : *ended;
        if (found > 0 || kept)
            nanosleep(&pause, NULL); /* until the killed are gone; catches what they started meanwhile */
    }
    ap_buf_dispose(&text);
    return 0;
}
