/**
 * The block rules with blocks of the reference: every accepted block must pass, and the states of the deployments must equal the
 * reported ones. Other tests check coins, claims and scripts.
 */
import { describe, expect, it } from 'vitest';
import { checkBlock } from '../../../src/consensus/checkBlock.js';
import { contextualCheckHeader } from '../../../src/consensus/checkHeader.js';
import { blockWork, difficultyOf } from '../../../src/primitives/compactTarget.js';
import { contextualCheckBlock } from '../../../src/consensus/contextualCheckBlock.js';
import { NO_HEADER, type HeaderId } from '../../../src/consensus/headerTree.js';
import { nextWorkRequired } from '../../../src/primitives/retarget.js';
import { VersionBits } from '../../../src/consensus/versionBits.js';
import type { DeploymentId, NetworkParams } from '../../../src/params/network.js';
import { mainParams } from '../../../src/params/main.js';
import { regtestWith } from '../../../src/params/regtest.js';
import { parseBlockBytes, type Block } from '../../../src/primitives/block.js';
import { formatHeader, headerHash } from '../../../src/primitives/header.js';
import { fromHex, hashToHex } from '../../../src/util/bytes.js';
import { MemoryHeaders } from './support/memoryHeaders.js';
import { hasShared, sharedLines, sharedText } from './support/shared.js';

/** Headers by id, with the rules applied to each block that is added. */
class CheckedChain {
  readonly tree = new MemoryHeaders();
  readonly bits: VersionBits;
  readonly ids = new Map<string, HeaderId>();
  readonly work = new Map<HeaderId, bigint>();
  private readonly params: NetworkParams;

  constructor(params: NetworkParams) {
    this.params = params;
    this.bits = new VersionBits(params, this.tree);
    this.store(parseBlockBytes(params.genesis.block), NO_HEADER);
  }

  private store(block: Block, parent: HeaderId): void {
    const id = this.tree.add(parent, block.header);
    this.ids.set(hashToHex(headerHash(formatHeader(block.header))), id);
    this.work.set(id, (this.work.get(parent) ?? 0n) + blockWork(block.header.bits));
  }

  /** Checks a block in the reference's order and adds it. Returns the reason of the first failed check. */
  add(bytes: Buffer): string | null {
    const block = parseBlockBytes(bytes);
    const parent = this.ids.get(hashToHex(block.header.prevHash));
    if (parent === undefined) return 'prev-blk-not-found';
    const height = this.tree.heightOf(parent) + 1;
    const parentMedianTimeSec = this.tree.medianTimeOf(parent);
    const headerContext = {
      height,
      requiredBits: nextWorkRequired(this.tree, parent, block.header.timeSec, this.params),
      parentMedianTimeSec,
      adjustedTimeSec: 4_000_000_000,
      lastCheckpointHeight: null,
    };
    const blockContext = {
      height,
      parentMedianTimeSec,
      csvActive: this.bits.isActive('csv', parent),
      segwitActive: this.bits.isActive('segwit', parent),
    };
    const verdict =
      contextualCheckHeader(block.header, headerContext, this.params) ??
      checkBlock(block, this.params) ??
      contextualCheckBlock(block, blockContext, this.params);
    if (verdict === null) this.store(block, parent);
    return verdict?.reason ?? null;
  }
}

/** `-name=value` arguments of a recorded chain. */
function argumentsOf(chain: number): NetworkParams {
  const args = sharedText(`chains/${chain}/node-args`).trim().split(/\s+/);
  const values = (name: string): string[] =>
    args.filter((arg) => arg.startsWith(`-${name}=`)).map((arg) => arg.slice(name.length + 2));
  return regtestWith({ forkHeights: values('forkheight'), claimExpiration: values('claimexpiration')[0] });
}

interface ChainInfo {
  bestblockhash: string;
  difficulty: number;
  mediantime: number;
  chainwork: string;
  bip9_softforks: Record<DeploymentId, { status: string; since: number; statistics?: object }>;
}

describe.skipIf(!hasShared)('recorded chains', () => {
  it.each([1, 2, 3, 4, 5])(
    'chain %i passes every block rule, and reports its deployments alike',
    (number) => {
      const chain = new CheckedChain(argumentsOf(number));
      const blocks = sharedLines(`chains/${number}/blocks.hex.gz`);
      const reports: ChainInfo[] = [];
      let submitted = 0;
      for (const line of sharedLines(`chains/${number}/transcript.jsonl.gz`)) {
        const entry = JSON.parse(line) as { submit?: number; result?: unknown; method?: string };
        if (entry.submit !== undefined) {
          const verdict = chain.add(fromHex(blocks[entry.submit]!));
          // For a block that is not on the best chain, the reference only returns "inconclusive".
          expect([null, 'inconclusive', 'duplicate']).toContain(entry.result);
          expect(verdict).toBeNull();
          submitted++;
        } else if (entry.method === 'getblockchaininfo') {
          reports.push(entry.result as ChainInfo);
        }
      }
      expect(submitted).toBe(blocks.length);
      expect(reports.length).toBeGreaterThan(30);
      for (const report of reports) {
        const tip = chain.ids.get(report.bestblockhash)!;
        expect(chain.tree.medianTimeOf(tip)).toBe(report.mediantime);
        expect(chain.work.get(tip)!.toString(16).padStart(64, '0')).toBe(report.chainwork);
        expect(Number(difficultyOf(chain.tree.bitsOf(tip)).toPrecision(16))).toBe(report.difficulty);
        for (const id of ['csv', 'segwit'] as const) {
          const shown = report.bip9_softforks[id];
          expect(chain.bits.state(id, tip)).toBe(shown.status);
          expect(chain.bits.sinceHeight(id, tip)).toBe(shown.since);
          if (shown.status === 'started') expect(chain.bits.statistics(id, tip)).toEqual(shown.statistics);
        }
      }
    },
  );

  it('main 0 to 434 passes every block rule', () => {
    const chain = new CheckedChain(mainParams);
    const lines = sharedLines('mainnet/blocks-0-434.hex.gz');
    for (const line of lines.slice(1)) expect(chain.add(fromHex(line))).toBeNull();
    expect(chain.ids.size).toBe(435);
  });
});
