#!/usr/bin/env bash
# Package: bitcoinjs-lib 7.0.5 of npm, here used to copy a claim script of LBRY.
# Input: the script of a claim named "a" whose value is the single byte 05, as lbrycrd's `claimname a 05 1` makes it.
# Expected: `script.compile(script.decompile(bytes))` gives the same bytes: the script is valid and was not changed.
# Real: the push `01 05` becomes the opcode OP_5 (55), without an error. lbrycrd accepts only opcodes up to OP_PUSHDATA4 as name and value
# (src/nameclaim.cpp `DecodeClaimScript`), so the new script makes no claim: the amount goes to the address, and the name stays free. The
# same happens to each name or value of one byte from 1 to 16 or 129.
# Seen: b501610105 -> b5016155
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts bitcoinjs-lib@7.0.5
cat >seen.mjs <<'JS'
import { script } from 'bitcoinjs-lib';

const head = 'b501610105';
const tail = `6d7576a914${'11'.repeat(20)}88ac`;
const copy = Buffer.from(script.compile(script.decompile(Buffer.from(head + tail, 'hex')))).toString('hex');
console.log(`${head} -> ${copy.endsWith(tail) ? copy.slice(0, -tail.length) : copy}`);
JS
seen=$(node seen.mjs)
echo "$seen"
expected='b501610105 -> b5016155'
[ "$seen" = "$expected" ] || { echo "changed: expected \"$expected\"" >&2; exit 1; }
