#!/bin/bash
# home: attacks on what is the user's own: home, project, repository, other workspaces; by reading, writing, links, mounts.
. tests/attacks/lib.sh || exit 1

attack home-read "a verifier's candidate reads ~/.ssh/id_rsa"
opens none
candidate <<'END'
. ./paths.sh
cat "$USERS_HOME/.ssh/id_rsa" ~/.ssh/id_rsa /proc/self/root/"$USERS_HOME"/.ssh/id_rsa /proc/1/root/"$USERS_HOME"/.ssh/id_rsa
END
is "outcome" "$(outcome)" kept
won "the key was read" said PRIVATE-KEY
end_attack

attack home-read-provider "a provider reads ~/.ssh/id_rsa"
opens none
provider <<'END'
. ./paths.sh
cat "$USERS_HOME/.ssh/id_rsa"
echo 1 >value.txt
END
is "outcome" "$(outcome)" kept
won "the key was read" said PRIVATE-KEY
end_attack
finish
