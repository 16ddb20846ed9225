#!/bin/sh
# Makes the default net from nothing: data, then training. About four hours on two cores and 2 GB of disk.
# Every stage resumes where it was stopped; run it again after a kill.
#
#   nets/make-default.sh ENGINE TEACHER BOOKS OUT
#
#   ENGINE   the zoothera that works; with another net inside it makes the same data, because the teacher plays
#   TEACHER  nn-ad9b42354671.nnue
#   BOOKS    folder with UHO_4060_v3.epd and popularpos_lichess_v3.epd
#   OUT      folder for data and nets
#
# The net is as good as the one in the repository, not the same bytes: parts of that one's data came from earlier
# commits, which PROVENANCE.md names.
set -eu

[ $# -eq 4 ] || { sed -n '5,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
absolute() { case $1 in /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac; }
engine=$(absolute "$1")
teacher=$(absolute "$2")
books=$(absolute "$3")
mkdir -p "$4"
cd "$4"

# Positions met inside the teacher's searches, with its static evaluation: NAME POSITIONS SEED BOOK NODES ONE-IN.
sample() {
    [ -e "$1.done" ] && return
    resume=
    [ -e "$1" ] && resume=--resume
    "$engine" datagen sample --out "$1" --positions "$2" --seed "$3" --book "$books/$4" --soft-nodes "$5" --one-in "$6" \
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
    "$engine" train --out "$name.nnue" "$@" --max-score 10000 --scale 600 --lambda 1 \
        --features half-kav2-hm --buckets 8 --l1 512 --output-scale 0.7 --every 25 --checkpoint-every 50 --memory 9 $resume
    touch "$name.done"
}

# Two games at once, one on each core.
sample s1.tree 52280086 101 UHO_4060_v3.epd 400 6 &
other=$!
sample s2.tree 53020274 102 popularpos_lichess_v3.epd 400 6
wait "$other"
sample s3.tree 100738871 103 UHO_4060_v3.epd 80 6 &
other=$!
sample s4.tree 118981736 104 popularpos_lichess_v3.epd 80 6
wait "$other"
learn h1 --sampled s1.tree --sampled s2.tree --sampled s3.tree --sampled s4.tree --millions 800 --rate 0.004 --seed 31
