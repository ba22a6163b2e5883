/**
 * Output data stored in the database besides the bytes: type, ids and address. Source: lbry-sdk lbry/wallet/database.py
 * `txo_to_row`, `tx_to_row`.
 */
import { decodePurchase } from '../../../metadata/purchase.js';
import type { Transaction } from '../../../primitives/transaction.js';
import { formatOutPoint } from '../../../primitives/transaction.js';
import { hashToHex } from '../../../util/bytes.js';
import type { LedgerParams } from '../../base/ledgerParams.js';
import { Txo } from '../../txo/txo.js';
import { TXO_TYPE } from '../txoQuery.js';

export interface OutputFacts {
  readonly nout: number;
  readonly amountDewies: bigint;
  readonly script: Uint8Array;
  /** Address to which the output pays; null if it pays neither to a key hash nor to a script hash. */
  readonly address: string | null;
  readonly paysKeyHash: boolean;
  readonly type: number;
  readonly claimId: string | null;
  readonly claimName: string | null;
  readonly hasSource: boolean;
  readonly channelId: string | null;
  readonly repostedClaimId: string | null;
}

export interface TransactionFacts {
  readonly firstPrev: Buffer;
  readonly purchasedClaimId: string | null;
  readonly outputs: readonly OutputFacts[];
}

const CLAIM_TYPES: Readonly<Record<string, number>> = {
  stream: TXO_TYPE.stream,
  channel: TXO_TYPE.channel,
  collection: TXO_TYPE.collection,
  repost: TXO_TYPE.repost,
};

/**
 * Claim id that the second output names as bought; the first output is the payment. Null if the transaction is not a
 * purchase.
 */
function purchasedClaimId(outputs: readonly Txo[]): string | null {
  const data = outputs[1]?.isData ? outputs[1].read?.values['data'] : undefined;
  if (data === undefined) return null;
  try {
    return hashToHex(decodePurchase(data).claimHash);
  } catch {
    return null;
  }
}

function outputFacts(txo: Txo, purchased: string | null, ledger: LedgerParams): OutputFacts {
  const { claim, claimId, claimName, channelId } = txo;
  const kind = claim?.claim.type;
  const isPurchase = purchased !== null && txo.nout === 0 && !txo.isClaim && !txo.isSupport;
  return {
    nout: txo.nout,
    amountDewies: txo.amountDewies,
    script: txo.script,
    address: txo.address(ledger),
    paysKeyHash: txo.paysKeyHash,
    type: txo.isClaim
      ? (CLAIM_TYPES[claim?.kind ?? ''] ?? TXO_TYPE.stream)
      : txo.isSupport
        ? TXO_TYPE.support
        : isPurchase
          ? TXO_TYPE.purchase
          : TXO_TYPE.other,
    claimId: claimId === null ? (isPurchase ? purchased : null) : hashToHex(claimId),
    claimName,
    hasSource: kind?.case === 'repost' || (kind?.case === 'stream' && kind.value.source !== undefined),
    channelId: channelId === null ? null : hashToHex(channelId),
    repostedClaimId: kind?.case === 'repost' ? hashToHex(kind.value.claimHash) : null,
  };
}

export function transactionFacts(tx: Transaction, txid: Uint8Array, ledger: LedgerParams): TransactionFacts {
  const firstPrev = formatOutPoint(tx.inputs[0]!.prevout);
  const txos = tx.outputs.map(
    ({ value, script }, nout) =>
      new Txo({ txid, nout, height: 0, amountDewies: value, script, firstOutPoint: firstPrev }),
  );
  const purchased = purchasedClaimId(txos);
  return {
    firstPrev,
    purchasedClaimId: purchased,
    outputs: txos.map((txo) => outputFacts(txo, purchased, ledger)),
  };
}
