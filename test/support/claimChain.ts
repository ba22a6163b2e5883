/**
 * Feeds blocks to the claim store without a node. It has a coin map in memory, selects the chain with the most blocks (the
 * first seen of equal ones), and disconnects blocks at a reorganisation. Each root is compared with the one in the header.
 */
import { readFileSync, existsSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Block } from '../../src/primitives/block.js';
import { parseBlockBytes } from '../../src/primitives/block.js';
import { formatHeader, headerHash } from '../../src/primitives/header.js';
import { formatTransaction, hasWitness, txid, type Transaction } from '../../src/primitives/transaction.js';
import { claimIdOf, decodeClaimScript } from '../../src/script/claimScript.js';
import type {
  ClaimBlock,
  ClaimOutput,
  ClaimRules,
  ClaimSpend,
  ClaimTx,
} from '../../src/store/claims/claimStore.js';
import { ClaimStore, type ProofWindow } from '../../src/store/claims/claimStore.js';
import { hashToHex, isZero, toHex } from '../../src/util/bytes.js';
import { MemoryRows } from './memoryRows.js';

export interface Coin {
  height: number;
  value: bigint;
  script: Uint8Array;
}

interface Node {
  block: Block;
  raw: Buffer;
  id: string;
  parent: Node | null;
  height: number;
  spent: [string, Coin][];
}

export const REGTEST_RULES: ClaimRules = {
  originalExpiration: 500,
  extendedExpiration: 600,
  extendedExpirationForkHeight: 800,
  normalizationForkHeight: 250,
  takeoverWorkaroundMin: -1,
  takeoverWorkaroundMax: -1,
  allClaimsForkHeight: 350,
  supportDelay: 'proportional',
};

export const CHAIN_RULES: Record<number, ClaimRules> = {
  1: REGTEST_RULES,
  2: REGTEST_RULES,
  3: REGTEST_RULES,
  4: { ...REGTEST_RULES, supportDelay: 100 },
  5: {
    ...REGTEST_RULES,
    originalExpiration: 260,
    extendedExpiration: 900,
    extendedExpirationForkHeight: 400,
    normalizationForkHeight: 600,
    takeoverWorkaroundMin: 450,
    takeoverWorkaroundMax: 760,
    allClaimsForkHeight: 770,
  },
};

export const MAIN_RULES: ClaimRules = {
  originalExpiration: 262974,
  extendedExpiration: 2102400,
  extendedExpirationForkHeight: 400155,
  normalizationForkHeight: 539940,
  takeoverWorkaroundMin: 496850,
  takeoverWorkaroundMax: 658300,
  allClaimsForkHeight: 658310,
  supportDelay: 'proportional',
};

export const SHARED = new URL('../../../shared/conformance/', import.meta.url);

/** Lines of a gzipped text; null if the recordings are not available. */
export function recordedLines(path: string): string[] | null {
  const url = new URL(path, SHARED);
  if (!existsSync(url)) return null;
  return gunzipSync(readFileSync(url)).toString('latin1').trim().split('\n');
}

export class ClaimChain {
  readonly rules: ClaimRules;
  readonly store: ClaimStore;
  readonly rows = new MemoryRows();
  readonly coins = new Map<string, Coin>();
  private readonly nodes = new Map<string, Node>();
  tip: Node | null = null;
  connected = 0;
  disconnected = 0;
  milliseconds = 0;

  constructor(rules: ClaimRules, proofWindow: ProofWindow = 5000) {
    this.rules = rules;
    this.store = new ClaimStore({ rules, proofWindow });
  }

  /** Accepts a block and activates the longest chain. */
  async add(raw: Buffer): Promise<void> {
    const block = parseBlockBytes(raw);
    const id = toHex(headerHash(formatHeader(block.header)));
    const parentId = toHex(block.header.prevHash);
    const parent = this.nodes.get(parentId) ?? null;
    const node: Node = { block, raw, id, parent, height: parent ? parent.height + 1 : 0, spent: [] };
    // The recordings of regtest do not contain the genesis block.
    if (parent === null) node.height = isZero(block.header.prevHash) ? 0 : 1;
    this.nodes.set(id, node);
    if (this.tip && node.height <= this.tip.height) return;
    await this.moveTo(node);
  }

  private async moveTo(target: Node): Promise<void> {
    const path: Node[] = [];
    let fork: Node | null = target;
    const active = new Set<Node>();
    for (let node = this.tip; node; node = node.parent) active.add(node);
    while (fork && !active.has(fork)) {
      path.push(fork);
      fork = fork.parent;
    }
    while (this.tip && this.tip !== fork) await this.disconnect();
    for (const node of path.reverse()) await this.connect(node);
  }

  private async connect(node: Node): Promise<void> {
    const claims = this.claimsOf(node);
    const rows = this.rows.begin();
    const start = performance.now();
    const { root } = await this.store.connect(rows, claims);
    this.milliseconds += performance.now() - start;
    const wanted = hashToHex(node.block.header.claimRoot);
    if (hashToHex(root) !== wanted) {
      throw new Error(`root at ${node.height}: ${hashToHex(root)} instead of ${wanted}`);
    }
    rows.commit();
    this.tip = node;
    this.connected++;
  }

  async disconnect(): Promise<void> {
    const node = this.tip!;
    const rows = this.rows.begin();
    const { root } = await this.store.disconnect(rows, node.height);
    const wanted = node.parent ? hashToHex(node.parent.block.header.claimRoot) : null;
    if (wanted !== null && hashToHex(root) !== wanted) {
      throw new Error(`root before ${node.height}: ${hashToHex(root)} instead of ${wanted}`);
    }
    rows.commit();
    for (const tx of node.block.transactions) {
      const id = toHex(txid(tx));
      for (let n = 0; n < tx.outputs.length; n++) this.coins.delete(`${id}:${n}`);
    }
    for (const [key, coin] of node.spent.reverse()) this.coins.set(key, coin);
    node.spent = [];
    this.tip = node.parent;
    this.disconnected++;
  }

  /** Reconnects the blocks that `disconnect` disconnected. */
  async reconnect(node: Node): Promise<void> {
    await this.connect(node);
  }

  get tipNode(): Node {
    return this.tip!;
  }

  /** Height of the block of the active chain with the printed id, or -1. */
  heightOf(printedId: string): number {
    const id = Buffer.from(printedId, 'hex').reverse().toString('hex');
    for (let node = this.tip; node; node = node.parent) if (node.id === id) return node.height;
    return -1;
  }

  private claimsOf(node: Node): ClaimBlock {
    const transactions: ClaimTx[] = [];
    const { height } = node;
    let offset = 112 + compactSizeLength(node.block.transactions.length);
    node.block.transactions.forEach((tx, index) => {
      const id = txid(tx);
      const hex = toHex(id);
      if (index > 0) {
        const spends = this.spendsOf(node, tx);
        const outputs = outputsOf(tx);
        if (spends.length + outputs.length > 0)
          transactions.push({ txid: id, txOffset: offset, spends, outputs });
      }
      tx.outputs.forEach(({ value, script }, n) => this.coins.set(`${hex}:${n}`, { height, value, script }));
      offset += formatTransaction(tx, hasWitness(tx)).length;
    });
    return { height, transactions };
  }

  private spendsOf(node: Node, tx: Transaction): ClaimSpend[] {
    const spends: ClaimSpend[] = [];
    for (const { prevout } of tx.inputs) {
      const key = `${toHex(prevout.hash)}:${prevout.index}`;
      const coin = this.coins.get(key);
      if (!coin) continue; // The genesis output.
      this.coins.delete(key);
      node.spent.push([key, coin]);
      const claim = decodeClaimScript(coin.script);
      if (!claim) continue;
      spends.push({
        txid: prevout.hash,
        n: prevout.index,
        coinHeight: coin.height,
        kind: claim.kind,
        hasMetadata: claim.kind === 'support' && claim.value !== undefined,
        name: claim.name,
        claimId: claim.claimId ?? claimIdOf(prevout.hash, prevout.index),
        amount: coin.value,
      });
    }
    return spends;
  }
}

function outputsOf(tx: Transaction): ClaimOutput[] {
  const outputs: ClaimOutput[] = [];
  tx.outputs.forEach(({ value, script }, n) => {
    const claim = decodeClaimScript(script);
    if (!claim) return;
    outputs.push({
      n,
      kind: claim.kind,
      hasMetadata: claim.kind === 'support' && claim.value !== undefined,
      name: claim.name,
      amount: value,
      ...(claim.claimId ? { claimId: claim.claimId } : {}),
    });
  });
  return outputs;
}

function compactSizeLength(count: number): number {
  return count < 253 ? 1 : count <= 0xffff ? 3 : 5;
}
