#!/usr/bin/env bash
# Trains the reader on a machine with an accelerator, from the root of the repository; stops by itself at eight minutes.
# training/out/pack.npz has to travel along (`python -m training pack`); OUT is the folder that comes back.
set -eu
cd "$(dirname "$0")/.."
exec timeout 480 python3 -m training.device --out "${OUT:-training/out/device}" "$@"
