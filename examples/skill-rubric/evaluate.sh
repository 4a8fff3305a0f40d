#!/bin/sh
# evaluate: scores SKILL.md. A model follows it on a case, and a judge compares what comes out with the reference in gold/.
#   evaluate.sh CASE   one case: METRIC lines for each dimension and for overall_score
#   evaluate.sh        all cases: their means
# What the model wrote goes to stderr, and so to the candidate's artifacts, which strategies such as openevolve show to the provider; what
# the judge said stays out of it, for it may quote the reference. Exits 1 without any METRIC line where a model does not answer, or the judge's answer is none.
set -eu
LC_ALL=C
export LC_ALL

one_case()
{
    report=$(apsis exec executor.lua "$1") || exit 1
    printf '%s:\n%s\n' "$1" "$report" | sed '2,$s/^/  /' >&2
    printf '%s\n' "$report" | apsis exec judge.lua "$1"
}

cd "$(dirname "$0")"
if [ $# -gt 0 ]; then
    one_case "$1"
    exit
fi
for case in cases/*.txt; do
    scores=${scores-}$(one_case "$case")'
' || exit 1
done
printf '%s' "$scores" | awk -F= '
    /^METRIC / { if (!($1 in sum)) names[++n] = $1; sum[$1] += $2; count[$1]++ }
    END { for (i = 1; i <= n; i++) printf "%s=%.6g\n", names[i], sum[names[i]] / count[names[i]] }'
