#!/bin/bash
# names: attacks by a second name of a hidden folder, which another mount of its file system gives it.
. tests/attacks/lib.sh || exit 1

# apsis in a mount namespace of its own, in which $MOUNT makes the second names below $OTHER.
OTHER=$(mktemp -d "${T%/*}/apsis-other.XXXXXX")
at_end+=("rmdir '$OTHER'/* '$OTHER'")
mkdir "$OTHER/folder" "$OTHER/keys" "$HOME/data"
cat >"$T/bin/mounted" <<END
#!/bin/bash
[ "\$(id -u)" = 0 ] || own=-r
exec unshare -m \$own bash -c 'eval "\$MOUNT" && exec "\$@"' bash '$APSIS' "\$@"
END
chmod +x "$T/bin/mounted"
APSIS=$T/bin/mounted MOUNT='mount --bind "$HOME" "$OTHER/folder"'
export MOUNT OTHER T
if ! "$APSIS" --version >/dev/null 2>&1; then
    echo "1..0 # SKIP nothing can be mounted here"
    exit 0
fi
[ "$(way_of)" = "$WAY" ] || { echo "1..0 # SKIP $WAY does not work in a mount namespace here"; exit 0; }
others() { echo "OTHER='$OTHER'" >>paths.sh; }

attack home-bound "a candidate reads the home by the name of a bind mount of it"
opens none
fill() { others; }
candidate <<'END'
. ./paths.sh
cat "$OTHER/folder/.ssh/id_rsa"
END
is "outcome" "$(outcome)" kept
won "the key was read" said PRIVATE-KEY
end_attack

attack all-bound "a candidate reads the home by the name of a bind mount of all, which shows itself, too"
opens none
MOUNT='mount --bind / "$OTHER/folder" 2>/dev/null || mount --rbind / "$OTHER/folder"'
fill() { others; }
candidate <<'END'
. ./paths.sh
cat "$OTHER/folder$USERS_HOME/.ssh/id_rsa"
END
is "outcome" "$(outcome)" kept
won "the key was read" said PRIVATE-KEY
end_attack

attack home-part-bound "a candidate reads a folder of the home, and a file, by the names of bind mounts of them"
opens none
touch "$T/key"
MOUNT='mount --bind "$HOME/.ssh" "$OTHER/keys" && mount --bind "$HOME/.ssh/id_rsa" "$T/key"'
fill() { others; }
candidate <<'END'
. ./paths.sh
cat "$OTHER/keys/id_rsa" "$HOST/key"
END
is "outcome" "$(outcome)" kept
won "the key was read" said PRIVATE-KEY
end_attack

attack home-mounted "a candidate reads what is mounted in the home by its other name"
opens none
MOUNT='mount -t tmpfs tmpfs "$HOME/data" && echo PRIVATE-KEY >"$HOME/data/key" && mount --bind "$HOME/data" "$OTHER/folder"'
fill() { others; }
candidate <<'END'
. ./paths.sh
cat "$OTHER/folder/key"
END
is "outcome" "$(outcome)" kept
won "the key was read" said PRIVATE-KEY
end_attack

attack project-bound "a provider reads hidden files by a second name of the folder that holds project, git, workspaces and home"
opens none
MOUNT='mount --bind "$T" "$OTHER/folder"'
fill() { others; }
provider <<'END'
. ./paths.sh
cd "$OTHER/folder"
cat project-bound/secret/answer.txt cache/apsis/*/verify-*/secret/answer.txt home/.ssh/id_rsa
git --git-dir=project-bound/.git show HEAD:secret/answer.txt
cd - && echo 1 >value.txt
END
is "outcome" "$(outcome)" kept
won "it was read" said THE-HIDDEN-ANSWER
won "the key was read" said PRIVATE-KEY
end_attack

attack tmp-bound "a candidate reads a file of the user's in /tmp by the name of a bind mount of it"
opens none
MOUNT='mount --bind /tmp "$OTHER/folder"'
users_file=$(mktemp /tmp/apsis-attack.XXXXXX) && echo FILE-IN-TMP >"$users_file"
fill() { others && echo "FILE='${users_file##*/}'" >>paths.sh; }
candidate <<'END'
. ./paths.sh
cat "$OTHER/folder/$FILE"
END
is "outcome" "$(outcome)" kept
won "it was read" said FILE-IN-TMP
rm -f "$users_file"
end_attack

finish
