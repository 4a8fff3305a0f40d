/* SPDX-License-Identifier: MIT */
/* kill: finds the descendants of this process through /proc and ends them. Part of the cage program. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cage/kill.h"
#include "cage/clock.h"

enum { PROCESSES_MAX = 1 << 16 };

static bool is_pid(const char *name)
{
    return isdigit((unsigned char)name[0]);
}

/* Not from its `stat`: reading that waits while the process is in execve, and among thousands it may stay there for
 * seconds, whatever the priority of this one. */
static pid_t parent_of(const char *pid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%.20s/status", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    (void)!read(fd, text, sizeof text - 1);
    close(fd);
    const char *line = strstr(text, "\nPPid:"); /* a name's line feeds are escaped */
    return line != NULL ? (pid_t)atoi(line + 6) : -1;
}

struct process {
    pid_t pid, parent;
    bool ours;
};
static struct process all[PROCESSES_MAX];

static int by_pid(const void *a, const void *b)
{
    pid_t one = ((const struct process *)a)->pid, other = ((const struct process *)b)->pid;
    return (one > other) - (one < other);
}

/* Marks the descendants of this process among all processes. Returns how many there are. */
static int tree_find(void)
{
    int count = 0;
    DIR *proc = opendir("/proc");
    if (proc == NULL)
        return 0;
    for (struct dirent *entry; count < PROCESSES_MAX && (entry = readdir(proc)) != NULL;)
        if (is_pid(entry->d_name)) {
            pid_t parent = parent_of(entry->d_name);
            all[count++] = (struct process){(pid_t)atoi(entry->d_name), parent, parent == getpid()};
        }
    closedir(proc);
    qsort(all, (size_t)count, sizeof all[0], by_pid);
    for (bool found = true; found;) {
        found = false;
        for (int i = 0; i < count; i++) {
            struct process key = {.pid = all[i].parent};
            struct process *parent = all[i].ours ? NULL : bsearch(&key, all, (size_t)count, sizeof all[0], by_pid);
            if (parent != NULL && parent->ours)
                found = all[i].ours = true;
        }
    }
    return count;
}

int cage_tree_signal(int signal)
{
    int count = tree_find(), found = 0;
    for (int i = 0; i < count; i++)
        if (all[i].ours) {
            kill(all[i].pid, signal);
            found++;
        }
    return found;
}

int cage_tree_count(int most)
{
    int count = cage_process_count(most);
    return count <= most ? count : cage_tree_signal(0); /* the whole machine has no more than `most` */
}

/* Orphans become our children, so having no child means that none is left. */
void cage_tree_kill(int give_up_s)
{
    struct timespec pause = {0, 500000};
    long long until_ns = cage_now_ns() + give_up_s * 1000000000LL;
    for (;;) {
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (pid < 0 || cage_now_ns() >= until_ns)
            return;
        cage_tree_signal(SIGKILL);
        nanosleep(&pause, NULL);
    }
}

int cage_process_count(int most)
{
    int count = 0;
    DIR *proc = opendir("/proc");
    if (proc == NULL)
        return 0;
    for (struct dirent *entry; count <= most && (entry = readdir(proc)) != NULL;)
        count += is_pid(entry->d_name);
    closedir(proc);
    return count;
}
