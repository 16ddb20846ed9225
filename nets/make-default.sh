#!/bin/sh
# Makes the default net from nothing: data, then training. Takes about twelve hours on two quiet cores and 4 GB of disk.
# Every stage resumes where it was stopped: run the script again after a kill.
#
#   nets/make-default.sh ENGINE TEACHERS BOOKS OUT
#
#   ENGINE   the zoothera binary
#   TEACHERS folder with nn-ad9b42354671.nnue, nn-5af11540bbfe.nnue and nn-1c0000000000.nnue
#   BOOKS    folder with UHO_4060_v3.epd and popularpos_lichess_v3.epd
#   OUT      folder for data and nets
#
# The net is as strong as the one in the repository, but not the same bytes: the data of that net came from earlier commits,
# and its stages were limited by time (PROVENANCE.md).
set -eu

[ $# -eq 4 ] || { sed -n '5,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
absolute() { case $1 in /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac; }
engine=$(absolute "$1")
teachers=$(absolute "$2")
books=$(absolute "$3")
mkdir -p "$4"
cd "$4"

teacher=$teachers/nn-ad9b42354671.nnue

# Samples search trees, labelled with a static evaluation: NAME POSITIONS SEED BOOK ONE-IN SETTINGS...
sample() {
    name=$1 positions=$2 seed=$3 book=$books/$4 one_in=$5
    shift 5
    [ -e "$name.done" ] && return
    resume=
    [ -e "$name" ] && resume=--resume
    "$engine" datagen sample --out "$name" --positions "$positions" --seed "$seed" --book "$book" --one-in "$one_in" \
        --random-plies 4 --max-score 4000 --thin-beyond 1000 --thin 2 --threads 1 "$@" $resume
    touch "$name.done"
}

# Samples of the teacher's searches, with its own evaluation.
of_teacher() {
    sample "$@" --net "$teacher" --soft-nodes 80
}

# Samples of the student's searches, with the mean evaluation of three teachers, in the units of the first.
of_student() {
    sample "$@" --net "$student" --label "$teacher" --label "$teachers/nn-5af11540bbfe.nnue@0.897" \
        --label "$teachers/nn-1c0000000000.nnue@0.819"
}

# Trains a net: NAME SETTINGS...
learn() {
    name=$1
    shift
    [ -e "$name.done" ] && return
    resume=
    [ -e "$name.checkpoint" ] && resume=--resume
    "$engine" train --shape default --out "$name.nnue" "$@" --max-score 10000 --lambda 1 --output-scale 0.8 \
        --every 20 --checkpoint-every 20 --memory 5 $resume
    touch "$name.done"
}

# Two generators at once, one on each core.
of_teacher t401.tree 72494510 401 UHO_4060_v3.epd 16 &
other=$!
of_teacher t402.tree 77213897 402 popularpos_lichess_v3.epd 16
wait "$other"
of_teacher t403.tree 56686105 403 UHO_4060_v3.epd 8 &
other=$!
of_teacher t404.tree 58863552 404 popularpos_lichess_v3.epd 8
wait "$other"

# The trunk, at a constant rate: with more data or time, continue from its checkpoint. Then the falling rate.
learn p1a --sampled t401.tree --sampled t402.tree --scale 600 --rate 0.004 --millions 260 --schedule constant --warm-up 2 \
    --seed 61
learn p1 --init p1a.checkpoint --sampled t401.tree --sampled t402.tree --sampled t403.tree --sampled t404.tree \
    --scale 600 --rate 0.004 --millions 1180 --schedule cosine --warm-up 4 --seed 62

# New positions, a smaller scale, which gives more weight to nearly equal positions, and weight decay.
of_teacher t501.tree 43851835 501 UHO_4060_v3.epd 16 &
other=$!
of_teacher t502.tree 45927150 502 popularpos_lichess_v3.epd 16
wait "$other"
learn s340 --init p1.checkpoint --sampled t501.tree --sampled t502.tree --scale 340 --rate 0.001 --millions 80 \
    --schedule cosine --warm-up 2 --seed 71
learn w1 --init s340.checkpoint --sampled t501.tree --sampled t502.tree --scale 340 --rate 0.002 --real-decay 0.1 \
    --factor-decay 0.1 --millions 153 --schedule cosine --warm-up 2 --seed 72

# Positions of the student's searches, labelled by three teachers.
student=w1.nnue
of_student u511.tree 41720030 511 UHO_4060_v3.epd 12 --soft-nodes 2500 --hash 16 &
other=$!
of_student u512.tree 51787160 512 popularpos_lichess_v3.epd 8 --soft-nodes 400 --hash 16
wait "$other"
learn x1 --init w1.checkpoint --sampled u511.tree --sampled u512.tree --sampled t501.tree --sampled t502.tree \
    --scale 340 --rate 0.002 --real-decay 0.1 --factor-decay 0.1 --millions 376 --schedule cosine --warm-up 4 \
    --holdout 0.003 --seed 81

# More games with fewer samples of each; and the first teacher's games relabelled by all three.
student=x1.nnue
of_student y541.tree 89611189 541 UHO_4060_v3.epd 4 --soft-nodes 80 --hash 4 &
other=$!
of_student z543.tree 68340537 543 popularpos_lichess_v3.epd 6 --soft-nodes 300 --hash 4
wait "$other"
for name in t501 t502; do
    [ -e "r$name.tree" ] || "$engine" data relabel "$name.tree" "r$name.tree" --label "$teacher" \
        --label "$teachers/nn-5af11540bbfe.nnue@0.897" --label "$teachers/nn-1c0000000000.nnue@0.819"
done
learn x2 --init x1.checkpoint --sampled rt501.tree --sampled rt502.tree --sampled u511.tree --sampled u512.tree \
    --sampled y541.tree --sampled z543.tree --scale 340 --rate 0.0018 --real-decay 0.06 --factor-decay 0.06 \
    --millions 654 --schedule cosine --warm-up 4 --holdout 0.003 --seed 91
"$engine" net export --net x2.nnue --compress default.nnue
