/**
 * Formats all keys and scripts of a wallet as text lines, which `importDump.ts` and the reference can read. `dumpFile.ts`
 * writes the file. Source: lbrycrd wallet/rpcdump.cpp `dumpwallet`.
 */
import { hash160 } from '../../crypto/hash.js';
import { encodeBase58Check } from '../../script/base58.js';
import { COMPRESSED_KEY_SIZE } from '../../crypto/ecdsaEncoding.js';
import { encodeSecret } from '../../script/wif.js';
import { destinationForKey, destinationsForKey } from '../../signing/outputType.js';
import { equalBytes, fromLatin1, hashToHex, toHex, type Bytes } from '../../util/bytes.js';
import { sortedInSlices, type Slices } from '../../util/slices.js';
import { Writer } from '../../util/writer.js';
import type { ExtendedKey } from '../../signing/extendedKey.js';
import { rootOfSeed } from '../keys/hdKeys.js';
import { SEED_PATH } from '../keys/keyRecords.js';
import type { Wallet } from '../wallet.js';
import { encodeDumpText, formatDumpTime } from './dumpText.js';
import { addressText } from './imports.js';
import { keyTimes } from './keyTimes.js';

/** Thrown if the wallet was locked during the dump. */
export class DumpLockedError extends Error {
  override readonly name = 'DumpLockedError';
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Yields the lines of a dump, each with its line end, and null where the caller may pause. Throws `DumpLockedError` if the
 * wallet is locked during the iteration. Keys that are added during the iteration may be missing.
 */
export function* dumpLines(wallet: Wallet, createdBy: string): Generator<string | null> {
  const { keyring, hd, node, followedHeight } = wallet;
  yield `# Wallet dump created by ${createdBy}\n`;
  yield `# * Created on ${formatDumpTime(node.nowSec())}\n`;
  const tip = node.chain.hashAt(followedHeight);
  if (tip !== null) {
    yield `# * Best block at time of backup was ${followedHeight} (${hashToHex(tip)}),\n`;
    yield `#   mined on ${formatDumpTime(node.chain.timeSecAt(followedHeight))}\n`;
  }
  yield '\n';
  const seedId = hd.state?.seedId ?? null;
  const seed = seedId === null ? null : keyring.signingKey(seedId);
  if (seed !== null) {
    const root = rootOfSeed(seed.privateKey);
    const text = encodeExtendedPrivateKey(wallet, root);
    root.privateKey?.fill(0);
    yield `# extended private masterkey: ${text}\n\n`;
  }
  const times = yield* paused(keyTimes(wallet));
  const keys = yield* paused(
    sortedInSlices([...times], ([a, aSec], [b, bSec]) => aSec - bSec || compareText(a, b)),
  );
  for (const [id, timeSec] of keys) {
    const line = keyLine(wallet, fromLatin1(id), timeSec, seedId);
    if (line !== null) yield line;
  }
  yield '\n';
  const scripts = yield* paused(sortedInSlices([...keyring.allScripts()], ([a], [b]) => compareText(a, b)));
  for (const [id, script] of scripts) yield scriptLine(wallet, fromLatin1(id), script);
  yield '\n# End of dump\n';
}

function* paused<T>(work: Slices<T>): Generator<null, T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    yield null;
  }
}

/** Returns the dump line of a key; null if the wallet does not have the key any more. */
function keyLine(wallet: Wallet, keyId: Bytes, timeSec: number, seedId: Bytes | null): string | null {
  const { keyring, keypool } = wallet;
  if (wallet.isLocked) throw new DumpLockedError();
  const key = keyring.signingKey(keyId);
  if (key === null) return null;
  const { privateKey, publicKey } = key;
  const secret = encodeSecret(privateKey, publicKey.length === COMPRESSED_KEY_SIZE, wallet.prefixes);
  const path = keyring.metadata(keyId)?.path ?? '';
  const { addresses, label } = namesOf(wallet, publicKey);
  let use = 'change=1';
  if (label !== null) use = `label=${encodeDumpText(label)}`;
  else if (seedId !== null && equalBytes(keyId, seedId)) use = 'hdseed=1';
  else if (keypool.has(keyId)) use = 'reserve=1';
  else if (path === SEED_PATH) use = 'inactivehdseed=1';
  const origin = path === '' ? '' : ` hdkeypath=${path}`;
  return `${secret} ${formatDumpTime(timeSec)} ${use} # addr=${addresses}${origin}\n`;
}

/**
 * Returns those addresses of a key that have a label or, if none has a label, the address of the usual type. Source:
 * `GetWalletAddressesForKey`.
 */
function namesOf(wallet: Wallet, publicKey: Bytes): { addresses: string; label: string | null } {
  const named: string[] = [];
  let label: string | null = null;
  for (const destination of destinationsForKey(publicKey)) {
    const address = addressText(wallet, destination);
    const entry = wallet.book.find(address);
    if (entry === undefined) continue;
    named.push(address);
    ({ label } = entry);
  }
  if (label !== null) return { addresses: named.join(','), label };
  const usual = destinationForKey(publicKey, wallet.options.addressType);
  return { addresses: addressText(wallet, usual), label };
}

function scriptLine(wallet: Wallet, scriptId: Bytes, script: Bytes): string {
  const createdSec = wallet.keyring.watchedMetadata(scriptId)?.createdSec;
  const time = createdSec === undefined ? '0' : formatDumpTime(createdSec);
  const address = addressText(wallet, { type: 'scripthash', hash: hash160(script) });
  return `${toHex(script)} ${time} script=1 # addr=${address}\n`;
}

/** Source: `EncodeExtKey`. */
function encodeExtendedPrivateKey(wallet: Wallet, key: ExtendedKey): string {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(wallet.prefixes.extSecret);
  const writer = new Writer(80).raw(prefix).u8(key.depth).raw(key.parentFingerprint);
  const number = Buffer.alloc(4);
  number.writeUInt32BE(key.childNumber);
  return encodeBase58Check(writer.raw(number).raw(key.chainCode).u8(0).raw(key.privateKey!).finish());
}
