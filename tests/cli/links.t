#!/bin/bash
# links: a cloned repository may hold links in the place of apsis's own files and folders. No command follows one: what
# it leads to stays as it is, and the message names the link and how to remove it. And what only looks writes nothing.
UNDISTURBED=1 # by tests/beside_gc: it looks at all files of a repository
. tests/cli/lib.sh || exit 1
. tests/cli/goals.sh

# Files of the user's outside the project, and what is there before and after.
precious() {
    rm -rf "$T/precious" && mkdir -p "$T/precious/0001"
    for name in lock pause turn apsis.log results.jsonl state.json directions.jsonl autoloop.json packs.json \
        .gitignore history.json file; do
        echo "the user's own $name" >"$T/precious/$name"
    done
    cp "$T/precious/file" "$T/precious/0001/prompt.md"
    before=$(contents)
}
contents() { (cd "$T/precious" && find . -type f -newermt 2000-01-01 -printf '%p %s %T@\n' -exec cat {} + | sort); }

# planted LINK TARGET COMMAND...: in a fresh clone of $T/origin with that link committed, in HOME_OF_STATE, each command
# (its words between commas) is refused with a message that names the link, and writes nothing there.
planted() {
    local link=$1 target=$2 command
    shift 2
    item "$link -> $target"
    cd "$T" && rm -rf clone && git clone -q "$T/origin" "$T/clone" || exit 1
    mkdir -p "$T/clone/${HOME_OF_STATE:-.}" && cd "$T/clone/${HOME_OF_STATE:-.}" || exit 1
    mkdir -p "$(dirname "$link")" && rm -rf "$link" && ln -s "$target" "$link" &&
        git add -f "$link" && git commit -qm "a link" && cd "$T/clone" || exit 1
    precious
    for command in "$@"; do
        # shellcheck disable=SC2086
        apsis ${command//,/ }
        like "$command: exit code" "$code" "^[23]\$"
        like "$command: names it" "$err" "/${link//./\\.} is a symbolic link \(to "
        like "$command: the remedy" "$err" "rm '"
        is "$command: what it leads to" "$(contents)" "$before"
    done
    is "the clone" "$(git status --porcelain)" ""
    end_item
}

all=(status log show report best diff baseline baseline,--again run eval direct,--message,x direct,--clear pause resume)
new_project origin
apsis baseline
apsis run --iterations 1
git add -f logs/results.jsonl runs/0001 && git commit -qm "the journal, too"
up=$T/precious

for name in lock pause turn packs.json .gitignore; do planted .apsis/$name "../../precious/$name" "${all[@]}"; done
for name in apsis.log results.jsonl state.json directions.jsonl .gitignore; do
    planted logs/$name "$up/$name" "${all[@]}"
done
planted .apsis/lock "$T/precious/none" "${all[@]}"
for name in .apsis logs runs; do planted $name ../precious "${all[@]}"; done
planted runs/0001 ../../precious/0001 show diff,c0001
planted runs/0001/prompt.md "$up/file" show show,--prompt,c0001

item "a program or a template that leads to a file of the user's home: no provider gets its text"
echo "the user's key" >"$HOME/key"
mkdir -p "$T/shared"
for link in program.md prompts/mutation.md; do
    cd "$T" && rm -rf clone && git clone -q "$T/origin" "$T/clone" && cd "$T/clone" || exit 1
    mkdir -p prompts && ln -sf "$HOME/key" $link && git add -A && git commit -qm "a link"
    for command in setup run; do
        apsis $command
        like "$command: exit code" "$code" "^[23]\$"
        like "$command: names it" "$err$out" "$link leads out of the project \(to $HOME/key\)"
    done
done
cd "$T" && rm -rf clone && git clone -q "$T/origin" "$T/clone" && cd "$T/clone" || exit 1
echo "try more" >own.md && ln -s own.md program.md && git add -A && git commit -qm "a link inside"
apsis status
is "one within the project is fine" "$code" 0
end_item

item "no history.json is moved through a link: to what runs/latest shows, or to a folder that a failed plan never opened"
cd "$T" && rm -rf clone && git clone -q "$T/origin" "$T/clone" && cd "$T/clone" || exit 1
precious
rm -rf runs/0001 && ln -s "$T/precious" runs/0001 && ln -sfn 0001 runs/latest
apsis run --iterations 1
is "exit code" "$code" 0
is "what runs/latest leads to" "$(contents)" "$before"
ln -s "$T/precious" runs/0003
echo 'return { plan = function() error("not today") end }' >fails.lua && git add fails.lua && git commit -qm "fails"
apsis run --strategy fails.lua --iterations 1
is "its outcome" "$(field 3 outcome)" skipped_strategy_error
is "what its folder leads to" "$(contents)" "$before"
end_item

item "an experiment's folder is a link, or holds one"
for link in runs/0002 runs/0002/prompt.md runs/0002/change.patch runs/0002/artifacts; do
    cd "$T" && rm -rf clone && git clone -q "$T/origin" "$T/clone" && cd "$T/clone" || exit 1
    precious
    apsis baseline --again # experiment 2 is a baseline's, 3 is the next
    next=${link/0002/0003}
    mkdir -p "$(dirname "$next")" && ln -s "$T/precious/0001" "$next"
    apsis run --iterations 1
    is "$link: exit code" "$code" 3
    like "$link: names it" "$err" "/${next//./\\.} is a symbolic link"
    is "$link: what it leads to" "$(contents)" "$before"
done
end_item

item "what a link in an experiment's folder leads to is no artifact, which a provider would be shown"
cd "$T/clone" || exit 1
echo 'print(next(require("apsis.live.runs").new("."):artifacts(1)))' >"$T/artifacts.lua"
rm -rf runs/0001/artifacts && mkdir runs/0001/artifacts && echo text >runs/0001/artifacts/report.txt
apsis exec "$T/artifacts.lua"
like "artifacts are found" "$out" 'report.txt.*text'
rm -r runs/0001/artifacts && ln -s "$T/precious" runs/0001/artifacts
apsis exec "$T/artifacts.lua"
is "through a link none are" "$out" nil
rm -r runs/0001 && mkdir "$T/precious/artifacts" && echo key >"$T/precious/artifacts/key" &&
    ln -s "$T/precious" runs/0001
apsis exec "$T/artifacts.lua"
is "nor through one above" "$out" nil
end_item

# ---- standing goals ----

goals origin-of-goals
apsis tick
is "a tick" "$code" 0
rm -rf "$T/origin" && git clone -q --bare "$T/origin-of-goals" "$T/origin"
file=.autoloop/programs/rise.md
goal=(status,$file log,$file report,$file tick,--program,rise)
HOME_OF_STATE=$home
planted .apsis/lock "$up/lock" "${goal[@]}"
planted .apsis/turn "$up/turn" "${goal[@]}"
planted logs/apsis.log "$up/apsis.log" "${goal[@]}"
planted logs ../../../../precious "${goal[@]}"
HOME_OF_STATE=.
planted .apsis ../precious tick
planted .autoloop/programs/rise ../../../precious "${goal[@]}"

(FRONT='memory: folder' goals origin-of-folder)
rm -rf "$T/origin-kept" && mv "$T/origin" "$T/origin-kept"
git clone -q --bare "$T/origin-of-folder" "$T/origin"
planted .autoloop/memory ../../precious "tick,--program,rise" "steer,rise,--set,Paused=true"
planted .autoloop/memory/rise.md ../../../precious/file
rm -rf "$T/origin" && mv "$T/origin-kept" "$T/origin"

item "what only looks writes nothing, and takes no lock"
git clone -q "$T/origin" "$T/looked-at" && cd "$T/looked-at" || exit 1
git fetch -q origin memory/autoloop:memory/autoloop 'refs/apsis/*:refs/apsis/*'
everything() { find . -printf '%p %s %T@\n' | sort; }
before=$(everything)
for command in status log "log --json" "log --graph" show "show --json" "show --prompt" best diff "diff best" \
    "report --out -" "report --json" schedule "steer --print" "direct --list"; do
    case $command in
    schedule | steer*) apsis $command ;;
    show* | diff* | best*) apsis $command -C .autoloop/programs/rise.md ;;
    *) apsis $command .autoloop/programs/rise.md ;;
    esac
    is "$command" "$(everything)" "$before"
done
apsis log .autoloop/programs/rise.md
like "and log has the experiments" "$out" c0001
end_item

finish
