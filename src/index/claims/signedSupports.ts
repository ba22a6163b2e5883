/**
 * Supports whose data a channel signed: the signing keys of each unspent support, and sums by claim, channel and key. The
 * rows are updated with each block, so a query neither reads transactions nor verifies signatures.
 */
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import { pointKey, type Item } from '../../claimtrie/item.js';
import {
  OUTPUT_CLAIM_KIND,
  OUTPUT_STRIDE,
  TX_CLAIM_OUTPUTS,
  TX_FIRST_INPUT,
  TX_FIRST_OUTPUT,
  TX_OUTPUT_COUNT,
  TX_STRIDE,
} from '../../primitives/blockLayout.js';
import { outputScriptAt, prevoutAt, txidAt } from '../../primitives/blockView.js';
import { decodeClaimScript } from '../../script/claimScript.js';
import { OP } from '../../script/opcodes.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { groupOf, supportSignersKey, supportSumKey } from './claimIndexKeys.js';
import {
  formatSupportSignersRow,
  formatSupportSumRow,
  parseSupportSignersRow,
  parseSupportSumRow,
  type SupportSigners,
} from './claimRow.js';
import { readSupportSignature, type ReadSignature } from './claimSignatures.js';
import type { NotedRows } from './notedRows.js';

/** A created support whose data names a signing channel. */
export interface SignedSupport {
  readonly item: Item;
  readonly channelId: string;
  readonly signature: ReadSignature;
  /** Key of the channel after the block; null without one. */
  publicKey: Bytes | null;
  /** Tags of the keys that verify the signature. */
  tags: readonly string[];
}

/** Keys of the rows with sums that change with a support. */
export function supportSumKeys({ claimId, name }: Item, { channelId, tags }: SupportSigners): string[] {
  const group = groupOf(name);
  return tags.map((tag) => supportSumKey(claimId, group, channelId, tag));
}

/**
 * Updates the rows about signed supports for a block, in `noted`. `removed` are the supports of earlier blocks that were spent
 * or expired. The rows of their signers and of all sums must have been loaded.
 */
export function changeSignedSupports(
  noted: NotedRows,
  signed: readonly SignedSupport[],
  removed: readonly Item[],
): void {
  const sums = new SumChanges();
  for (const item of removed) {
    const key = supportSignersKey(item.point);
    const row = noted.former(key);
    if (row === null) continue;
    sums.add(item, parseSupportSignersRow(row), -1);
    noted.set(key, null);
  }
  for (const { item, channelId, tags } of signed) {
    if (tags.length === 0) continue;
    const signers = { channelId, tags };
    sums.add(item, signers, 1);
    noted.setNew(supportSignersKey(item.point), formatSupportSignersRow(signers));
  }
  sums.write(noted);
}

/** Changes of support sums (count and amount) by row key. */
class SumChanges {
  private readonly changes = new Map<string, { count: number; amountSat: bigint }>();

  add(item: Item, signers: SupportSigners, sign: 1 | -1): void {
    for (const key of supportSumKeys(item, signers)) {
      let change = this.changes.get(key);
      if (!change) this.changes.set(key, (change = { count: 0, amountSat: 0n }));
      change.count += sign;
      change.amountSat += BigInt(sign) * item.amount;
    }
  }

  write(noted: NotedRows): void {
    for (const [key, change] of this.changes) {
      const { count, amountSat } = parseSupportSumRow(noted.get(key));
      const sum = { count: count + change.count, amountSat: amountSat + change.amountSat };
      noted.set(key, formatSupportSumRow(sum));
    }
  }
}

/** Reads the created supports whose data names a signing channel. */
export async function readSigned(block: LoadedBlock, supports: readonly Item[]): Promise<SignedSupport[]> {
  const byPoint = new Map(supports.map((item) => [item.point, item]));
  const { raw, parsed } = block;
  const { txs, outputs, txCount } = parsed;
  const signed: SignedSupport[] = [];
  let since = performance.now();
  for (let tx = 0; tx < txCount; tx++) {
    const row = tx * TX_STRIDE;
    if (txs[row + TX_CLAIM_OUTPUTS] === 0) continue;
    const first = txs[row + TX_FIRST_OUTPUT]!;
    for (let n = 0; n < txs[row + TX_OUTPUT_COUNT]!; n++) {
      if (outputs[(first + n) * OUTPUT_STRIDE + OUTPUT_CLAIM_KIND] !== OP.OP_SUPPORT_CLAIM) continue;
      const data = decodeClaimScript(outputScriptAt(raw, parsed, first + n))?.value;
      const item = data && byPoint.get(pointKey(txidAt(parsed, tx), n));
      if (!data || !item) continue;
      const read = readSupportSignature(data, prevoutAt(raw, parsed, txs[row + TX_FIRST_INPUT]!));
      if (read !== null)
        signed.push({
          item,
          channelId: toLatin1(read.channelId),
          signature: read.signature,
          publicKey: null,
          tags: [],
        });
    }
    const slice = yieldIfDue(since);
    since = typeof slice === 'number' ? slice : await slice;
  }
  return signed;
}
