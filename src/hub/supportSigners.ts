/**
 * The channel that a support names as its signer, and whether the signature is valid. Each transaction is read once. Signatures
 * are verified in batches on other threads. Results are cached, since an output never changes; a verdict counts for one key.
 * The cache is bounded.
 */
import type { ChainReader } from '../chain/chainReader.js';
import type { StoredTransaction } from '../chain/storedTransactions.js';
import { pointKey } from '../claimtrie/item.js';
import { defaultEcdsa } from '../crypto/ecdsa.js';
import { COMPACT_SIGNATURE_SIZE, COMPRESSED_KEY_SIZE, formatDer } from '../crypto/ecdsaEncoding.js';
import { decodedSupportDigest } from '../metadata/channelSignature.js';
import { MetadataError } from '../metadata/metadataError.js';
import { decodeSupport } from '../metadata/support.js';
import { loadNative, type SignatureItem } from '../native/binding.js';
import { formatOutPoint, type Transaction } from '../primitives/transaction.js';
import { decodeClaimScript } from '../script/claimScript.js';
import type { OutputInfo } from '../store/claims/claimQueries.js';
import { toLatin1, type Bytes } from '../util/bytes.js';
import type { Turn } from './turns.js';

/** Supports that are kept. One that is signed takes about 400 bytes, another one half of it. */
const MOST_KEPT = 65_536;
/** Signatures verified in one call: a few milliseconds of one thread where the processor has no lanes. */
const BATCH = 64;

export interface SignersDeps {
  readonly chain: Pick<ChainReader, 'hasData' | 'readTransaction'> & {
    readonly chain: { readonly index: { readonly active: { at(height: number): number } } };
  };
  /** The present key of a channel; null where there is none. */
  keyOf(channelId: Bytes): Promise<Bytes | null>;
}

/** What the data of a support says of its signature. */
interface Signed {
  readonly channelId: Bytes;
  readonly hash: Bytes;
  readonly signature: Bytes;
  /** Of the latest verdict; null before the first. */
  key: Bytes | null;
  isValid: boolean;
}

export class SupportSigners {
  /** By outpoint, those added last at the end; null for a support that is not signed. */
  private readonly kept = new Map<string, Signed | null>();

  /** Supports that are kept. */
  get size(): number {
    return this.kept.size;
  }

  /** The channels that signed the supports, in order; null where none did, or where the block with it is gone. */
  async of(
    deps: SignersDeps,
    supports: readonly OutputInfo[],
    turn: Pick<Turn, 'breathe'>,
  ): Promise<(Bytes | null)[]> {
    const found = await this.look(deps, supports, turn);
    const keys = new Map<string, Bytes | null>();
    for (const signed of found.values()) {
      if (signed === null) continue;
      const id = toLatin1(signed.channelId);
      if (!keys.has(id)) keys.set(id, await deps.keyOf(signed.channelId));
    }
    const keyOf = ({ channelId }: Signed): Bytes | null => keys.get(toLatin1(channelId)) ?? null;
    const unknown = [...found.values()].filter(
      (signed) => signed !== null && isOtherKey(signed.key, keyOf(signed)),
    ) as Signed[];
    await verifyAll(unknown, keyOf, turn);
    return supports.map((support) => {
      const signed = found.get(support) ?? null;
      return signed !== null && signed.isValid && keyOf(signed) !== null ? signed.channelId : null;
    });
  }

  private async look(
    { chain }: SignersDeps,
    supports: readonly OutputInfo[],
    turn: Pick<Turn, 'breathe'>,
  ): Promise<Map<OutputInfo, Signed | null>> {
    const found = new Map<OutputInfo, Signed | null>();
    const unread = new Map<string, OutputInfo[]>();
    for (const support of supports) {
      const known = this.kept.get(pointKey(support.txid, support.n));
      if (known !== undefined) {
        found.set(support, known);
        continue;
      }
      const txid = toLatin1(support.txid);
      const others = unread.get(txid);
      if (others) others.push(support);
      else unread.set(txid, [support]);
    }
    for (const group of unread.values()) {
      const stored = await readStored(chain, group[0]!);
      if (stored !== null) {
        for (const support of group) {
          const signed = signedIn(stored.tx, support.n);
          found.set(support, signed);
          this.keep(pointKey(support.txid, support.n), signed);
        }
      }
      const breath = turn.breathe();
      if (breath !== null) await breath;
    }
    return found;
  }

  private keep(point: string, signed: Signed | null): void {
    if (this.kept.size >= MOST_KEPT) {
      const [oldest] = this.kept.keys();
      this.kept.delete(oldest!);
    }
    this.kept.set(point, signed);
  }
}

async function readStored(
  chain: SignersDeps['chain'],
  { txid, height, txOffset }: OutputInfo,
): Promise<StoredTransaction | null> {
  const block = chain.chain.index.active.at(height);
  if (!chain.hasData(block)) return null;
  return chain.readTransaction(block, { txid, offset: txOffset, witness: 'ignored' });
}

/** What the support at an output says; null where it is not signed, or its data cannot be decoded. */
function signedIn({ inputs, outputs }: Transaction, n: number): Signed | null {
  const output = outputs[n];
  const value = output && decodeClaimScript(output.script)?.value;
  const [input] = inputs;
  const decoded = value === undefined ? null : decodedOrNull(value);
  if (!input || !decoded?.channelId || decoded.signature?.length !== COMPACT_SIGNATURE_SIZE) return null;
  const hash = decodedSupportDigest(decoded, formatOutPoint(input.prevout));
  if (hash === null) return null;
  // Copies: views would keep the transaction.
  const [channelId, signature] = [Buffer.from(decoded.channelId), Buffer.from(decoded.signature)];
  return { channelId, hash, signature, key: null, isValid: false };
}

function decodedOrNull(value: Bytes): ReturnType<typeof decodeSupport> | null {
  try {
    return decodeSupport(value);
  } catch (error) {
    if (error instanceof MetadataError) return null;
    throw error;
  }
}

/** Whether the verdict was found with another key than the present one, or none was. */
function isOtherKey(before: Bytes | null, now: Bytes | null): boolean {
  return now !== null && (before === null || Buffer.compare(before, now) !== 0);
}

/** Notes the verdicts of signatures by the present keys, which exist. */
async function verifyAll(
  all: readonly Signed[],
  keyOf: (signed: Signed) => Bytes | null,
  turn: Pick<Turn, 'breathe'>,
): Promise<void> {
  const native = loadNative();
  const underWay: Promise<void>[] = [];
  for (let at = 0; at < all.length; at += BATCH) {
    const batch = all.slice(at, at + BATCH);
    const keys = batch.map((signed) => keyOf(signed)!);
    const items = batch.map(({ hash, signature }, i): SignatureItem => {
      return { hash, signature: formatDer(signature), publicKey: keys[i]! };
    });
    const note = (isValid: (i: number) => boolean): void => {
      for (const [i, signed] of batch.entries()) {
        signed.isValid = keys[i]!.length === COMPRESSED_KEY_SIZE && isValid(i);
        signed.key = keys[i]!;
      }
    };
    if (native === null) {
      note((i) => defaultEcdsa.verify(items[i]!.hash, items[i]!.signature, items[i]!.publicKey));
    } else {
      const verdicts = native.ecdsa.verifyManyAside(items);
      underWay.push(verdicts.then((found) => note((i) => found[i] !== 0)));
    }
    const breath = turn.breathe();
    if (breath !== null) await breath;
  }
  await Promise.all(underWay);
}
