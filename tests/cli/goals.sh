# goals: what the tests of standing goals share. Sourced after lib.sh, from the repository's root.

steps='return function(proposal) return { ["value.txt"] = 10 * proposal.experiment .. "\n" } end'
measure='echo "METRIC rise=$(head -1 value.txt)"'

# goals NAME: a git repository in $T/NAME with one goal, `rise`, which becomes the current directory. FRONT: lines of its front matter.
goals() {
    mkdir -p "$T/$1/.autoloop/programs" && cd "$T/$1" || exit 1
    git init -q .
    echo 1 >value.txt && echo other >other.txt
    cat >.autoloop/programs/rise.md <<END
---
${FRONT-schedule: every 6h}
provider: {kind: lua, use: rise.lua}
---
## Goal
More.
## Target
- \`value.txt\`
## Evaluation
\`\`\`sh
${MEASURE-$measure}
\`\`\`
The metric is \`rise\`.
END
    printf '%s\n' "${PROVIDE-$steps}" >rise.lua
    git add -A && git commit -qm goals
}

home=.autoloop/programs/rise
row() { git show "memory/autoloop:${2-rise}.md" | sed -nE "s/^\| $1 \| (.*) \|\$/\1/p"; }
outcomes() { sed -nE 's/.*"outcome": *"([a-z_]+)".*/\1/p' $home/logs/results.jsonl | tr '\n' ' '; }
at() { export APSIS_NOW=$1; }
commit_file() { echo "$2" >"$1" && git add "$1" && git commit -qm "$1"; }

# edit FILE SED: a person's edit of a state file, committed on the memory branch with git alone.
edit() {
    local index=$T/index blob
    rm -f "$index"
    git show "memory/autoloop:$1" | sed "$2" >"$T/edited"
    blob=$(git hash-object -w "$T/edited")
    GIT_INDEX_FILE=$index git read-tree memory/autoloop
    GIT_INDEX_FILE=$index git update-index --add --cacheinfo "100644,$blob,$1"
    git update-ref refs/heads/memory/autoloop "$(git commit-tree -p memory/autoloop -m "by hand" "$(GIT_INDEX_FILE=$index git write-tree)")"
}
