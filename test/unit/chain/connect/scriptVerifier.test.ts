/** Which inputs fail their scripts. Also tests that witnesses with very many items are not parsed. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { checkSpends } from '../../../../src/chain/connect/checkSpends.js';
import { loadBlock, type LoadedBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { startScripts, type ScriptVerdict } from '../../../../src/chain/connect/scriptVerifier.js';
import { sha256 } from '../../../../src/crypto/hash.js';
import type { ResolvedInputs } from '../../../../src/native/binding.js';
import { formatTransaction, type Transaction } from '../../../../src/primitives/transaction.js';
import { SCRIPT_VERIFY } from '../../../../src/script/flags.js';
import { OP } from '../../../../src/script/opcodes.js';
import { buildScript, MAX_STACK_SIZE } from '../../../../src/script/script.js';
import { SCRIPT_ERROR } from '../../../../src/script/scriptError.js';
import { Reader } from '../../../../src/util/reader.js';
import { coinbaseTx, formatRawBlock, Random, randomOutPoint } from '../../../differential/support.js';

const FLAGS = SCRIPT_VERIFY.P2SH | SCRIPT_VERIFY.WITNESS;
const COIN_SAT = 1000n;

/** A block that spends one coin for each witness. Its coin pays to the script, and the witness has the items and the script. */
function spending(witnesses: readonly { script: Buffer; items: Buffer[] }[]): {
  block: LoadedBlock;
  resolved: ResolvedInputs;
} {
  const random = new Random(1);
  const tx: Transaction = {
    version: 1,
    inputs: witnesses.map(({ script, items }) => ({
      prevout: randomOutPoint(random),
      scriptSig: Buffer.alloc(0),
      sequence: 0,
      witness: [...items, script],
    })),
    outputs: [{ value: COIN_SAT, script: buildScript(OP.OP_1) }],
    lockTime: 0,
  };
  const block = loadBlock(
    formatRawBlock(
      random,
      [coinbaseTx(random), tx].map((each) => formatTransaction(each)),
    ),
  );
  const programs = witnesses.map(({ script }) => buildScript(OP.OP_0, sha256(script)));
  const count = 1 + programs.length;
  const resolved: ResolvedInputs = {
    heightCodes: new Uint32Array(count),
    amounts: new BigInt64Array(count).fill(COIN_SAT),
    scriptOffsets: Uint32Array.from({ length: count }, (_, i) => Math.max(0, i - 1) * 34),
    scriptLengths: Uint32Array.from({ length: count }, (_, i) => (i === 0 ? 0 : 34)),
    scripts: Buffer.concat(programs),
    status: new Uint8Array(count),
    claimKinds: new Uint8Array(count),
    duplicates: new Uint32Array(0),
  };
  return { block, resolved };
}

function run({ block, resolved }: ReturnType<typeof spending>): Promise<ScriptVerdict> {
  return startScripts({ raw: block.raw, parsed: block.parsed, resolved, flags: FLAGS }).finish();
}

const TRUE = Buffer.of(1);
/** A script that removes this number of pairs from the stack. */
const drops = (pairs: number): Buffer => buildScript(...Array<number>(pairs).fill(OP.OP_2DROP));

afterEach(() => {
  vi.restoreAllMocks();
});

describe('scripts of a block', () => {
  it('names the first input that fails', async () => {
    const good = { script: buildScript(OP.OP_NOT), items: [Buffer.alloc(0)] };
    const bad = { script: buildScript(OP.OP_NOT), items: [TRUE] };
    expect((await run(spending([good, good]))).failure).toBeNull();
    expect((await run(spending([good, bad, bad]))).failure?.input).toBe(2);
    // Many inputs are verified in threads.
    const many = Array<typeof good>(50).fill(good);
    expect((await run(spending(many))).failure).toBeNull();
    expect((await run(spending([...many, bad]))).failure?.input).toBe(51);
  });

  it('can abort a batch when a coin is missing', async () => {
    const { block, resolved } = spending([{ script: buildScript(OP.OP_NOT), items: [TRUE] }]);
    resolved.status[1] = 1;
    const begun = startScripts({ raw: block.raw, parsed: block.parsed, resolved, flags: FLAGS });
    await expect(begun.join()).resolves.toBeUndefined();
  });

  it('keeps every item that a script can use', async () => {
    for (const pairs of [10, 100, 200]) {
      const items = Array<Buffer>(2 * pairs + 1).fill(TRUE);
      expect((await run(spending([{ script: drops(pairs), items }]))).failure).toBeNull();
      expect(
        (await run(spending([{ script: drops(pairs), items: [TRUE, ...items] }]))).failure,
      ).not.toBeNull();
    }
  });

  it('refuses too deep stacks, by the same rule at any depth', async () => {
    for (const more of [2, 60, 100, 5000]) {
      const items = Array<Buffer>(MAX_STACK_SIZE + more).fill(TRUE);
      const codeOf = async (script: Buffer): Promise<number | undefined> =>
        (await run(spending([{ script, items }]))).failure?.code;
      expect(await codeOf(buildScript(OP.OP_DUP))).toBe(SCRIPT_ERROR.STACK_SIZE);
      // The first OP_2DROP may bring the stack below the limit. Then too many items are left at the end.
      expect(await codeOf(drops(200))).toBe(more <= 2 ? SCRIPT_ERROR.CLEANSTACK : SCRIPT_ERROR.STACK_SIZE);
    }
  });

  it('creates no object for each item of a witness', async () => {
    const items = Array<Buffer>(400_000).fill(TRUE);
    const script = buildScript(OP.OP_2DROP, OP.OP_CHECKSIG);
    const { block, resolved } = spending([{ script, items }]);
    const views = vi.spyOn(Reader.prototype, 'view');
    const verdict = checkSpends(block, resolved, {
      height: 10,
      flags: FLAGS,
      sequenceLocks: true,
      medianTimeAt: () => 0,
      parentMedianTimeSec: 0,
    });
    expect(verdict.error).toBeNull();
    expect(views.mock.calls.length).toBeLessThan(10);
    expect((await run({ block, resolved })).failure?.code).toBe(SCRIPT_ERROR.STACK_SIZE);
    expect(views.mock.calls.length).toBeLessThan(2 * MAX_STACK_SIZE);
  });
});
