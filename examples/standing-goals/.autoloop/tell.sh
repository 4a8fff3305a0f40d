#!/bin/sh
# tell: `on:` runs it after each experiment, and when a program is paused or completed. The journal line is on standard input.
# Pushes everything to origin, or nothing if another clone pushed before: then apsis shows the failure, and the next call pushes
# this too. Then comments on the program's issue with gh, and opens a draft pull request at the first success.
set -eu
root=$(git rev-parse --show-toplevel)
PATH=$root/bin:$PATH # finds bin/gh, a stand-in; without this line, GitHub's own gh is used

git push --quiet --atomic origin "+refs/apsis/$APSIS_PROGRAM/*:refs/apsis/$APSIS_PROGRAM/*" \
    "+refs/apsis-anchors/$APSIS_PROGRAM/*:refs/apsis-anchors/$APSIS_PROGRAM/*" \
    "refs/heads/$APSIS_BRANCH" "refs/heads/$APSIS_MEMORY_BRANCH"

# The number in the row "Issue" of the program's state file.
issue=$(git show "$APSIS_MEMORY_BRANCH:$APSIS_PROGRAM.md" | sed -n 's/^| *Issue *| *#\([0-9][0-9]*\) *|.*/\1/p')

comment() { # TEXT on standard input
    [ -z "$issue" ] || gh issue comment "$issue" --body-file -
}

case $APSIS_KIND in
kept | rejected)
    apsis exec "$root/.autoloop/comment.lua" | comment
    ;;
paused)
    echo "Paused: $APSIS_REASON" | comment
    ;;
completed)
    echo "Completed: $APSIS_REASON" | comment
    [ -z "$issue" ] || gh issue edit "$issue" --remove-label autoloop-program --add-label autoloop-completed
    ;;
esac

[ "$APSIS_KIND" = kept ] || exit 0
if [ -z "$(gh pr list --head "$APSIS_BRANCH" --state open --json number --jq '.[].number')" ]; then
    gh pr create --draft --head "$APSIS_BRANCH" --title "$APSIS_PROGRAM" \
        --body "${issue:+For #$issue. }Kept by apsis; its branch grows."
fi
