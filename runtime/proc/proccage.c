/* SPDX-License-Identifier: MIT */
/* proccage: makes the cage program executable: as an anonymous file in memory, or without /proc as a file that is
 * removed at exit. Done once per process; starts nothing. Used only by proc.c. */
#define _GNU_SOURCE
#include "proc/proccage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sys.h"
#include "proc/procout.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

static char cage_path[4096]; /* "" until ap_proc_cage */
static char cage_dir[4000];

const char *ap_proccage_path(void)
{
    return cage_path[0] != '\0' ? cage_path : NULL;
}

/* Moves a descriptor away from those that the child gets: without stdin and such, a new one may be 0. */
int ap_fd_raise(int fd)
{
    if (fd < 0 || fd >= AP_FD_CHILD_COUNT)
        return fd;
    int raised = fcntl(fd, F_DUPFD_CLOEXEC, AP_FD_CHILD_COUNT);
    int saved = errno;
    close(fd);
    errno = saved;
    return raised;
}

static void cage_remove(void)
{
    unlink(cage_path);
    rmdir(cage_dir);
}

/* Without /proc a memfd cannot be executed: uses a file, removed at exit. */
static int cage_to_file(const void *bytes, size_t count, struct ap_err *err)
{
    const char *places[] = {getenv("TMPDIR"), "/tmp", "/dev/shm", "/var/tmp"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (places[i] == NULL || *places[i] == '\0')
            continue;
        snprintf(cage_dir, sizeof cage_dir, "%s/apsis-XXXXXX", places[i]);
        if (mkdtemp(cage_dir) == NULL)
            continue;
        snprintf(cage_path, sizeof cage_path, "%s/cage", cage_dir);
        int fd = open(cage_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
        int written = fd >= 0 ? ap_sys_write(fd, bytes, count) : -1;
        if (fd >= 0)
            close(fd);
        if (written == 0 && access(cage_path, X_OK) == 0) { /* X_OK fails on a noexec mount */
            atexit(cage_remove);
            return 0;
        }
        cage_remove();
    }
    cage_path[0] = '\0';
    return ap_err_set(err, "ENOEXEC", "cannot execute the cage: no /proc, and neither TMPDIR nor /tmp allows it");
}

int ap_proc_cage(const void *bytes, size_t count, struct ap_err *err)
{
    if (cage_path[0] != '\0')
        return 0;
    int fd = memfd_create("cage", MFD_CLOEXEC | MFD_EXEC);
    if (fd < 0 && errno == EINVAL)
        fd = memfd_create("cage", MFD_CLOEXEC); /* before Linux 6.3 */
    fd = ap_fd_raise(fd);
    int written = fd >= 0 ? ap_sys_write(fd, bytes, count) : -1, errnum = errno;
    if (written == 0) {
        snprintf(cage_path, sizeof cage_path, "/proc/self/fd/%d", fd);
        if (access(cage_path, X_OK) == 0)
            return 0; /* the memfd stays open for the life of the process */
    }
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && written != 0 && errnum == EFBIG)
        return ap_err_set(err, "EFBIG",
            "no file of more than `ulimit -f` may be written here, and the program that confines commands has %zu kB: "
            "raise the limit",
            count / 1024 + 1);
    return cage_to_file(bytes, count, err);
}
