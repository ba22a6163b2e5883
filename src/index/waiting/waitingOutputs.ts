/**
 * Effects of a mempool transaction on claims, computed once when the transaction arrives: the claims that it creates and
 * updates, with their decoded values, its supports, and the claims and supports that it spends. All are plain values that
 * can be sent to other threads.
 */
import { claimIdAtPoint, pointKey } from '../../claimtrie/item.js';
import { channelPublicKey } from '../../metadata/channelSignature.js';
import { readClaimFacts, type MetadataKind } from '../../metadata/claimFacts.js';
import type { NetworkParams } from '../../params/network.js';
import { formatOutPoint, type Transaction } from '../../primitives/transaction.js';
import { claimIdOf, decodeClaimScript } from '../../script/claimScript.js';
import { hashToHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { groupOf, keyTag } from '../claims/claimIndexKeys.js';
import { readSignature, recoverSigners, type ReadSignature } from '../claims/claimSignatures.js';

/** An output in the mempool that creates or updates a claim. Ids are latin1 strings in wire order. */
export interface WaitingOutput {
  readonly claimId: string;
  /** Claim id as hex, in printed order. */
  readonly idHex: string;
  readonly txid: string;
  readonly nout: number;
  /** See `pointKey`. */
  readonly point: string;
  /** `rawName`: name in the script, latin1. `group`: its normalized form. */
  readonly rawName: string;
  readonly group: string;
  readonly isUpdate: boolean;
  readonly amountSat: bigint;
  readonly value: Bytes;
  readonly kind: MetadataKind | null;
  /** Channel id in the claim's value; null without a channel. */
  readonly channelId: string | null;
  /** Channel signature, not verified yet; see `isSignedBy`. */
  readonly signature: ReadSignature | null;
  readonly repostedId: string | null;
  /** Tag of the channel's own key; null if the claim is not a channel or has no usable key. */
  readonly keyTag: string | null;
  /** Arrival number of the output's transaction. */
  readonly arrival: number;
  readonly timeSec: number;
}

/** A created or spent support. As in the support sums of the index, it is identified by claim id and name group. */
export interface WaitingSupport {
  readonly claimId: string;
  readonly group: string;
  readonly amountSat: bigint;
}

/** A claim output that a mempool transaction spends. */
export interface SpentClaim {
  readonly claimId: string;
  readonly point: string;
  /** Channel id in the value of the spent output; null without a channel. */
  readonly channelId: string | null;
  readonly repostedId: string | null;
}

export interface IndexedTransaction {
  readonly txid: string;
  readonly outputs: readonly WaitingOutput[];
  readonly spends: readonly SpentClaim[];
  readonly supports: readonly WaitingSupport[];
  readonly spentSupports: readonly WaitingSupport[];
}

/** Data of a transaction at its acceptance to the mempool. */
export interface WaitingArrival {
  readonly txid: Bytes;
  readonly timeSec: number;
  readonly arrival: number;
  readonly tx: Transaction;
  /** Scripts of the outputs that the inputs spend, in order. */
  readonly spentScripts: readonly Bytes[];
  readonly spentAmountsSat: readonly bigint[];
}

const latin1OrNull = (bytes: Bytes | null): string | null => bytes && toLatin1(bytes);

/** Reads the effects of a transaction on claims; null if it has none. */
export function readWaiting(
  arrived: WaitingArrival,
  params: Pick<NetworkParams, 'base58'>,
): IndexedTransaction | null {
  const { tx, spentScripts, spentAmountsSat } = arrived;
  const spends: SpentClaim[] = [];
  const spentSupports: WaitingSupport[] = [];
  /** Names of the spent claims that no output of this transaction has updated so far, by claim id. */
  const updatable = new Map<string, string[]>();
  spentScripts.forEach((script, i) => {
    const claim = decodeClaimScript(script);
    if (claim === null) return;
    const { hash, index } = tx.inputs[i]!.prevout;
    const point = pointKey(hash, index);
    const claimId = claim.claimId ? toLatin1(claim.claimId) : claimIdAtPoint(point);
    const group = groupOf(toLatin1(claim.name));
    if (claim.kind === 'support') {
      spentSupports.push({ claimId, group, amountSat: spentAmountsSat[i]! });
      return;
    }
    const { channelId, repostedId } = readClaimFacts(claim.value!);
    spends.push({
      claimId,
      point,
      channelId: latin1OrNull(channelId),
      repostedId: latin1OrNull(repostedId),
    });
    updatable.set(claimId, [...(updatable.get(claimId) ?? []), group]);
  });
  const outputs: WaitingOutput[] = [];
  const supports: WaitingSupport[] = [];
  tx.outputs.forEach(({ script, value: amountSat }, nout) => {
    const claim = decodeClaimScript(script);
    if (claim === null) return;
    const id = claim.claimId ?? claimIdOf(arrived.txid, nout);
    const rawName = toLatin1(claim.name);
    const group = groupOf(rawName);
    if (claim.kind === 'support') {
      supports.push({ claimId: toLatin1(id), group, amountSat });
      return;
    }
    const isUpdate = claim.kind === 'update';
    // An update output has an effect only if the transaction spends the claim under the same name.
    if (isUpdate && !takeOut(updatable.get(toLatin1(id)), group)) return;
    outputs.push(outputOf(arrived, params, { id, nout, rawName, group, isUpdate, amountSat, script }));
  });
  const all = [outputs, spends, supports, spentSupports];
  if (all.every(({ length }) => length === 0)) return null;
  return { txid: toLatin1(arrived.txid), outputs, spends, supports, spentSupports };
}

function takeOut(groups: string[] | undefined, group: string): boolean {
  const at = groups?.indexOf(group) ?? -1;
  if (at >= 0) groups!.splice(at, 1);
  return at >= 0;
}

interface ReadOutput {
  readonly id: Bytes;
  readonly nout: number;
  readonly rawName: string;
  readonly group: string;
  readonly isUpdate: boolean;
  readonly amountSat: bigint;
  readonly script: Bytes;
}

function outputOf(
  { txid, tx, arrival, timeSec }: WaitingArrival,
  params: Pick<NetworkParams, 'base58'>,
  { id, nout, rawName, group, isUpdate, amountSat, script }: ReadOutput,
): WaitingOutput {
  // The value is copied, so that the whole transaction can be freed, and only the value is copied to other threads.
  const value = new Uint8Array(decodeClaimScript(script)!.value!);
  const facts = readClaimFacts(value);
  const publicKey = facts.publicKey && channelPublicKey(facts.publicKey);
  const firstInput = formatOutPoint(tx.inputs[0]!.prevout);
  const signature =
    facts.channelId === null ? null : readSignature({ facts, value, script, firstInput }, params);
  return {
    claimId: toLatin1(id),
    idHex: hashToHex(id),
    txid: toLatin1(txid),
    nout,
    point: pointKey(txid, nout),
    rawName,
    group,
    isUpdate,
    amountSat,
    value,
    kind: facts.kind,
    channelId: latin1OrNull(facts.channelId),
    signature: signature && { hash: new Uint8Array(signature.hash), compact: signature.compact },
    repostedId: latin1OrNull(facts.repostedId),
    keyTag: publicKey && keyTag(publicKey),
    arrival,
    timeSec,
  };
}

/** Cache of the tags of the keys that verify a signature. */
const signers = new WeakMap<ReadSignature, readonly string[]>();

/**
 * Whether a claim's signature is valid for the key with this tag. The first call for a claim recovers the keys, which takes
 * about 0.2 ms. It runs only on request, so that the thread that accepts transactions does not spend this time on each
 * claim.
 */
export function isSignedBy({ signature }: Pick<WaitingOutput, 'signature'>, tag: string): boolean {
  if (signature === null) return false;
  let tags = signers.get(signature);
  if (tags === undefined) signers.set(signature, (tags = recoverSigners(signature)));
  return tags.includes(tag);
}

/** Estimated number of bytes that an output uses in the claim store and in the search. Measured and rounded up (docs/hub.md). */
const OUTPUT_BYTES = 4096;
/** Estimated size of the data derived from a value (words, texts and labels), as a multiple of the size of the value. */
const VALUE_COPIES = 6;
const OTHER_BYTES = 512;

/** Estimated memory that a transaction takes in each thread, in bytes. */
export function waitingBytes({ outputs, spends, supports, spentSupports }: IndexedTransaction): number {
  const others = spends.length + supports.length + spentSupports.length;
  return outputs.reduce(
    (sum, { value }) => sum + OUTPUT_BYTES + VALUE_COPIES * value.length,
    OTHER_BYTES * (1 + others),
  );
}
