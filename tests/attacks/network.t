#!/bin/bash
# network: attacks by sockets: servers of the machine, sockets of its programs, one candidate talking to another.
. tests/attacks/lib.sh || exit 1

"$T/bin/tool" tcp-serve 0 >"$T/port" &
at_end+=("kill $! 2>/dev/null")
disown $!
"$T/bin/tool" unix-serve "@apsis-attack-$$" &
at_end+=("kill $! 2>/dev/null")
disown $!
(cd "$HOME" && exec "$T/bin/tool" unix-serve socket) &
at_end+=("kill $! 2>/dev/null")
disown $!
(cd "$T" && exec "$T/bin/tool" unix-serve socket) &
at_end+=("kill $! 2>/dev/null")
disown $!
run_socket=/run/apsis-attack-$$.socket
if [ -w /run ]; then
    "$T/bin/tool" unix-serve "$run_socket" &
    at_end+=("kill $! 2>/dev/null; rm -f $run_socket")
    disown $!
fi
for _ in $(seq 1200); do [ -s "$T/port" ] && [ -S "$T/socket" ] && [ -S "$HOME/socket" ] && break; sleep 0.1; done
PORT=$(cat "$T/port")
like "there is a server" "$PORT" '^[0-9]+$'
fill_sockets() { printf '%s\n' "PORT=$PORT RUN_SOCKET=$run_socket ABSTRACT=@apsis-attack-$$" >>paths.sh; }

attack loopback-verifier "a candidate speaks to a server on the machine's loopback"
opens none
fill() { fill_sockets; }
candidate <<'END'
. ./paths.sh
./tool tcp $PORT
END
is "outcome" "$(outcome)" kept
won "it answered" said HELLO-FROM-OUTSIDE
end_attack

item "a provider has the network: it speaks to that server (not an attack)"
name=loopback-on EXTRA='' PROVIDER_EXTRA='' place=$T
fill() { fill_sockets; }
provider <<'END'
. ./paths.sh
./tool tcp $PORT
echo 1 >value.txt
END
ok "it answered" said HELLO-FROM-OUTSIDE
cd "$T" || exit 1
end_item

attack loopback-provider "a provider without the network does so all the same"
opens none
PROVIDER_EXTRA=', network: false'
fill() { fill_sockets; }
provider <<'END'
. ./paths.sh
./tool tcp $PORT
echo 1 >value.txt
END
is "outcome" "$(outcome)" kept
won "it answered" said HELLO-FROM-OUTSIDE
end_attack

attack abstract-verifier "a candidate speaks to an abstract unix socket of another program"
opens none
fill() { fill_sockets; }
candidate <<'END'
. ./paths.sh
./tool unix "$ABSTRACT"
END
won "it answered" said HELLO-FROM-OUTSIDE
end_attack

attack abstract-provider "a provider, which has the network, speaks to an abstract unix socket of another program (a desktop's, say)"
opens none
opens bwrap "a command with the network is in the machine's network namespace, and bwrap puts no Landlock around it"
[ "$LANDLOCK" -ge 6 ] || { opens namespaces "Landlock before Linux 6.12 knows no sockets"; opens landlock "Landlock before Linux 6.12 knows no sockets"; }
fill() { fill_sockets; }
provider <<'END'
. ./paths.sh
./tool unix "$ABSTRACT"
echo 1 >value.txt
END
won "it answered" said HELLO-FROM-OUTSIDE
end_attack

if [ -S "$run_socket" ]; then
    attack run-socket "a candidate speaks to a socket in /run"
    opens none
    fill() { fill_sockets; }
    candidate <<'END'
. ./paths.sh
./tool unix "$RUN_SOCKET"
END
    won "it answered" said HELLO-FROM-OUTSIDE
    end_attack

    attack run-socket-provider "a provider, which has the network, speaks to a socket in /run (docker's, say)"
    opens none
    opens landlock "Landlock does not ask about connecting to a socket by its path"
    fill() { fill_sockets; }
    provider <<'END'
. ./paths.sh
./tool unix "$RUN_SOCKET"
echo 1 >value.txt
END
    won "it answered" said HELLO-FROM-OUTSIDE
    end_attack
fi

attack home-socket "a candidate speaks to a socket in the home (an agent's with keys, say)"
opens none
candidate <<'END'
. ./paths.sh
./tool unix "$USERS_HOME/socket"
cd "$USERS_HOME" && "$OLDPWD/tool" unix socket
END
won "it answered" said HELLO-FROM-OUTSIDE
end_attack

attack home-socket-provider "a provider, which has the network, does"
opens none
opens landlock "Landlock does not ask about connecting to a socket by its path"
provider <<'END'
. ./paths.sh
./tool unix "$USERS_HOME/socket"
cd "$USERS_HOME" && "$OLDPWD/tool" unix socket
cd "$OLDPWD"
echo 1 >value.txt
END
won "it answered" said HELLO-FROM-OUTSIDE
end_attack

attack other-socket "a candidate speaks to a socket outside of home, project, /run and /tmp"
opens none
account=$(getent passwd "$(id -u)" | cut -d: -f6) # hidden too where HOME is another
case $T in
/tmp/* | /var/tmp/* | "${account:-/nowhere}"/*) ;;
*)
    opens namespaces "a socket file may be connected to where it can be seen, read-only or not"
    opens bwrap "a socket file may be connected to where it can be seen, read-only or not"
    ;;
esac
candidate <<'END'
. ./paths.sh
tool=$PWD/tool
cd "$HOST" && "$tool" unix socket
END
won "it answered" said HELLO-FROM-OUTSIDE
end_attack

attack ring "a candidate reaches a server on the machine's loopback by io_uring, past a filter of system calls"
if "$T/bin/tool" ring "$PORT" >/dev/null; then opens none; fi # some kernels have no io_uring
fill() { fill_sockets; }
candidate <<'END'
. ./paths.sh
./tool ring $PORT
END
won "it answered" said HELLO-FROM-OUTSIDE
end_attack

for how in old ring; do
    attack "vsock-$how" "a candidate makes a vsock, which no namespace holds back, by a 32-bit system call or an io_uring ($how)"
    if "$T/bin/tool" vsock "$how" >/dev/null; then opens none; fi # some kernels have none
    candidate <<END
./tool vsock $how
END
    won "there is one" said "GOT vsock"
    end_attack
done

attack candidates-talk "one worker's candidate speaks to another's over loopback"
opens none
EXTRA='execution: {workers: 2}'
ITERATIONS=2
NEXT='for _ in 1 2 3 4 5 6 7 8 9 10; do ./tool tcp 23717 && break; sleep 0.2; done'
candidate <<'END'
timeout 3 ./tool tcp-serve 23717 || true
END
unset EXTRA
won "it answered" said HELLO-FROM-OUTSIDE 0002
end_attack

finish
