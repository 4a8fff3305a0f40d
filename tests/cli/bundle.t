#!/bin/bash
# bundle: what `make bundle` makes, as far as this machine can show it. `make try-packages` runs it where nothing is installed.
[ -z "${APSIS_SANITIZED-}${VALGRIND-}" ] || { echo "1..0 # skip a bundle is made of the program as it is"; exit 0; }
. tests/cli/lib.sh || exit 1

item "an ordinary user, whose PATH has no ldconfig, makes it; it uses its own libraries alone"
PATH=/usr/local/bin:/usr/bin:/bin .ci/bundle "$APSIS" 1 "$T/to" >"$T/out" 2>&1
is "made" "$?" 0
like "the archive" "$(cat "$T/out")" "^$T/to/apsis-1-linux-[^/]*\.tar\.gz$"
mkdir "$T/unpacked" && tar -C "$T/unpacked" -xzf "$T"/to/*.tar.gz
cat >"$T/maps.lua" <<'END'
assert(require("apsis.git").open(arg[1]))
for line in io.lines "/proc/self/maps" do
  local file = line:match "/%S+%.so[%d.]*$"
  if file then print(file) end
end
END
git init -q "$T/repository"
env -i "$T"/unpacked/*/apsis exec "$T/maps.lua" "$T/repository" >"$T/libraries" 2>&1
is "runs" "$?" 0
like "libgit2 is there" "$(cat "$T/libraries")" "$T/unpacked/.*libgit2"
is "no other ones" "$(grep -v "^$T/unpacked/" "$T/libraries")" ""
end_item

finish
