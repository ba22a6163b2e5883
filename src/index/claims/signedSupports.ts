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
import { findKeys, readSupportSignature, type ReadSignature } from './claimSignatures.js';
import type { NotedRows } from './notedRows.js';

/**
 * Finds the current keys of channels. Resolves to a function that returns the key for a channel id (latin1, wire order);
 * null if the channel has none.
 */
export type SupportChannelKeys = (
  channelIds: readonly string[],
) => Promise<(channelId: string) => Bytes | null>;

interface SignedSupport {
  readonly item: Item;
  readonly channelId: string;
  readonly signature: ReadSignature;
}

/**
 * Supports that one block changed. `created`: created in the block and unspent at its end. Removed supports were spent or
 * expired in the block.
 */
export interface BlockSupports {
  readonly created: readonly Item[];
  readonly removed: readonly Item[];
}

/** Updates the rows about signed supports for a block, in `noted`. */
export async function changeSignedSupports(
  noted: NotedRows,
  block: LoadedBlock,
  { created, removed }: BlockSupports,
  keysOf: SupportChannelKeys,
): Promise<void> {
  const sums = new SumChanges();
  if (removed.length > 0) await takeOut(noted, removed, sums);
  if (created.length > 0) await putIn(noted, await readSigned(block, created), keysOf, sums);
  await sums.write(noted);
}

/** Changes of support sums (count and amount) by row key. */
class SumChanges {
  private readonly changes = new Map<string, { count: number; amountSat: bigint }>();

  add({ claimId, name, amount }: Item, { channelId, tags }: SupportSigners, sign: 1 | -1): void {
    const group = groupOf(name);
    for (const tag of tags) {
      const key = supportSumKey(claimId, group, channelId, tag);
      let change = this.changes.get(key);
      if (!change) this.changes.set(key, (change = { count: 0, amountSat: 0n }));
      change.count += sign;
      change.amountSat += BigInt(sign) * amount;
    }
  }

  async write(noted: NotedRows): Promise<void> {
    if (this.changes.size === 0) return;
    await noted.load(this.changes.keys());
    for (const [key, change] of this.changes) {
      const { count, amountSat } = parseSupportSumRow(noted.get(key));
      const sum = { count: count + change.count, amountSat: amountSat + change.amountSat };
      noted.set(key, formatSupportSumRow(sum));
    }
  }
}

async function takeOut(noted: NotedRows, removed: readonly Item[], sums: SumChanges): Promise<void> {
  const keys = removed.map(({ point }) => supportSignersKey(point));
  await noted.load(keys);
  for (const [i, item] of removed.entries()) {
    const row = noted.former(keys[i]!);
    if (row === null) continue;
    sums.add(item, parseSupportSignersRow(row), -1);
    noted.set(keys[i]!, null);
  }
}

async function putIn(
  noted: NotedRows,
  signed: readonly SignedSupport[],
  keysOf: SupportChannelKeys,
  sums: SumChanges,
): Promise<void> {
  if (signed.length === 0) return;
  const keyOf = await keysOf(signed.map(({ channelId }) => channelId));
  const found = await findKeys(
    signed.map(({ signature, channelId }) => ({ signature, publicKey: keyOf(channelId) })),
  );
  for (const [i, { item, channelId }] of signed.entries()) {
    const signers = { channelId, tags: found[i]! };
    if (signers.tags.length === 0) continue;
    sums.add(item, signers, 1);
    noted.setNew(supportSignersKey(item.point), formatSupportSignersRow(signers));
  }
}

/** Reads the created supports whose data names a signing channel. */
async function readSigned(block: LoadedBlock, supports: readonly Item[]): Promise<SignedSupport[]> {
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
        signed.push({ item, channelId: toLatin1(read.channelId), signature: read.signature });
    }
    const slice = yieldIfDue(since);
    since = typeof slice === 'number' ? slice : await slice;
  }
  return signed;
}
