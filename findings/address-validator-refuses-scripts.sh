#!/usr/bin/env bash
# Package: multicoin-address-validator 0.5.26 of npm, which shops and exchanges use to check the address of a withdrawal.
# Input: addresses of LBRY's main network: a key (version 85, `b…`), a script (version 122, `r…`, both in lbrycrd's chainparams.cpp)
# and a witness program (`lbc1…`).
# Expected: all three are valid for `lbc`, as their counterparts are for `btc`.
# Real: only `b…` is valid. The list of the library holds version 85 alone for LBRY. A wallet whose addresses are scripts (multisig,
# P2SH-SegWit) cannot be paid from such a shop.
# Seen: btc: key true, script true, witness true; lbc: key true, script false, witness false
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts multicoin-address-validator@0.5.26 bs58check@4.0.0 bech32@2.0.0
cat >seen.mjs <<'JS'
import validator from 'multicoin-address-validator';
import bs58check from 'bs58check';
import { bech32 } from 'bech32';

const hash = Buffer.alloc(20, 7);
const base58 = (version) => bs58check.encode(Buffer.concat([Buffer.from([version]), hash]));
const witness = (prefix) => bech32.encode(prefix, [0, ...bech32.toWords(hash)]);

function seen(coin, key, script, prefix) {
  const valid = (address) => validator.validate(address, coin);
  return `${coin}: key ${valid(base58(key))}, script ${valid(base58(script))}, witness ${valid(witness(prefix))}`;
}

console.log(`${seen('btc', 0, 5, 'bc')}; ${seen('lbc', 85, 122, 'lbc')}`);
JS
seen=$(node seen.mjs)
echo "$seen"
expected='btc: key true, script true, witness true; lbc: key true, script false, witness false'
[ "$seen" = "$expected" ] || { echo "changed: expected \"$expected\"" >&2; exit 1; }
