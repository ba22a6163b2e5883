/**
 * Blocks that lbcd decides differently from lbrycrd: the decision of this node, and the message when it refuses such a block.
 */
import { describe, expect, it } from 'vitest';
import { blockClaims } from '../../../../src/chain/connect/blockClaims.js';
import { disputedClaims, disputedScripts } from '../../../../src/chain/connect/lbcdDisputes.js';
import { loadBlock, type LoadedBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import type { ResolvedInputs } from '../../../../src/native/binding.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { claimKind } from '../../../../src/primitives/scriptScan.js';
import { emptyInput, formatTransaction, type TxInput } from '../../../../src/primitives/transaction.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  decodeClaimScript,
} from '../../../../src/script/claimScript.js';
import { OP } from '../../../../src/script/opcodes.js';
import { SCRIPT_VERIFY } from '../../../../src/script/flags.js';
import { verifyScript } from '../../../../src/script/interpreter.js';
import { SCRIPT_ERROR } from '../../../../src/script/scriptError.js';
import { scriptForDestination } from '../../../../src/script/standard.js';
import { Random, coinbaseTx, formatRawBlock } from '../../../differential/support.js';
import { REGTEST_RULES } from '../../../support/claimChain.js';
import { claimOutput, supportOutput, World } from '../../rpc/claimtrie/world.js';

const random = new Random(77);
const CLAIM = buildClaimPrefix(Buffer.from('name'), Buffer.from('value'));
const KEY_HASH = scriptForDestination({ type: 'witness_v0_keyhash', hash: Buffer.alloc(20, 3) });
const RULES = regtestParams.claimForks;

/** A block with one transaction that spends an output with this script. */
function blockOf(
  spentScript: Buffer,
  input: Partial<TxInput>,
  outputScript: Buffer,
): [LoadedBlock, ResolvedInputs] {
  const tx = {
    version: 1,
    inputs: [{ ...emptyInput({ hash: Buffer.alloc(32, 1), index: 0 }), ...input }],
    outputs: [{ value: 1n, script: outputScript }],
    lockTime: 0,
  };
  const block = loadBlock(
    formatRawBlock(
      random,
      [coinbaseTx(random), tx].map((one) => formatTransaction(one)),
    ),
  );
  const resolved: ResolvedInputs = {
    heightCodes: Uint32Array.of(0, 2),
    amounts: BigInt64Array.of(0n, 1n),
    scriptOffsets: Uint32Array.of(0, 0),
    scriptLengths: Uint32Array.of(0, spentScript.length),
    scripts: spentScript,
    claimKinds: Uint8Array.of(0, claimKind(spentScript, 0, spentScript.length)),
    duplicates: [],
  } as unknown as ResolvedInputs;
  return [block, resolved];
}

describe('a claim that pays to a witness program', () => {
  const script = Buffer.concat([CLAIM, KEY_HASH]);

  it('is not spent without a witness, which lbcd allows', () => {
    const flags = SCRIPT_VERIFY.P2SH | SCRIPT_VERIFY.WITNESS;
    const checker = { checkSignature: () => false, checkLockTime: () => false, checkSequence: () => false };
    const outcome = verifyScript(Buffer.alloc(0), script, [], flags, checker as never);
    expect(outcome).toBe(SCRIPT_ERROR.WITNESS_PROGRAM_MISMATCH);
  });

  it('is reported when a block with such a spend is rejected', () => {
    expect(disputedScripts(...blockOf(script, {}, KEY_HASH))).toContain(
      'does not check for a witness after a claim script',
    );
    expect(disputedScripts(...blockOf(script, { witness: [Buffer.of(1)] }, KEY_HASH))).toBeNull();
    expect(disputedScripts(...blockOf(KEY_HASH, {}, KEY_HASH))).toBeNull();
  });
});

describe('a support with an empty value pushed', () => {
  it('is a support with metadata, and lbcd rejects the block', async () => {
    const withEmptyValue = (claimId: Buffer): Buffer => {
      const prefix = buildSupportPrefix(Buffer.from('name'), claimId);
      return Buffer.concat([prefix.subarray(0, -2), Buffer.of(OP.OP_0, OP.OP_2DROP, OP.OP_2DROP)]);
    };
    const prefix = withEmptyValue(Buffer.alloc(20, 1));
    expect(decodeClaimScript(Buffer.concat([prefix, KEY_HASH]))).toMatchObject({
      kind: 'support',
      prefixLength: prefix.length,
    });
    const world = new World();
    await world.mine();
    const [claim] = await world.mine([[], [claimOutput('name', 'aa', 5n)]]);
    await world.mine([
      [],
      [{ value: 7n, script: Buffer.concat([withEmptyValue(claim!.claimId(0)), KEY_HASH]) }],
    ]);
    expect(await world.call('lbcd', 'getclaimsforname', 'name')).toMatchObject({
      claims: [{ effectiveamount: 12 }],
    });
  });
});

describe('a support with metadata before the all-claims fork', () => {
  it('has no effect, and lbcd counts it', async () => {
    const world = new World({ ...REGTEST_RULES, normalizationForkHeight: 0 });
    await world.mine();
    const [claim] = await world.mine([[], [claimOutput('name', 'aa', 5n)]]);
    await world.mine([[], [supportOutput('name', claim!.claimId(0), 7n, 'bb')]]);
    expect(await world.call('lbcd', 'getclaimsforname', 'name')).toMatchObject({
      claims: [{ effectiveamount: 5 }],
    });
  });

  it('is reported when a block with one has another claim root', () => {
    const metadata = Buffer.concat([
      buildSupportPrefix(Buffer.from('name'), Buffer.alloc(20, 1), Buffer.from('value')),
      KEY_HASH,
    ]);
    const plain = Buffer.concat([buildSupportPrefix(Buffer.from('name'), Buffer.alloc(20, 1)), KEY_HASH]);
    const disputed = (script: Buffer, height: number): string | null => {
      const [block, resolved] = blockOf(KEY_HASH, {}, script);
      return disputedClaims(RULES, blockClaims(block, resolved, height));
    };
    const fork = RULES.allClaimsForkHeight;
    expect(disputed(metadata, fork - 1)).toContain('supports with metadata');
    expect(disputed(metadata, fork)).toBeNull();
    expect(disputed(plain, fork - 1)).toBeNull();
    expect(disputed(plain, RULES.extendedExpirationForkHeight)).toContain('lbrycrd extends their term');
  });
});

describe('a support of a name without claims at the normalization fork', () => {
  it('is not moved, and lbcd moves and counts it', async () => {
    const world = new World({ ...REGTEST_RULES, normalizationForkHeight: 4 });
    await world.mine();
    const [claim] = await world.mine([[], [claimOutput('name', 'aa', 5n)]]);
    await world.mine([[], [supportOutput('NAME', claim!.claimId(0), 7n)]]);
    const counted = async (profile: 'lbrycrd' | 'lbcd') =>
      ((await world.call(profile, 'getclaimsforname', 'name')) as { claims: Record<string, number>[] })
        .claims;
    expect(await counted('lbcd')).toMatchObject([{ effectiveamount: 5 }]);
    await world.mineEmpty(2);
    expect(await counted('lbcd')).toMatchObject([{ effectiveamount: 12, supports: [{ amount: 7 }] }]);
    expect(await counted('lbrycrd')).toMatchObject([{ effectiveAmount: 5, supports: [] }]);
  });
});

describe('a claim made in the block of the normalization fork', () => {
  it('is delayed by the controlling claim of its raw name, and in lbcd by that of the normalized name', async () => {
    const world = new World({ ...REGTEST_RULES, normalizationForkHeight: 100 });
    await world.mine();
    await world.mine([[], [claimOutput('name', 'aa', 5n)]]);
    await world.mineEmpty(98);
    const [inIt] = await world.mine([[], [claimOutput('NAME', 'aa', 1n)]]);
    const [after] = await world.mine([[], [claimOutput('NAME', 'aa', 1n)]]);
    expect(inIt!.height).toBe(100);
    const { claims } = (await world.call('lbcd', 'getclaimsforname', 'name')) as {
      claims: { txid: string; validatheight: number }[];
    };
    const validAt = ({ id }: { id: string }): unknown =>
      claims.find(({ txid }) => txid === id)?.validatheight;
    expect(validAt(inIt!)).toBe(100);
    expect(validAt(after!)).toBe(101 + Math.floor((101 - 1) / 32));
  });
});

describe('the block of the normalization fork', () => {
  it('is reported when it has another claim root', () => {
    const [block, resolved] = blockOf(KEY_HASH, {}, KEY_HASH);
    const disputed = (height: number): string | null =>
      disputedClaims(RULES, blockClaims(block, resolved, height));
    expect(disputed(RULES.normalizationForkHeight)).toContain('names without claims');
    expect(disputed(RULES.normalizationForkHeight + 1)).toBeNull();
  });
});
