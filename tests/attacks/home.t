#!/bin/bash
# home: attacks on what is the user's own: home, project, other workspaces, settings of the machine; by reading, writing, links, mounts.
. tests/attacks/lib.sh || exit 1

attack home-read "a candidate reads ~/.ssh/id_rsa, also by way of /proc"
opens none
candidate <<'END'
. ./paths.sh
cat "$USERS_HOME/.ssh/id_rsa" ~/.ssh/id_rsa /proc/self/root/"$USERS_HOME"/.ssh/id_rsa /proc/1/root/"$USERS_HOME"/.ssh/id_rsa
END
is "outcome" "$(outcome)" kept
won "the key was read" said PRIVATE-KEY
end_attack

attack home-read-provider "a provider reads ~/.ssh/id_rsa, through a link in its workspace too"
opens none
provider <<'END'
. ./paths.sh
ln -s "$USERS_HOME/.ssh" keys
cat "$USERS_HOME/.ssh/id_rsa" keys/id_rsa
rm keys
echo 1 >value.txt
END
is "outcome" "$(outcome)" kept
won "the key was read" said PRIVATE-KEY
end_attack

attack home-write "a candidate adds a line to ~/.profile"
opens none
candidate <<'END'
. ./paths.sh
echo 'export MARK=attacked' >>"$USERS_HOME/.profile"
mkdir -p ~/.config/autostart && echo x >~/.config/autostart/evil.desktop
END
is "outcome" "$(outcome)" kept
won "the line is there" holds "$HOME/.profile" attacked
won "a file is there" test -e "$HOME/.config/autostart/evil.desktop"
echo 'export MARK=untouched' >"$HOME/.profile"
rm -rf "$HOME/.config"
end_attack

attack tmp-read "a candidate reads a file of the user's in /tmp"
opens none
users_file=$(mktemp /tmp/apsis-attack.XXXXXX) && echo FILE-IN-TMP >"$users_file"
export users_file
fill() { echo "users_file=$users_file" >>paths.sh; }
candidate <<'END'
. ./paths.sh
cat "$users_file"
END
is "outcome" "$(outcome)" kept
won "it was read" said FILE-IN-TMP
rm -f "$users_file"
end_attack

attack project-in-tmp "a candidate writes into the project's journal, the project being in /tmp"
opens none
place=$(mktemp -d /tmp/apsis-attack.XXXXXX)
candidate <<'END'
. ./paths.sh
echo '{"experiment":99}' >>"$PROJECT/logs/results.jsonl"
END
won "the journal has its line" holds logs/results.jsonl '"experiment":99'
cd / && rm -rf "$place"
end_attack

attack journal "a provider rewrites logs/results.jsonl"
opens none
provider <<'END'
. ./paths.sh
cat "$PROJECT/logs/results.jsonl"
sed -i 's/"primary_metric":0/"primary_metric":-5/' "$PROJECT/logs/results.jsonl"
echo 1 >value.txt
END
won "the baseline's value is another" test "$(field 0 primary_metric)" != 0
won "it was read" said '"outcome":"baseline"'
end_attack

attack hidden-by-project "a provider reads a hidden file in the user's own tree, in git's objects, in a verifier's workspace"
opens none
provider <<'END'
. ./paths.sh
cat secret/answer.txt "$PROJECT/secret/answer.txt" "$POOL"/*/verify-*/secret/answer.txt ../verify-*/secret/answer.txt
GIT_DIR="$PROJECT/.git" git cat-file -p HEAD:secret/answer.txt
git --git-dir="$PROJECT/.git" show HEAD:secret/answer.txt
echo 1 >value.txt
END
is "outcome" "$(outcome)" kept
won "it was read" said THE-HIDDEN-ANSWER
end_attack

attack hidden-by-worktree "the same where the project is a linked worktree of a repository elsewhere"
opens none
fill() {
    git add -A && git commit -qm start
    echo "MAIN='$PWD'" >>paths.sh
    git add -A && git commit -qm paths && git worktree add -q -b linked "$T/linked-$name"
    cd "$T/linked-$name" || exit 1
}
provider <<'END'
. ./paths.sh
git --git-dir="$MAIN/.git" show HEAD:secret/answer.txt
cat "$MAIN/secret/answer.txt"
echo 1 >value.txt
END
is "outcome" "$(outcome)" kept
won "it was read" said THE-HIDDEN-ANSWER
end_attack

attack workspace-read "a candidate reads another project's workspaces"
opens none
mkdir -p "$XDG_CACHE_HOME/apsis/another/verify-1" && echo ANOTHER-WORKSPACE >"$XDG_CACHE_HOME/apsis/another/verify-1/value.txt"
candidate <<'END'
. ./paths.sh
cat "$POOL"/another/*/value.txt
ls "$POOL"
END
is "outcome" "$(outcome)" kept
won "it was read" said ANOTHER-WORKSPACE
end_attack

attack workspace-write "a candidate writes another workspace, and its own folder's neighbours"
opens none
mkdir -p "$XDG_CACHE_HOME/apsis/another/verify-1"
candidate <<'END'
. ./paths.sh
echo attacked >"$POOL/another/verify-1/value.txt"
for dir in ../*/; do echo attacked >"$dir/neighbour"; done
mkdir ../verify-99 && ln -s "$USERS_HOME" ../verify-98
END
is "outcome" "$(outcome)" kept
won "it was written" holds "$XDG_CACHE_HOME/apsis/another/verify-1/value.txt" attacked
won "there is a folder beside" test -n "$(find "$XDG_CACHE_HOME/apsis" -maxdepth 2 -name 'verify-9[89]')"
end_attack

if [ -z "${ON_NODES:-}" ]; then # nodes refuse the key
attack link-write "a candidate writes through workspace.link"
opens none
EXTRA='workspace: {link: [data]}'
fill() { mkdir data && echo fine >data/set.txt && echo data/ >>.gitignore; }
candidate <<'END'
cat data/set.txt
echo attacked >data/set.txt
echo attacked >data/new.txt
END
ok "it can be read" said fine
won "it was written" holds data/set.txt attacked
won "a file was made" test -e data/new.txt
end_attack
fi

attack remount "a candidate unmounts or remounts what hides the home, also in namespaces of its own"
opens none "there is nothing to unmount: the home is there"
candidate <<'END'
. ./paths.sh
look() {
    umount "$USERS_HOME"; umount -l "$USERS_HOME"; umount -R "$USERS_HOME"; umount -l "$PROJECT"; umount -l /tmp
    mount -o remount,rw /; mount -o remount,bind,rw /; mount -o remount,bind,rw "$PROJECT"
    mkdir -p root && mount --rbind / root && umount -l "root$USERS_HOME"
    cat "$USERS_HOME/.ssh/id_rsa" "root$USERS_HOME/.ssh/id_rsa"
    echo '{"experiment":99}' >>"$PROJECT/logs/results.jsonl"
}
look
export -f look
export USERS_HOME PROJECT
unshare -Urm bash -c look
unshare -m bash -c look
nsenter -t 1 -m -U bash -c look
END
won "the key was read" said PRIVATE-KEY
won "the journal was written" holds logs/results.jsonl '"experiment":99'
end_attack

attack devices "a candidate makes a device of a disk, or opens one, or another that its user may"
is_root && opens none
candidate <<'END'
. ./paths.sh
./tool mknod disk
./tool mknod /dev/shm/disk
for disk in /dev/[sv]d[a-z] /dev/nvme?n? /dev/mem /dev/kmem /dev/port; do
    if [ -e "$disk" ] && head -c 1 "$disk" >/dev/null 2>&1; then echo "GOT $disk"; fi
done
for device in /dev/kmsg /dev/autofs /dev/fuse /dev/kvm /dev/net/tun /dev/input/* /dev/snd/* /dev/video*; do
    if [ -c "$device" ] && ( : <"$device" ) 2>/dev/null; then echo "GOT $device"; fi
done
END
won "there is one" said "GOT "
end_attack

# Each test of a change to what all of the machine has takes a harmless one: a time, for which one needs the right to change modes.
attack null "a candidate changes /dev/null, by its name and by the descriptor that it was given"
if is_root; then
    opens none
    opens landlock "Landlock does not keep modes and times of what one owns; of devices root does"
    opens bwrap "root owns the devices of bwrap's /dev"
fi
candidate <<'END'
touch -d 2001-01-01 /dev/null
touch -d 2001-01-01 /proc/self/fd/0
END
won "its time is another" test "$(stat -c %Y /dev/null)" = "$(date -d 2001-01-01 +%s)"
touch /dev/null
end_attack

attack prompt "a provider writes the prompt in runs/ by the descriptor that it reads it from, and makes it a setuid program"
provider <<'END'
echo PWNED >/proc/self/fd/0
chmod 4777 /proc/self/fd/0
touch -d 2001-01-01 /dev/stdin
(cat; echo read) >/dev/null
echo 1 >value.txt
END
is "outcome" "$(outcome)" kept
won "it was written" holds runs/0001/prompt.md PWNED
won "its mode is another" test "$(stat -c %a runs/0001/prompt.md)" = 4777
won "its time is another" test "$(stat -c %Y runs/0001/prompt.md)" -lt "$(stat -c %Y manifest.yaml)"
end_attack

attack settings "a candidate writes settings of the machine in /proc/sys and /sys"
is_root && opens none
candidate <<'END'
for file in /proc/sys/vm/swappiness /proc/sys/kernel/core_pattern /sys/kernel/mm/transparent_hugepage/enabled; do
    [ -e $file ] || continue
    if { exec 7<>"$file"; } 2>/dev/null; then echo "GOT $file"; exec 7>&-; fi
done
END
won "one can be opened for writing" said "GOT "
end_attack

attack cgroup "a candidate makes a cgroup of its own"
if is_root && mkdir /sys/fs/cgroup/apsis-attack-probe 2>/dev/null; then
    rmdir /sys/fs/cgroup/apsis-attack-probe
    opens none
fi
candidate <<'END'
for dir in /sys/fs/cgroup /sys/fs/cgroup/*/; do
    if mkdir "$dir/apsis-attack" 2>/dev/null; then echo "GOT $dir"; rmdir "$dir/apsis-attack"; fi
done
END
won "there is one" said "GOT "
end_attack

attack queues "a candidate sees and reads the user's message queues"
queue=/dev/mqueue/apsis-attack-$$
if : 2>/dev/null >"$queue"; then
    opens none
    at_end+=("rm -f $queue")
fi
candidate <<'END'
head /dev/mqueue/apsis-attack-* && echo "GOT a queue"
END
won "there is one" said "GOT a queue"
end_attack

attack user-namespace "a candidate makes a user namespace, in which it has every capability"
opens none
candidate <<'END'
if unshare -U true; then echo "GOT a namespace"; fi
END
won "it was made" said "GOT a namespace"
end_attack

attack keyring "a candidate reads a key of the user's keyring"
if "$T/bin/tool" keyring put >/dev/null; then opens none; fi
candidate <<'END'
./tool keyring read
END
won "it was read" said KEY-OF-THE-USER
end_attack

attack terminal "a candidate writes to the user's terminal, and types into it"
opens none
mkfifo "$T/hold"
script -qfec 'tty; cat '"$T/hold" "$T/typescript" </dev/null >/dev/null 2>&1 &
holder=$!
for _ in $(seq 1200); do grep -qs /dev/pts/ "$T/typescript" && break; sleep 0.1; done
fill() { echo "TTY=$(grep -ao '/dev/pts/[0-9]*' "$T/typescript" | head -1)" >>paths.sh; }
candidate <<'END'
. ./paths.sh
echo "TERMINAL-ATTACKED" >"$TTY" && echo GOT-TTY
./tool terminal "$TTY"
./tool terminal /dev/tty
END
like "there is a terminal" "$(cat paths.sh)" 'TTY=/dev/pts/'
: >"$T/hold"
wait $holder 2>/dev/null
won "it has the text" holds "$T/typescript" TERMINAL-ATTACKED
won "it was typed into" said "GOT terminal input"
end_attack

attack environment-read "a candidate reads the user's keys in its environment and in apsis's"
candidate <<'END'
env
cat /proc/[0-9]*/environ | tr '\0' '\n'
cat /proc/$PPID/environ /proc/1/environ
END
opens none "a process of the same user's may be looked at where there are no process namespaces"
[ "$WAY" = none ] && may=yes
won "the key was read" said secret-of-the-environment
won "what is not known to be harmless was read" said not-so-harmless
end_attack

attack environment-values "a candidate reads credentials that toolchains take from the environment, by name or in a value"
export TF_TOKEN_app_terraform_io=credential-1 TF_VAR_db=credential-2 NIX_CONFIG='access-tokens = github.com=credential-3' \
    UV_INDEX_PRIVATE_PASSWORD=credential-4 UV_INDEX_URL=https://me:credential-5@index/simple GEM_HOST_OTP_CODE=credential-6 \
    UV_EXTRA_INDEX_URL=https://me:credential-7@index JAVA_TOOL_OPTIONS=-Djavax.net.ssl.keyStorePassword=credential-8 \
    GOFLAGS=-mod=mod CFLAGS=-DMAX_TOKENS=512 HTTPS_PROXY=http://me:credential-9@proxy TF_CPP_MIN_LOG_LEVEL=2 \
    NODE_OPTIONS=--x=sk-credential-0123456789 JAVA_OPTS=-Dpass=credential-10 CMAKE_ARGS=-DAPI_KEY=credential-11
candidate <<'END'
env
END
won "a credential was read" said credential-
if [ -z "${ON_NODES:-}" ]; then # a node has an environment of its own
    ok "what is none is there" said "GOFLAGS=-mod=mod"
    ok "nor is this one" said "CFLAGS=-DMAX_TOKENS=512"
    ok "by its name" said "TF_CPP_MIN_LOG_LEVEL=2"
fi
ok "it is said" holds logs/apsis.log "NODE_OPTIONS: the value looks like a credential, so the verification's commands do not"
unset TF_TOKEN_app_terraform_io TF_VAR_db NIX_CONFIG UV_INDEX_PRIVATE_PASSWORD UV_INDEX_URL GEM_HOST_OTP_CODE \
    UV_EXTRA_INDEX_URL JAVA_TOOL_OPTIONS GOFLAGS CFLAGS HTTPS_PROXY TF_CPP_MIN_LOG_LEVEL NODE_OPTIONS \
    JAVA_OPTS CMAKE_ARGS
end_attack

item "what the manifest passes on, and no more, is in a command's environment (not an attack)"
name=pass-env EXTRA='' PROVIDER='' VERIFICATION_EXTRA='pass_env: [MY_API_KEY]' place=$T
candidate <<'END'
echo "KEY=$MY_API_KEY OTHER=$VERY_HARMLESS."
END
ok "the key" said "KEY=secret-of-the-environment-1 OTHER=."
cd "$T" || exit 1
end_item

attack git-environment "GIT_DIR and the like in the user's environment reach a command"
export GIT_DIR=$T/nowhere/.git GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0='touch /nonexistent' GIT_EXTERNAL_DIFF="$T/x"
unset GIT_DIR
candidate <<'END'
env | grep ^GIT_
END
unset GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_EXTERNAL_DIFF
won "they are there" said GIT_CONFIG_KEY
won "one is there" said GIT_EXTERNAL_DIFF
end_attack

finish
