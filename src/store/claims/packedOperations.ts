/**
 * Packs the claim operations of a block for `ClaimStore.connectOrdinary` (`native/claims/claimOperations.h`). The addon packs those of a
 * whole block faster.
 */
import type { ClaimBlock, ClaimOutput, ClaimSpend } from '../../claimtrie/types.js';
import { pointKey } from '../../claimtrie/item.js';

const KINDS = ['claim', 'update', 'support'] as const;
const NO_ID = Buffer.alloc(20);

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function operation({ kind, hasMetadata, amount, name }: ClaimSpend | ClaimOutput, id: Uint8Array): Buffer {
  const value = Buffer.alloc(8);
  value.writeBigUInt64LE(amount);
  return Buffer.concat([
    Buffer.of(KINDS.indexOf(kind), Number(hasMetadata)),
    value,
    id,
    u32(name.length),
    name,
  ]);
}

export function packOperations({ transactions }: ClaimBlock): Buffer {
  const parts: Uint8Array[] = [];
  for (const { txid, txOffset, spends, outputs } of transactions) {
    parts.push(u32(txOffset), txid, u32(spends.length), u32(outputs.length));
    for (const spend of spends) {
      const point = Buffer.from(pointKey(spend.txid, spend.n), 'latin1');
      parts.push(point, u32(spend.coinHeight), operation(spend, spend.claimId));
    }
    for (const output of outputs) parts.push(u32(output.n), operation(output, output.claimId ?? NO_ID));
  }
  return Buffer.concat(parts);
}
