// SPDX-License-Identifier: MIT
/* launcher: the program `apsis` of a bundle (make bundle), a folder that carries its libraries and runs where no other
 * library is installed. Static; starts lib/apsis by the bundle's own dynamic loader. Not part of the program itself. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char own[PATH_MAX], loader[PATH_MAX + 64], libraries[PATH_MAX + 64], program[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0) {
        fputs("apsis: /proc is not mounted; mount it: mount -t proc proc /proc\n", stderr);
        return 3;
    }
    own[length] = '\0';
    *strrchr(own, '/') = '\0';
    snprintf(loader, sizeof loader, "%s/lib/%s", own, AP_LOADER);
    snprintf(libraries, sizeof libraries, "%s/lib", own);
    snprintf(program, sizeof program, "%s/lib/apsis", own);
    char *head[] = {loader, "--library-path", libraries, "--argv0", argv[0], program};
    size_t count = sizeof head / sizeof *head;
    char **args = calloc(count + (size_t)argc, sizeof *args);
    if (args == NULL)
        return 3;
    memcpy(args, head, sizeof head);
    if (argc > 1)
        memcpy(args + count, argv + 1, ((size_t)argc - 1) * sizeof *args);
    execv(loader, args);
    perror(loader);
    return 3;
}
