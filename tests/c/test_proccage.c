/* SPDX-License-Identifier: MIT */
/* test_proccage: where the cage program is put: in memory, or without that in a file which goes away at exit. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/proc.h"
#include "proc/proccage.h"
#include "tap.h"

static char program[1 << 20]; /* that of the command false: one that the kernel runs without an interpreter */
static size_t size;
static char dir[] = "/tmp/apsis-test-XXXXXX";

static enum { NEW, OLD, NO_MEMFD, FULL, NO_EXEC } kernel; /* what the kernel cannot do */

int memfd_create(const char *name, unsigned flags)
{
    if (kernel >= NO_MEMFD || (kernel >= OLD && flags != MFD_CLOEXEC)) {
        errno = kernel >= NO_MEMFD ? ENOSYS : EINVAL;
        return -1;
    }
    return (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    if (kernel == FULL) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_write, fd, bytes, count);
}

int access(const char *path, int mode)
{
    if (kernel == NO_EXEC) {
        errno = EACCES;
        return -1;
    }
    return faccessat(AT_FDCWD, path, mode, 0);
}

static int entries_of(const char *path)
{
    int count = -2; /* . and .. */
    DIR *folder = opendir(path);
    while (folder != NULL && readdir(folder) != NULL)
        count++;
    if (folder != NULL)
        closedir(folder);
    return count;
}

static int code_of(pid_t pid)
{
    int status;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool runs(const char *path)
{
    pid_t pid = fork();
    if (pid == 0) {
        execl(path, "false", (char *)NULL);
        _exit(0);
    }
    return code_of(pid) == 1;
}

/* In a process of its own: puts the program somewhere, runs it, and exits with: 1: in memory, 2: in a file below dir,
 * 3: in a file elsewhere; 4: refused; 5: what is there is not the program; 6: an open descriptor more than expected. */
static int put(const char *tmpdir, int with_kernel)
{
    pid_t pid = fork();
    if (pid > 0)
        return code_of(pid);
    struct ap_err err = {0};
    if (tmpdir != NULL)
        setenv("TMPDIR", tmpdir, 1);
    else
        unsetenv("TMPDIR");
    kernel = with_kernel;
    int before = entries_of("/proc/self/fd");
    errno = EINVAL; /* left over: it means nothing unless a call fails */
    int result = ap_proc_cage(program, size, &err);
    int opened = entries_of("/proc/self/fd") - before;
    bool again = ap_proc_cage("other", 5, NULL) == 0;
    kernel = NEW;
    const char *path = ap_proccage_path();
    if (result != 0)
        exit(path == NULL && !again && opened == 0 && strcmp(err.code, "ENOEXEC") == 0 ? 4 : 5);
    bool memory = strncmp(path, "/proc/self/fd/", 14) == 0;
    if (opened != memory || (memory && atoi(path + 14) < AP_FD_CHILD_COUNT))
        exit(6);
    if (!again || !runs(path))
        exit(5);
    exit(memory ? 1 : strncmp(path, dir, strlen(dir)) == 0 ? 2 : 3);
}

static void test_raise(void)
{
    int low = open("/dev/null", O_RDONLY), raised = ap_fd_raise(low);
    ok(low < AP_FD_CHILD_COUNT && raised >= AP_FD_CHILD_COUNT && fcntl(low, F_GETFD) < 0 &&
            fcntl(raised, F_GETFD) == FD_CLOEXEC,
        "a low descriptor is moved, and closed on exec");
    ok(ap_fd_raise(raised) == raised, "a high one stays");
    close(raised);
    int first = fcntl(0, F_DUPFD_CLOEXEC, AP_FD_CHILD_COUNT);
    ok(ap_fd_raise(first) == first, "so does the first that the child does not get");
    close(first);
    errno = EMFILE;
    ok(ap_fd_raise(-1) == -1 && errno == EMFILE, "none stays none, with its reason");
}

int main(void)
{
    int fd = open("/bin/false", O_RDONLY);
    size = (size_t)read(fd, program, sizeof program);
    close(fd);
    if (mkdtemp(dir) == NULL)
        return 1;
    ok(ap_proccage_path() == NULL, "at first there is none");
    test_raise();
    ok(put(dir, NEW) == 1, "the program is in memory");
    ok(put(dir, OLD) == 1, "also before Linux 6.3");
    close(0); /* the lowest descriptor is one that a command gets */
    ok(put(dir, NEW) == 1, "also without standard input");
    open("/dev/null", O_RDONLY);
    ok(entries_of(dir) == 0, "and leaves no file");
    ok(put(dir, NO_MEMFD) == 2 && entries_of(dir) == 0, "without memory it is in a file of TMPDIR until the end");
    ok(put("/none", NO_MEMFD) == 3 && put("", NO_MEMFD) == 3 && put(NULL, NO_MEMFD) == 3, "or in another folder");
    ok(put(dir, FULL) == 4 && entries_of(dir) == 0, "where nothing can be written there is none, and nothing is left");
    ok(put(dir, NO_EXEC) == 4 && entries_of(dir) == 0, "nor where nothing can be executed");
    rmdir(dir);
    return done();
}
