#!/usr/bin/env bash
# Package: coinselect 3.1.13 of npm, which chooses coins and computes the fee for wallets that build transactions with bitcoinjs-lib.
# Input: a payment into a script of 600 bytes, the size of a LBRY claim with a title and a thumbnail, at a fee rate of one dewies (the smallest
# unit of LBC) a byte.
# Expected: the fee is at least the size of the signed transaction in bytes: the length of a script above 252 bytes takes three bytes.
# Real: coinselect counts one byte for the length of each script, so the fee is 2 below the size. At the minimum relay fee rate, nodes
# refuse such a transaction when its signature has the full length of 72 bytes.
# Seen: bytes 803, fee 801
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts coinselect@3.1.13 bitcoinjs-lib@7.0.5
cat >seen.mjs <<'JS'
import { Transaction } from 'bitcoinjs-lib';
import coinselect from 'coinselect';

const claim = Buffer.alloc(600, 0x51);
const coin = { txid: '11'.repeat(32), vout: 0, value: 1_000_000 };
const { inputs, outputs, fee } = coinselect([coin], [{ script: claim, value: 1000 }], 1);

const tx = new Transaction();
for (const { txid, vout } of inputs) {
  tx.addInput(Buffer.from(txid, 'hex'), vout);
  // A signature of 72 bytes and a compressed key of 33 bytes, each after a byte with its length.
  tx.setInputScript(tx.ins.length - 1, Buffer.alloc(1 + 72 + 1 + 33, 1));
}
// The change has no script in the answer: it goes to the hash of a key.
for (const { script, value } of outputs) tx.addOutput(script ?? Buffer.alloc(25), BigInt(value));
console.log(`bytes ${tx.toBuffer().length}, fee ${fee}`);
JS
seen=$(node seen.mjs)
echo "$seen"
expected='bytes 803, fee 801'
[ "$seen" = "$expected" ] || { echo "changed: expected \"$expected\"" >&2; exit 1; }
