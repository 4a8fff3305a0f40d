/* SPDX-License-Identifier: MIT */
/* vanish: a libc whose link() first removes the folder of the new name, while `vanishing` is above 0 and the folder is
 * empty: this is what `git gc` does to the folder of an object while libgit2 writes it. */
#ifndef VANISH_H
#define VANISH_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int vanishing;

int link(const char *from, const char *to)
{
    char folder[300];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(to, '/') - to), to);
    if (vanishing > 0 && rmdir(folder) == 0)
        vanishing--;
    return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

#endif
