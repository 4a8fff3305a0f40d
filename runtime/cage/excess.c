/* SPDX-License-Identifier: MIT */
/* excess: detects a command that takes too much disk space or starts too many processes. Part of the cage program. */
#include "cage/excess.h"

#include <stdbool.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cage/kill.h"
#include "cage/plan.h"

enum { TAKEN = 64 << 20 }; /* bytes: a smaller loss of free space may be due to other programs */

static unsigned long long free_of(const struct statvfs *disk)
{
    bool full = disk->f_files > 0 && disk->f_favail < disk->f_files / 50;
    return full ? 0 : (unsigned long long)disk->f_bavail * disk->f_frsize;
}

unsigned long long cage_disk_free(const char *path)
{
    struct statvfs disk;
    unsigned long long left = statvfs(path, &disk) == 0 ? free_of(&disk) : ~0ULL;
    if (cage_plan[RECORD] >= 0 && fstatvfs(STDOUT_FILENO, &disk) == 0 && free_of(&disk) < left)
        left = free_of(&disk); /* its output is a file, perhaps on another disk */
    return left;
}

int cage_excess(const char *cwd, unsigned long long free_before)
{
    unsigned long long reserve = (unsigned long long)cage_plan[DISK_RESERVE], left = cage_disk_free(cwd);
    if (cage_plan[DISK_RESERVE] > 0 && left < reserve && left < free_before && free_before - left > TAKEN)
        return STOP_DISK;
    /* the kernel does not limit root's processes; count the init (or bwrap's processes) too */
    int most = (int)cage_plan[PROCESSES] + (cage_subreaper ? 2 : 1);
    if (cage_plan[PROCESSES] >= 0 && (cage_subreaper ? cage_tree_count(most) : cage_process_count(most)) > most)
        return STOP_PROCESSES;
    return STOP_NONE;
}
