#!/usr/bin/env bash
# Trains on a machine with an accelerator, from the root of the repository; stops by itself at eight minutes.
# The files in training/out/pack have to travel along (`python -m training pack`); OUT is the folder that comes back.
set -eu
cd "$(dirname "$0")/.."
exec timeout 480 python3 -m training.device --out "${OUT:-training/out/device}" "$@"
