/* SPDX-License-Identifier: MIT */
/* main: argv, one host, the exit code. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "host/host.h"

/* Opens the descriptors 0 to 2 that the caller left closed. Otherwise the next file that is opened, such as the
 * journal, becomes standard output, and what is printed goes into it. */
static int open_standard_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR); /* the lowest that is free */
    while (fd >= 0 && fd <= 2);
    return fd > 2 ? close(fd) : -1;
}

int main(int argc, char **argv)
{
    if (open_standard_descriptors() != 0) {
        perror("apsis: /dev/null");
        return 3;
    }
    signal(SIGXFSZ, SIG_IGN); /* beyond the user's limit on files, a write then fails, and says so */
    return ap_host_run(argc, argv);
}
