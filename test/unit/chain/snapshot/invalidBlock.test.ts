/** A snapshot of a chain with an invalid block is refuted when the block arrives, even if the block is never stored. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { snapshotRules } from '../../../../src/chain/snapshot/dumpSnapshot.js';
import { loadBlock, type LoadedBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { snapshotSections } from '../../../../src/node/services/snapshotService.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { formatBlock, parseBlockBytes } from '../../../../src/primitives/block.js';
import { headerHash, powHash } from '../../../../src/primitives/header.js';
import { satisfiesProofOfWork } from '../../../../src/primitives/pow.js';
import { txid, type Transaction } from '../../../../src/primitives/transaction.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { changedSnapshot, dumpOf } from '../../../support/snapshots.js';
import { startValidation } from '../../../support/snapshotValidation.js';
import { TestChain } from '../../../support/testChain.js';

const TIP = 12;
const WRONG_HEIGHT = 7;
const RULES = snapshotRules({
  network: 'regtest',
  supportDelay: '100',
  claimRules: JSON.stringify(regtestParams.claimForks),
  proofWindow: '5000',
});
const [PARENT_AT, MERKLE_AT, BITS_AT, NONCE_AT] = [4, 36, 104, 108];

let source: TestChain;
const folders: string[] = [];

beforeAll(async () => {
  source = await TestChain.open({ claimIndex: true });
  await source.mine(TIP);
  await dumpOf(source, 'snapshot', TIP, RULES);
});
afterAll(async () => {
  await source.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Gives the header the parent and proof of work. Returns its hash. */
function mend(header: Buffer, parent: Buffer): Buffer {
  parent.copy(header, PARENT_AT);
  const isSolved = (): boolean =>
    satisfiesProofOfWork(powHash(header), header.readUInt32LE(BITS_AT), regtestParams.powLimit);
  for (let nonce = 0; !isSolved(); nonce++) header.writeUInt32LE(nonce, NONCE_AT);
  return headerHash(header);
}

interface Forged {
  readonly chain: TestChain;
  readonly hash: string;
  /** The blocks by height, with the headers of the snapshot. */
  readonly blocks: LoadedBlock[];
}

/** A chain that is started from a snapshot in which `change` was applied to the coinbase at `WRONG_HEIGHT`. */
async function forge(change: (coinbase: Transaction) => void): Promise<Forged> {
  const blocks: LoadedBlock[] = [];
  let parent = headerHash((await source.blockAt(0)).raw.subarray(0, 112));
  for (let height = 1; height <= TIP; height++) {
    const block = parseBlockBytes((await source.blockAt(height)).raw);
    if (height === WRONG_HEIGHT) {
      change(block.transactions[0]!);
      block.header.merkleRoot = txid(block.transactions[0]!);
    }
    const raw = formatBlock(block);
    parent = mend(raw.subarray(0, 112), parent);
    blocks[height] = loadBlock(raw);
  }
  const whole = readFileSync(join(source.folder, 'snapshot'));
  const { bytes, hash } = await changedSnapshot(whole, {
    block: hashToHex(parent),
    header: (header, height) => {
      const { raw } = blocks[height]!;
      raw.copy(header, MERKLE_AT, MERKLE_AT, MERKLE_AT + 32);
      raw.copy(header, NONCE_AT, NONCE_AT, NONCE_AT + 4);
    },
  });
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-invalid-'));
  folders.push(folder);
  const path = join(folder, 'forged');
  writeFileSync(path, bytes);
  const snapshot = { path, hash, known: [], sections: snapshotSections(() => []) };
  const chain = await TestChain.open({ claimIndex: true, snapshot, folder, timeSec: source.timeSec });
  return { chain, hash, blocks };
}

it.each([
  [
    'checked without its parent',
    'bad-cb-length',
    (tx: Transaction) => (tx.inputs[0]!.scriptSig = Buffer.alloc(101, 1)),
  ],
  [
    'checked with its parent',
    'bad-txns-nonfinal',
    (tx: Transaction) => {
      tx.lockTime = TIP + 1;
      tx.inputs[0]!.sequence = 0;
    },
  ],
])('a block that breaks a rule that is %s refutes the snapshot', async (_, reason, change) => {
  const { chain, hash, blocks } = await forge((coinbase) => void change(coinbase));
  const { validation, passed } = await startValidation(chain);
  const { error } = await chain.opened.chain.processBlock(blocks[WRONG_HEIGHT]!, true);
  expect(error?.reason).toBe(reason);
  const id = hashToHex(blocks[WRONG_HEIGHT]!.hash);
  await expect(passed).rejects.toThrow(`block ${id} at height ${WRONG_HEIGHT} is invalid (${reason}`);
  await validation.stop();
  await expect(chain.reopen({ claimIndex: true })).rejects.toThrow(
    `file hash ${hash}) with which this folder was started is wrong`,
  );
});

it('a block whose contents do not match its header does not refute the snapshot', async () => {
  const { chain, blocks } = await forge(() => undefined);
  const { validation, passed } = await startValidation(chain);
  let ended = false;
  const end = (): void => void (ended = true);
  passed.then(end, end);
  for (const change of [
    (raw: Buffer): void => void (raw[raw.length - 1]! ^= 1),
    (raw: Buffer): void => void (raw[130]! ^= 1),
  ]) {
    const raw = Buffer.from(blocks[WRONG_HEIGHT]!.raw);
    change(raw);
    const { error } = await chain.opened.chain.processBlock(loadBlock(raw), true);
    expect(error?.corruption).toBe(true);
  }
  for (let height = 1; height < TIP; height++)
    expect((await chain.opened.chain.processBlock(blocks[height]!, true)).error).toBeNull();
  expect(ended).toBe(false);
  await validation.stop();
  await chain.opened.close();
});
