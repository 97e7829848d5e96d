#!/usr/bin/env bash
# Reproduces the experiments and puts their reports into docs/results: text and SVG.
# Usage: scripts/experiments.sh DATA [E1 E2 ...]
# Runs whose data are not in DATA are left out, and the report says so.
set -euo pipefail
cd "$(dirname "$0")/.."
data=$1
shift
work=.cache/experiments
results=docs/results
mkdir -p "$work" "$results"

only() { # the runs of an experiment that the data allow; nothing means all
  case $1 in
  E3) [ -e "$data/qsar_biodeg/biodeg.csv" ] || echo '"mice, parties","mice, variance","mice, anchor","seconds, anchor rows","seconds, parties"' ;;
  E4) [ -e "$data/tdc_cyp1a2_veith/morgan2048_r2.npz" ] ||
    echo '"MNIST, parties","MNIST, dimension",AMES,CYP2D6,CYP3A4,HIV,Tox21,"CYP2D6, 20 epochs","Tox21, 20 epochs","seconds, parties","seconds, dimension","seconds, anchor rows"' ;;
  E7) [ -e "$data/tdc_cyp1a2_veith/morgan2048_r2.npz" ] || echo '"MNIST, 5 epochs","MNIST, 20 epochs","MNIST, 100 epochs","MNIST, normal",MNIST,Fashion,faces,Adult,eICU,AMES,Tox21,HIV,CYP3A4,CYP2D6' ;;
  esac
}

for e in "${@:-E8 E5 E2 E6 E11 E9 E10 E3 E7 E4 E1}"; do
  for name in $e; do
    bin/concord-lab reproduce "$name" --data "$data" --out "$work/$name" --only "$(only "$name")"
    cp "$work/$name/$name.md" "$work/$name/$name.csv" "$results/"
    for figure in "$work/$name/$name"-*.svg; do
      [ -e "$figure" ] && cp "$figure" "$results/"
    done
  done
done
