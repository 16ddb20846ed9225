#!/bin/sh
# Makes the default net from nothing: data, then training. About three and a half hours on two quiet cores and 2 GB of disk.
# Every stage resumes where it was stopped; run it again after a kill.
#
#   nets/make-default.sh ENGINE TEACHER BOOKS OUT
#
#   ENGINE   the zoothera that works; with another net inside it makes the same data, because the teacher plays
#   TEACHER  nn-ad9b42354671.nnue
#   BOOKS    folder with UHO_4060_v3.epd and popularpos_lichess_v3.epd
#   OUT      folder for data and nets
#
# The net is as good as the one in the repository, not the same bytes: that one's data came from earlier commits, and the
# end of its training followed the clock (PROVENANCE.md).
set -eu

[ $# -eq 4 ] || { sed -n '5,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
absolute() { case $1 in /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac; }
engine=$(absolute "$1")
teacher=$(absolute "$2")
books=$(absolute "$3")
mkdir -p "$4"
cd "$4"

# Positions met inside the teacher's searches, with its static evaluation: NAME POSITIONS SEED BOOK ONE-IN.
sample() {
    [ -e "$1.done" ] && return
    resume=
    [ -e "$1" ] && resume=--resume
    "$engine" datagen sample --out "$1" --positions "$2" --seed "$3" --book "$books/$4" --soft-nodes 80 --one-in "$5" \
        --net "$teacher" --random-plies 4 --max-score 4000 --thin-beyond 1000 --thin 2 --threads 1 $resume
    touch "$1.done"
}

# Trains a net: NAME SETTINGS...
learn() {
    name=$1
    shift
    [ -e "$name.done" ] && return
    resume=
    [ -e "$name.checkpoint" ] && resume=--resume
    "$engine" train --out "$name.nnue" "$@" --max-score 10000 --scale 600 --lambda 1 --rate 0.004 \
        --features half-kav2-hm --king-buckets 8 --psqt --activation pairwise --l1 1024 --buckets 8 --output-scale 0.8 \
        --every 20 --checkpoint-every 20 --memory 5 $resume
    touch "$name.done"
}

# Two games at once, one on each core.
sample t401.tree 72494510 401 UHO_4060_v3.epd 16 &
other=$!
sample t402.tree 77213897 402 popularpos_lichess_v3.epd 16
wait "$other"
sample t403.tree 56686105 403 UHO_4060_v3.epd 8 &
other=$!
sample t404.tree 58863552 404 popularpos_lichess_v3.epd 8
wait "$other"

# The trunk, at a constant rate: whoever has more data or time goes on from its checkpoint. Then the decay.
learn p1a --sampled t401.tree --sampled t402.tree --millions 260 --schedule constant --warm-up 2 --seed 61
learn p1 --init p1a.checkpoint --sampled t401.tree --sampled t402.tree --sampled t403.tree --sampled t404.tree \
    --millions 1180 --schedule cosine --warm-up 4 --seed 62
"$engine" net export --net p1.nnue --compress default.nnue
