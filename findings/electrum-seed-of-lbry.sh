#!/usr/bin/env bash
# Package: electrum-mnemonic 2.0.0 of npm, the seed words of Electrum.
# Input: the seed words and the extended private key that lbry-sdk's tests give for them (tests/unit/wallet/test_account.py).
# Expected: words with a version mark of their own, so that another wallet refuses them, or the same key.
# Real: the words carry Electrum's mark of a standard wallet, and are valid there. The key is another, because lbry-sdk derives it
# with the salt `lbryum` (lbry/wallet/mnemonic.py), and Electrum with `electrum`. The wallet opens without an error and is empty.
# Seen: valid true; key with the salt of the package: another; with `lbryum`: that of lbry-sdk
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts electrum-mnemonic@2.0.0 bs58check@4.0.0
cat >seen.mjs <<'JS'
import { createHmac, pbkdf2Sync } from 'node:crypto';
import electrum from 'electrum-mnemonic';
import bs58check from 'bs58check';

const words = 'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent';
const known =
  'xprv9s21ZrQH143K42ovpZygnjfHdAqSd9jo7zceDfPRogM7bkkoNVv7DRNLEoB8HoirMgH969NrgL8jNzLEegqFzPRWM37GXd4uE8uuRkx4LAe';
const prefix = electrum.PREFIXES.standard;

/** The extended private key of a seed (BIP32). */
function extendedKey(seed) {
  const master = createHmac('sha512', 'Bitcoin seed').update(seed).digest();
  const version = Buffer.from('0488ade4', 'hex');
  return bs58check.encode(Buffer.concat([version, Buffer.alloc(9), master.subarray(32), Buffer.alloc(1), master.subarray(0, 32)]));
}

const of = (seed) => (extendedKey(seed) === known ? 'that of lbry-sdk' : 'another');
const valid = electrum.validateMnemonic(words, prefix);
const own = of(electrum.mnemonicToSeedSync(words, { prefix }));
console.log(`valid ${valid}; key with the salt of the package: ${own}; with \`lbryum\`: ${of(pbkdf2Sync(words, 'lbryum', 2048, 64, 'sha512'))}`);
JS
seen=$(node seen.mjs)
echo "$seen"
expected='valid true; key with the salt of the package: another; with `lbryum`: that of lbry-sdk'
[ "$seen" = "$expected" ] || { echo "changed: expected \"$expected\"" >&2; exit 1; }
