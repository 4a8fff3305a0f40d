#!/bin/sh
# tell: what `on:` runs after each experiment, and when a program is paused or completed. The journal line is on standard input.
# First everything goes to origin, or nothing of it, where another clone was there before: should that fail, apsis shows it and goes
# on, and the next time pushes this too. Then the program's issue hears of it, by gh, and a first success opens a draft pull request.
set -eu
root=$(git rev-parse --show-toplevel)
PATH=$root/bin:$PATH # bin/gh stands in for GitHub's own; take this line out, and it is that one

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

if [ "$APSIS_KIND" = kept ] && [ -z "$(gh pr list --head "$APSIS_BRANCH" --state open --json number --jq '.[].number')" ]; then
    gh pr create --draft --head "$APSIS_BRANCH" --title "$APSIS_PROGRAM" --body "${issue:+For #$issue. }Kept by apsis; its branch grows."
fi
