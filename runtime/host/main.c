/* SPDX-License-Identifier: MIT */
/* main: argv, one host, the exit code. */
#include "host/host.h"

int main(int argc, char **argv)
{
    return ap_host_run(argc, argv);
}
