/**
 * The effects of a mempool transaction on claims, computed once when it arrives: the claims that it makes and updates, with their
 * decoded values, its supports, and the claims and supports that it spends. Plain values that can be sent to other threads.
 */
import { claimIdAtPoint, pointKey } from '../../claimtrie/item.js';
import { channelPublicKey } from '../../metadata/channelSignature.js';
import { readClaimFacts, type ClaimKind } from '../../metadata/claimFacts.js';
import type { NetworkParams } from '../../params/network.js';
import { formatOutPoint, type Transaction } from '../../primitives/transaction.js';
import { claimIdOf, decodeClaimScript } from '../../script/claimScript.js';
import { hashToHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { groupOf, keyTag } from '../claims/claimIndexKeys.js';
import { readSignature, recoverSigners, type ReadSignature } from '../claims/claimSignatures.js';

/** An output of the mempool that makes or updates a claim. Ids are latin1, in wire order. */
export interface WaitingOutput {
  readonly claimId: string;
  /** Id as hex, in printed order. */
  readonly idHex: string;
  readonly txid: string;
  readonly nout: number;
  /** See `pointKey`. */
  readonly point: string;
  /** The name in the script, latin1, and the normalized name. */
  readonly rawName: string;
  readonly group: string;
  readonly isUpdate: boolean;
  readonly amountSat: bigint;
  readonly value: Bytes;
  readonly kind: ClaimKind | null;
  /** Channel id from the value. */
  readonly channelId: string | null;
  /** Channel signature, not verified yet; see `isSignedBy`. */
  readonly signature: ReadSignature | null;
  readonly repostedId: string | null;
  /** The key tag of a channel; null without a usable key. */
  readonly keyTag: string | null;
  /** The arrival number of its transaction. */
  readonly arrival: number;
  readonly timeSec: number;
}

/** A made or spent support, by `claimId` and group like the support sums of the index. */
export interface WaitingSupport {
  readonly claimId: string;
  readonly group: string;
  readonly amountSat: bigint;
}

/** A claim output that is spent. */
export interface SpentClaim {
  readonly claimId: string;
  readonly point: string;
  /** Channel id from the value of the spent output. */
  readonly channelId: string | null;
  readonly repostedId: string | null;
}

export interface WaitingTransaction {
  readonly txid: string;
  readonly outputs: readonly WaitingOutput[];
  readonly spends: readonly SpentClaim[];
  readonly supports: readonly WaitingSupport[];
  readonly spentSupports: readonly WaitingSupport[];
}

/** The data of a transaction when the mempool accepts it. */
export interface ArrivedTransaction {
  readonly txid: Bytes;
  readonly timeSec: number;
  readonly arrival: number;
  readonly tx: Transaction;
  /** Scripts of the outputs that the inputs spend, in order. */
  readonly spentScripts: readonly Bytes[];
  readonly spentAmountsSat: readonly bigint[];
}

const latin1OrNull = (bytes: Bytes | null): string | null => bytes && toLatin1(bytes);

/** Null for a transaction without claims or supports. */
export function readWaiting(
  arrived: ArrivedTransaction,
  params: Pick<NetworkParams, 'base58'>,
): WaitingTransaction | null {
  const { tx, spentScripts, spentAmountsSat } = arrived;
  const spends: SpentClaim[] = [];
  const spentSupports: WaitingSupport[] = [];
  /** Names of spent claims that no output has updated yet, by claim. */
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
    // An update that spends no claim, or a claim of another name, is not an update.
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
  { txid, tx, arrival, timeSec }: ArrivedTransaction,
  params: Pick<NetworkParams, 'base58'>,
  { id, nout, rawName, group, isUpdate, amountSat, script }: ReadOutput,
): WaitingOutput {
  // A copy, so that the transaction can be freed, and only this part is copied to other threads.
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

/** Cache: tags of the keys for which signatures are valid. */
const signers = new WeakMap<ReadSignature, readonly string[]>();

/**
 * Whether the signature of a claim is valid for the key with this tag. The first call for a claim recovers the keys, some 0.2 ms,
 * so the thread that accepts transactions does not spend this time on each of them.
 */
export function isSignedBy({ signature }: Pick<WaitingOutput, 'signature'>, tag: string): boolean {
  if (signature === null) return false;
  let tags = signers.get(signature);
  if (tags === undefined) signers.set(signature, (tags = recoverSigners(signature)));
  return tags.includes(tag);
}

/** Memory of an output in its store and in the search, measured and rounded up (docs/hub.md). */
const OUTPUT_BYTES = 4096;
/** Factor for the data that is derived from a value: its words, texts and labels. */
const VALUE_COPIES = 6;
const OTHER_BYTES = 512;

/** Estimated memory of a transaction in each thread. */
export function waitingBytes({ outputs, spends, supports, spentSupports }: WaitingTransaction): number {
  const others = spends.length + supports.length + spentSupports.length;
  return outputs.reduce(
    (sum, { value }) => sum + OUTPUT_BYTES + VALUE_COPIES * value.length,
    OTHER_BYTES * (1 + others),
  );
}
