# text: small functions on texts. Each prints its answer.

upper() {
    echo "$1" | tr a-z A-Z # UNTIDY: umlauts
}

first() {
    echo "${1%% *}"
}

last() {
    echo "$1"
}

length() {
    echo ${#1}
}

lower() {
    echo "$1"
}

# UNTIDY: more than two words

swap() {
    echo "$(last "$1") $(first "$1")"
}

# UNTIDY: a text of one word

repeat() {
    echo "$1$1"
}
