#!/bin/sh
# Makes a net like the default one from nothing: `zoothera distill` with the teachers of the default net. Takes a night on two
# cores and 8 GB of disk, and gets better for many more. A run that was stopped continues where it was: run the script again.
#
#   nets/make-default.sh ENGINE TEACHERS BOOKS OUT [OPTION...]
#
#   ENGINE   the zoothera binary
#   TEACHERS folder with nn-ad9b42354671.nnue, nn-5af11540bbfe.nnue and nn-1c0000000000.nnue
#   BOOKS    folder with UHO_4060_v3.epd and popularpos_lichess_v3.epd
#   OUT      folder of the run; the net is OUT/best.nnue
#   OPTION   options of `distill`, such as --hours 10; --student default trains the default net further
#
# The net is not that of the repository: its stages are in PROVENANCE.md.
set -eu

[ $# -ge 4 ] || { sed -n '5,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
engine=$1 teachers=$2 books=$3 out=$4
shift 4
case " $* " in *" --student "*) ;; *) set -- --student new "$@" ;; esac

# The factors bring all three teachers to the units of the first.
exec "$engine" distill --out "$out" \
    --teacher "$teachers/nn-ad9b42354671.nnue" \
    --teacher "$teachers/nn-5af11540bbfe.nnue@0.897" \
    --teacher "$teachers/nn-1c0000000000.nnue@0.819" \
    --book "$books/UHO_4060_v3.epd" --book "$books/popularpos_lichess_v3.epd" "$@"
