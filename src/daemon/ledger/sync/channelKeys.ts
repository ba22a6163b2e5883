/** The public keys of channels among a transaction's outputs. Source: lbry-sdk lbry/wallet/ledger.py `maybe_has_channel_key`. */
import { channelPublicKey } from '../../../metadata/channelSignature.js';
import type { Transaction } from '../../../primitives/transaction.js';
import type { Bytes } from '../../../util/bytes.js';
import { Txo } from '../../txo/txo.js';

const NO_ID = Buffer.alloc(32);

export function channelKeysOf(tx: Transaction): Bytes[] {
  return tx.outputs.flatMap(({ value, script }, nout) => {
    const txo = new Txo({ txid: NO_ID, nout, height: 0, amountDewies: value, script, firstOutPoint: null });
    const type = txo.claim?.claim.type;
    const key = type?.case === 'channel' ? channelPublicKey(type.value.publicKey) : null;
    return key === null ? [] : [key];
  });
}
