/* SPDX-License-Identifier: MIT */
/* plan: the numbers of this run of the cage, set once by its main program and read by every part. */
#include "cage/plan.h"

long long cage_plan[PLAN_COUNT];
bool cage_subreaper;

bool cage_is_boxed(void)
{
    return cage_plan[MODE] == CAGE_NAMESPACES || cage_plan[MODE] == CAGE_LANDLOCK;
}
