/* SPDX-License-Identifier: MIT */
/* filelock: a lock that one process holds until it ends in any way: flock on a file that names the holder. Called only
 * by lstate.c; live/lock.lua says what is locked. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "state/state.h"

enum { TRIES = 20, PAUSE_NS = 10 * 1000 * 1000 };

static int refuse_locked(char *holder, const char *path, struct ap_err *err)
{
    char *since = strchr(holder, ' ');
    holder[strcspn(holder, "\n")] = '\0';
    if (since == NULL) /* it has the lock, but has not written its pid yet */
        return ap_err_set(err, "LOCKED", "held by another process (%s)", path);
    *since++ = '\0';
    return ap_err_set(err, "LOCKED", "held by pid %s since %s (%s)", holder, since, path);
}

/* A process that the holder was starting when it was killed has the lock, too, until its exec closes it. */
static bool is_left_over(const char *holder)
{
    long pid = strtol(holder, NULL, 10);
    return pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

int ap_state_lock_open(int *out, const char *path, struct ap_err *err)
{
    struct stat mine, there;
    for (int tries = 0;;) {
        int fd = ap_state_open_own(path, O_RDWR | O_CREAT);
        if (fd < 0)
            return ap_err_errno(err, errno, "%s", path);
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            int errnum = errno;
            char holder[128] = "";
            (void)!pread(fd, holder, sizeof holder - 1, 0); /* what cannot be read is like nothing */
            close(fd);
            if (errnum != EWOULDBLOCK)
                return ap_err_errno(err, errnum, "%s", path);
            if (!is_left_over(holder) || ++tries == TRIES)
                return refuse_locked(holder, path, err);
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
            continue;
        }
        /* Someone may have removed the file between open and flock: a lock on a file without a name excludes nobody. */
        if (fstat(fd, &mine) == 0 && lstat(path, &there) == 0 && mine.st_dev == there.st_dev &&
            mine.st_ino == there.st_ino) {
            char text[64], when[32] = "";
            time_t now = time(NULL);
            struct tm utc;
            if (gmtime_r(&now, &utc) != NULL)
                strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
            int length = snprintf(text, sizeof text, "%ld %s\n", (long)getpid(), when);
            /* Ignore write errors: flock excludes others; the pid in the file is only for the error message. */
            if (ftruncate(fd, 0) == 0)
                (void)!pwrite(fd, text, (size_t)length, 0);
            *out = fd;
            return 0;
        }
        close(fd);
    }
}

void ap_state_lock_close(int fd)
{
    /* The file stays: if it were removed, two processes could each lock their own file. */
    (void)!ftruncate(fd, 0);
    close(fd);
}
