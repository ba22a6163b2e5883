/** The claim answers of the recorded chains, after each step and for past blocks, computed by the claim store. */
import { describe, expect, it } from 'vitest';
import {
  findClaimById,
  readChanges,
  readName,
  readNames,
  readTotals,
  type ClaimInfo,
  type NameInfo,
  type OutputInfo,
} from '../../src/store/claims/query/claimQueries.js';
import { readProof } from '../../src/store/claims/query/proofQueries.js';
import type { NameProof } from '../../src/claimtrie/proof.js';
import { hashToHex, type Bytes } from '../../src/util/bytes.js';
import { CHAIN_RULES, ClaimChain, recordedLines } from '../support/claimChain.js';
import { IS_LONG } from '../support/long.js';

type Json = Record<string, unknown>;

interface Step {
  submit?: number;
  method?: string;
  params?: unknown[];
  result?: unknown;
  error?: unknown;
}

/** Fields which need the block files or an address format. */
const BEYOND = new Set(['value', 'address']);

function without(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(without);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !BEYOND.has(key))
      .map(([key, entry]) => [key, without(entry)]),
  );
}

/** The name as text. Names that are not UTF-8 are printed escaped by the node, which is not tested here. */
function printed(name: Bytes): string {
  return Buffer.from(name).toString('utf8');
}

function output(info: OutputInfo): Json {
  return {
    txId: hashToHex(info.txid),
    n: info.n,
    height: info.height,
    validAtHeight: info.validAtHeight,
    amount: Number(info.amount),
  };
}

class Answers {
  readonly chain: ClaimChain;

  constructor(chain: ClaimChain) {
    this.chain = chain;
  }

  private get rows() {
    return this.chain.rows;
  }

  private get tipHeight(): number {
    return this.chain.tipNode.height;
  }

  private height(id: unknown): number {
    return id === undefined ? this.tipHeight : this.chain.heightOf(id as string);
  }

  private name(name: unknown, height: number): Promise<NameInfo> {
    const query = { name: Buffer.from(name as string), height, asReference: { tipHeight: this.tipHeight } };
    return readName(this.rows, this.chain.rules, query);
  }

  private async claim(info: ClaimInfo): Promise<Json> {
    const id = hashToHex(info.claimId);
    const known = await findClaimById(this.rows, id);
    return {
      ...(known ? { name: printed(known.name) } : {}),
      claimId: id,
      ...output(info),
      effectiveAmount: Number(info.effectiveAmount),
      ...(info.fullAmount > info.effectiveAmount ? { pendingAmount: Number(info.fullAmount) } : {}),
      supports: info.supports.map(output),
    };
  }

  private async whole(names: NameInfo, info: ClaimInfo | undefined, bid?: number): Promise<Json> {
    if (!info) return {};
    return {
      normalizedName: printed(names.name),
      ...(await this.claim(info)),
      lastTakeoverHeight: names.lastTakeoverHeight,
      bid: bid ?? info.bid,
      sequence: info.sequence,
    };
  }

  private find(names: NameInfo, id: string): ClaimInfo | undefined {
    return names.claims.find((claim) => hashToHex(claim.claimId).startsWith(id.toLowerCase()));
  }

  private bySequence(names: NameInfo, sequence: number): ClaimInfo | undefined {
    const order = [...names.claims].sort((a, b) => a.height - b.height || a.n - b.n);
    const claim = order[sequence];
    return claim && names.claims.find((other) => hashToHex(other.claimId) === hashToHex(claim.claimId));
  }

  private async proof(name: unknown, height: number, selects?: (id: Bytes) => boolean): Promise<Json> {
    const query = { name: Buffer.from(name as string), height, tipHeight: () => this.tipHeight };
    const whole = selects ? { ...query, selects } : query;
    return formatProof(await readProof(this.rows, this.chain.rules, 5000, whole));
  }

  private async claimsForName(params: readonly unknown[]): Promise<Json> {
    const names = await this.name(params[0], this.height(params[1]));
    const claims: Json[] = [];
    for (const info of names.claims) {
      claims.push({ ...(await this.claim(info)), bid: info.bid, sequence: info.sequence });
    }
    return {
      normalizedName: printed(names.name),
      claims,
      lastTakeoverHeight: names.lastTakeoverHeight,
      supportsWithoutClaim: names.supportsWithoutClaim.map(output),
    };
  }

  private async changes(params: readonly unknown[]): Promise<Json> {
    const changes = await readChanges(this.rows, this.height(params[0]));
    const ids = (list: Bytes[]): string[] => list.map(hashToHex);
    return {
      claimsAddedOrUpdated: ids(changes.claimsAddedOrUpdated),
      claimsRemoved: ids(changes.claimsRemoved),
      supportsAddedOrUpdated: ids(changes.supportsAddedOrUpdated),
      supportsRemoved: ids(changes.supportsRemoved),
    };
  }

  /** The answer, or undefined for methods that are not the claim store's. */
  async answer(method: string, params: unknown[]): Promise<unknown> {
    const tip = this.tipHeight;
    switch (method) {
      case 'getclaimsforname':
        return this.claimsForName(params);
      case 'getvalueforname': {
        const names = await this.name(params[0], this.height(params[1]));
        return this.whole(
          names,
          params[2] === undefined ? names.claims[0] : this.find(names, params[2] as string),
        );
      }
      case 'getclaimbybid': {
        const names = await this.name(params[0], this.height(params[2]));
        return this.whole(names, names.claims[params[1] as number], params[1] as number);
      }
      case 'getclaimbyseq': {
        const names = await this.name(params[0], this.height(params[2]));
        const answer = await this.whole(names, this.bySequence(names, params[1] as number));
        return 'sequence' in answer ? { ...answer, sequence: params[1] } : answer;
      }
      case 'getclaimbyid': {
        const known = await findClaimById(this.rows, params[0] as string);
        if (!known) return {};
        const query = { name: known.name, height: tip, asReference: { tipHeight: tip } };
        const names = await readName(this.rows, this.chain.rules, query);
        return this.whole(names, this.find(names, hashToHex(known.claimId)));
      }
      case 'getnameproof': {
        const id = params[2] as string | undefined;
        return this.proof(
          params[0],
          this.height(params[1]),
          id === undefined ? undefined : (claimId) => hashToHex(claimId).startsWith(id),
        );
      }
      case 'getclaimproofbybid': {
        const bid = params[1] as number;
        const names = await this.name(params[0], tip);
        if (bid > 0 && bid >= names.claims.length) return [];
        const id = bid > 0 ? hashToHex(names.claims[bid]!.claimId) : null;
        return this.proof(params[0], tip, id === null ? undefined : (claimId) => hashToHex(claimId) === id);
      }
      case 'getclaimproofbyseq': {
        const names = await this.name(params[0], tip);
        const claim = this.bySequence(names, params[1] as number);
        if (!claim) return [];
        const id = hashToHex(claim.claimId);
        return this.proof(params[0], tip, (claimId) => hashToHex(claimId) === id);
      }
      case 'getnamesintrie': {
        const names: string[] = [];
        for await (const name of readNames(this.rows, this.height(params[0]))) names.push(printed(name));
        return names;
      }
      case 'gettotalclaimednames':
        return (await readTotals(this.rows)).names;
      case 'gettotalclaims':
        return (await readTotals(this.rows)).claims;
      case 'gettotalvalueofclaims': {
        const { amount, controllingAmount } = await readTotals(this.rows);
        return Number(params[0] === true ? controllingAmount : amount) / 1e8;
      }
      case 'getchangesinblock':
        return this.changes(params);
      default:
        return undefined;
    }
  }
}

function formatProof({ nodes, pairs, claim }: NameProof): Json {
  return {
    ...(nodes.length > 0
      ? {
          nodes: nodes.map(({ children, valueHash }) => ({
            children: children.map(({ character, nodeHash }) => ({
              character,
              ...(nodeHash ? { nodeHash: hashToHex(nodeHash) } : {}),
            })),
            ...(valueHash ? { valueHash: hashToHex(valueHash) } : {}),
          })),
        }
      : {}),
    ...(pairs.length > 0 ? { pairs: pairs.map(({ odd, hash }) => ({ odd, hash: hashToHex(hash) })) } : {}),
    ...(claim
      ? { txId: hashToHex(claim.txid), n: claim.n, lastTakeoverHeight: claim.lastTakeoverHeight }
      : {}),
  };
}

function isEscaped(text: string): boolean {
  return text.includes('\\u00') || text.includes('\\\\u');
}

describe('claim answers of the recorded chains', () => {
  for (const number of IS_LONG ? [1, 2, 3, 4, 5] : [2, 4]) {
    const blocks = recordedLines(`chains/${number}/blocks.hex.gz`);
    const steps = recordedLines(`chains/${number}/transcript.jsonl.gz`);
    it.skipIf(blocks === null || steps === null)(`chain ${number}`, async () => {
      const chain = new ClaimChain(CHAIN_RULES[number]!);
      const answers = new Answers(chain);
      const differences: string[] = [];
      const counts: Record<string, number> = {};
      for (const line of steps!) {
        const step = JSON.parse(Buffer.from(line, 'latin1').toString('utf8')) as Step;
        if (step.submit !== undefined) {
          await chain.add(Buffer.from(blocks![step.submit]!, 'hex'));
          continue;
        }
        if (step.error || isEscaped(line)) continue;
        const answer = await answers.answer(step.method!, step.params ?? []);
        if (answer === undefined) continue;
        counts[step.method!] = (counts[step.method!] ?? 0) + 1;
        const got = JSON.stringify(answer);
        const wanted = JSON.stringify(without(step.result));
        if (got !== wanted)
          differences.push(
            `${step.method} ${JSON.stringify(step.params)} @${chain.tipNode.height}\n  got    ${got}\n  wanted ${wanted}`,
          );
      }
      console.log(`chain ${number}: ${JSON.stringify(counts)}, ${differences.length} differ`);
      for (const difference of differences.slice(0, 12)) console.log(difference.slice(0, 3000));
      expect(differences.length).toBe(0);
    });
  }
});
