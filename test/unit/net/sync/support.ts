/**
 * The handlers for blocks and headers with a real chain. Peers are fake peers or another such node. A second chain mines the
 * blocks.
 */
import type { LoadedBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { loadBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { decodeCompact } from '../../../../src/primitives/compactTarget.js';
import { nextWorkRequired } from '../../../../src/primitives/retarget.js';
import { formatTemplate, setExtraNonce, type BlockTemplate } from '../../../../src/mining/blockAssembler.js';
import { grind } from '../../../../src/mining/grind.js';
import { BloomFilter } from '../../../../src/net/bloom/bloomFilter.js';
import type { Candidate } from '../../../../src/net/compact/compactBlock.js';
import type { Command, Payload } from '../../../../src/net/messages/table.js';
import { NODE } from '../../../../src/net/services.js';
import { makeBlockSync, type BlockSync, type BlockSyncOptions } from '../../../../src/net/sync/blockSync.js';
import { formatHeader, type BlockHeader } from '../../../../src/primitives/header.js';
import { NULL_HASH } from '../../../../src/primitives/transaction.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { CountingRandom, PartHost, type FakePeer, type FakePeerOptions } from '../../../support/fakePeer.js';
import { OPEN_SCRIPT, TestChain, type TestChainOptions } from '../../../support/testChain.js';

/** The main network's. */
export const SPACING_SEC = 150;

export interface SyncWorldOptions extends TestChainOptions {
  sync?: Partial<BlockSyncOptions>;
  localServices?: bigint;
}

export class SyncWorld {
  readonly world: TestChain;
  readonly sync: BlockSync;
  readonly host: PartHost;
  /** Transactions of the mempool. */
  readonly pool: Candidate[] = [];
  nowMs = 1_000_000;
  localServices: bigint;
  filter: Pick<BloomFilter, 'isRelevantAndUpdateInSlices'> = BloomFilter.matchAll();

  private constructor(world: TestChain, options: SyncWorldOptions) {
    this.world = world;
    this.localServices = options.localServices ?? NODE.network | NODE.bloom | NODE.witness;
    this.sync = makeBlockSync(
      {
        params: { targetSpacingSec: SPACING_SEC },
        minimumChainWork: options.minimumChainWork ?? 0n,
        prunes: false,
        uploadTargetBytes: 0,
        extraTransactions: 100,
        ...options.sync,
      },
      {
        chain: world.opened.chain,
        mempool: { transactions: () => this.pool },
        clock: {
          nowMs: () => this.nowMs,
          nowSec: () => world.timeSec,
          adjustedTimeSec: () => world.timeSec,
        },
        random: new CountingRandom(),
        log: SILENT_LOGGER,
        localServices: () => this.localServices,
        blockFilterOf: () => this.filter,
      },
    );
    this.host = new PartHost(this.sync.parts);
  }

  static async open(options: SyncWorldOptions = {}): Promise<SyncWorld> {
    return new SyncWorld(await TestChain.open({ txIndex: false, ...options }), options);
  }

  get chain(): TestChain['opened']['chain'] {
    return this.world.opened.chain;
  }
  get height(): number {
    return this.chain.height;
  }
  /** Printed id of the tip. */
  get tip(): string {
    return this.chain.index.headers.hash(this.chain.tip).toString('hex');
  }

  async close(): Promise<void> {
    await this.settle();
    this.sync.stop();
    await this.world.close();
  }

  /** Waits until all blocks that can be connected are connected. */
  async settle(): Promise<void> {
    for (let i = 0; i < 3; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      await this.chain.exclusively(() => Promise.resolve());
    }
  }

  connect(options: FakePeerOptions = {}, prepare?: (peer: FakePeer) => void): FakePeer {
    return this.host.connect(options, prepare);
  }

  /** A connected peer whose first messages were processed and removed. No answer to them is pending. */
  connectQuiet(options: FakePeerOptions = {}): FakePeer {
    const peer = this.connect(options);
    peer.sent.length = 0;
    return peer;
  }

  deliver<C extends Command>(peer: FakePeer, command: C, payload: Payload<C>): Promise<void> {
    return this.host.deliver(peer, command, payload);
  }

  /** Delivers a message and waits for what follows from it. */
  async handle<C extends Command>(peer: FakePeer, command: C, payload: Payload<C>): Promise<void> {
    await this.deliver(peer, command, payload);
    await this.settle();
  }

  tick(...peers: FakePeer[]): void {
    this.nowMs += 100;
    this.host.tick(this.nowMs, ...peers);
  }

  /** Mines on our own chain. */
  mine(count: number): Promise<Buffer[]> {
    return this.world.mine(count);
  }

  /** Copies blocks of another chain. */
  async copyFrom(source: TestChain, from: number, to: number): Promise<void> {
    for (let height = from; height <= to; height++)
      await this.chain.processBlock(await source.blockAt(height), true);
  }
}

/** The 112 bytes of a block's header. */
export function headerOf(block: LoadedBlock): Buffer {
  return block.raw.subarray(0, 112);
}

/** Headers of the active chain, both ends included. */
export async function headersOf(source: TestChain, from: number, to: number): Promise<Buffer[]> {
  const headers: Buffer[] = [];
  for (let height = from; height <= to; height++) headers.push(headerOf(await source.blockAt(height)));
  return headers;
}

/** A block on the tip of `source`, changed before its proof of work is computed. The block is not added to the chain. */
export async function makeBlock(
  source: TestChain,
  change: (template: BlockTemplate) => void = () => undefined,
): Promise<LoadedBlock> {
  const template = await source.miner.assembler.assemble(OPEN_SCRIPT);
  change(template);
  setExtraNonce(template, 77);
  return seal(template);
}

/** Computes the proof of work for a template. */
export async function seal(template: BlockTemplate): Promise<LoadedBlock> {
  const { header } = template;
  const { target } = decodeCompact(header.bits);
  header.nonce = await grind(formatHeader(header), target, 1 << 20, new AbortController().signal);
  return loadBlock(formatTemplate(template));
}

/** This many headers on a block of `source`, without blocks; they become known to it. */
export async function mineHeaders(source: SyncWorld, count: number, onto = 0): Promise<Buffer[]> {
  const { chain } = source;
  const { headers, active } = chain.index;
  const { signal } = new AbortController();
  const made: Buffer[] = [];
  for (let parent = onto; made.length < count;) {
    // With this interval the difficulty remains minimal.
    const timeSec = headers.timeSec(parent) + 600;
    const header: BlockHeader = {
      version: 0x20000000,
      prevHash: Buffer.from(headers.hash(parent)),
      merkleRoot: NULL_HASH,
      claimRoot: NULL_HASH,
      timeSec,
      bits: nextWorkRequired(active, parent, timeSec, chain.deps.params),
      nonce: 0,
    };
    header.nonce = await grind(formatHeader(header), decodeCompact(header.bits).target, 1 << 20, signal);
    const bytes = formatHeader(header);
    const { last, error } = chain.acceptHeaders([bytes]);
    if (error) throw new Error(error.reason);
    made.push(bytes);
    parent = last;
  }
  return made;
}

/** Getdata and inv items as `type:hash`. */
export function itemsOf({ items }: Payload<'getdata'>): string[] {
  return items.map(({ type, hash }) => `${type}:${hash.toString('hex')}`);
}

export const NO_STOP: Buffer = Buffer.from(NULL_HASH);

/** Two nodes that talk to each other. */
export class Link {
  /** `b` as `a` sees it, and the other way round. */
  readonly atA: FakePeer;
  readonly atB: FakePeer;
  /** Commands in the order in which they were sent, `a>` or `b>` before each. */
  readonly log: string[] = [];
  private readonly a: SyncWorld;
  private readonly b: SyncWorld;
  private readonly queue: (() => Promise<void>)[] = [];

  constructor(a: SyncWorld, b: SyncWorld, options: { atA?: FakePeerOptions; atB?: FakePeerOptions } = {}) {
    this.a = a;
    this.b = b;
    this.atA = a.connect({ startHeight: b.height, kind: 'outbound', ...options.atA }, (peer) => {
      peer.onSent = ({ command, payload }) => {
        this.log.push(`a>${command}`);
        this.queue.push(() => b.deliver(this.atB, command, payload as never));
      };
    });
    this.atB = b.connect({ startHeight: a.height, kind: 'inbound', ...options.atB }, (peer) => {
      peer.onSent = ({ command, payload }) => {
        this.log.push(`b>${command}`);
        this.queue.push(() => a.deliver(this.atA, command, payload as never));
      };
    });
  }

  /** Exchanges messages until neither node has any. */
  async run(): Promise<void> {
    for (let quiet = 0; quiet < 3;) {
      this.a.tick(this.atA);
      this.b.tick(this.atB);
      quiet = this.queue.length === 0 ? quiet + 1 : 0;
      for (let next = this.queue.shift(); next; next = this.queue.shift()) await next();
      await this.a.settle();
      await this.b.settle();
    }
  }
}
