/** Headers and blocks of chains with too little work are not stored. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { buildCompactBlock } from '../../../../src/net/compact/compactBlock.js';
import { INV } from '../../../../src/net/inventory.js';
import { headerHash } from '../../../../src/primitives/header.js';
import type { FakePeer } from '../../../support/fakePeer.js';
import { HEADER_WORK, makeHeaders, sealHeader } from '../../../support/headerChains.js';
import { headersOf, itemsOf, Link, makeBlock, SyncWorld } from './support.js';

const MESSAGE = 2000;
const MINUTE_MS = 60_000;

/** The headers with which a node with this chain answers the getheaders that was sent to the peer; null if there was none. */
function answerTo(peer: FakePeer, chain: readonly Buffer[]): Buffer[] | null {
  const [ask] = peer.take('getheaders');
  if (!ask) return null;
  const places = new Map(chain.map((header, i) => [headerHash(header).toString('hex'), i]));
  const known = ask.locator.map((hash) => places.get(hash.toString('hex'))).find((at) => at !== undefined);
  return chain.slice((known ?? -1) + 1, (known ?? -1) + 1 + MESSAGE);
}

describe('a branch with too little work', () => {
  let world: SyncWorld;
  let honest: Buffer[];
  let other: Buffer[];
  beforeAll(async () => {
    honest = await makeHeaders(8500);
    other = await makeHeaders(4000, { mark: 1 });
  });
  afterEach(() => world.close());

  /** Opens a node whose minimum chain work is that of this number of headers. */
  async function open(wanted: number): Promise<void> {
    world = await SyncWorld.open({ minimumChainWork: HEADER_WORK * BigInt(wanted + 1) });
    // The headers' time is long past.
    world.world.timeSec += 1;
  }

  /**
   * Answers all getheaders with headers of the chain that `chainFor` returns for the number of the request. Returns the number of
   * requests.
   */
  async function serve(peer: FakePeer, chainFor: (question: number) => readonly Buffer[]): Promise<number> {
    world.tick(peer);
    for (let question = 0; ; question++) {
      const headers = peer.isGone ? null : answerTo(peer, chainFor(question));
      if (headers === null) return question;
      await world.deliver(peer, 'headers', { headers });
    }
  }

  const count = (): number => world.chain.index.headers.count;
  const presyncing = (peer: FakePeer): boolean => world.sync.peers.get(peer)!.isPresyncing;

  it('is not stored, however long it is', async () => {
    await open(1_000_000);
    const peer = world.connectQuiet();
    const headers = honest.slice(0, 4000);
    const questions = await serve(peer, () => headers);
    expect(questions).toBe(3);
    expect(count()).toBe(1);
    // An empty message ends the presync.
    expect(presyncing(peer)).toBe(false);
    expect(peer.punishments).toEqual([]);
    // Headers from another peer, without a request, in one message that is not full.
    const inbound = world.connectQuiet({ kind: 'inbound' });
    await world.deliver(inbound, 'headers', { headers: honest.slice(0, 1999) });
    expect(inbound.sent).toEqual([]);
    expect([count(), presyncing(inbound)]).toEqual([1, false]);
  });

  it('disconnects an outbound peer that has no other, during the initial download', async () => {
    await open(1_000_000);
    const peer = world.connectQuiet();
    await serve(peer, () => honest.slice(0, 2500));
    expect(peer.goneReason).toBe('headers chain has insufficient work');
    expect(count()).toBe(1);
    const manual = world.connectQuiet({ kind: 'manual' });
    await serve(manual, () => honest.slice(0, 2500));
    expect(manual.isGone).toBe(false);
  });

  it('is stored after it has proven its work and was requested again', async () => {
    await open(8400);
    const peer = world.connectQuiet();
    world.tick(peer);
    const counts: number[] = [];
    const heights: (number | null)[] = [];
    world.chain.events.on('progress', (progress) => void heights.push(progress?.height ?? null));
    for (let headers = answerTo(peer, honest); headers; headers = answerTo(peer, honest)) {
      await world.deliver(peer, 'headers', { headers });
      counts.push(count());
    }
    expect(counts).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1 + 8000 - 6144, 8501]);
    // The first pass does not change the table. It is reported as progress.
    expect(heights).toEqual([2000, 4000, 6000, 8000, null]);
    expect(world.host.describe(peer)).toMatchObject({ syncedHeaders: 8500 });
    expect(presyncing(peer)).toBe(false);
    expect(peer.punishments).toEqual([]);
  });

  it('continues in one phase above the required work', async () => {
    await open(3000);
    const peer = world.connectQuiet();
    // Two full messages in each of two passes, and one more request.
    expect(await serve(peer, () => honest.slice(0, 4500))).toBe(2 + 2 + 1);
    expect(count()).toBe(4501);
  });

  it('that differs in the second phase is checked again', async () => {
    await open(3500);
    const peer = world.connectQuiet();
    // Two messages of one chain, then two passes of the other one. One message of a second pass is not used.
    expect(await serve(peer, (question) => (question < 2 ? honest.slice(0, 4000) : other))).toBe(
      2 + 1 + 4 + 1,
    );
    expect([peer.goneReason, count()]).toEqual([null, 4001]);
    expect(presyncing(peer)).toBe(false);
    expect(peer.punishments).toEqual([]);
  });

  it('that differs each time ends with the connection', async () => {
    await open(3500);
    const peer = world.connectQuiet();
    // Two requests for the first pass, and one whose answer is of the other chain.
    const questions = await serve(peer, (question) => (question % 3 < 2 ? honest : other));
    expect([questions, peer.goneReason]).toEqual([6, 'its headers are a different chain than before']);
    expect(count()).toBe(1);
    // A new connection starts again.
    const next = world.connectQuiet();
    await serve(next, () => honest.slice(0, 4000));
    expect([next.goneReason, count()]).toEqual([null, 4001]);
  });

  it('cannot be added before a header that claims much work', async () => {
    await open(9000);
    const peer = world.connectQuiet();
    const boast = Buffer.from(honest[999]!);
    boast.writeUInt32LE(0x1b00ffff, 104);
    await world.deliver(peer, 'headers', { headers: [...honest.slice(0, 999), boast] });
    expect(peer.punishments).toEqual(['50 invalid header received']);
    expect(count()).toBe(1);
  });

  it('that violates a rule costs the score of the verdict', async () => {
    await open(9000);
    const peer = world.connectQuiet();
    const [wrong] = await makeHeaders(1, { after: honest[4998]! });
    // The proof of work is valid for these bits, but they are not the required ones.
    wrong!.writeUInt32LE(0x207ffffe, 104);
    await sealHeader(wrong!);
    await serve(peer, () => [...honest.slice(0, 4999), wrong!]);
    expect(peer.punishments).toEqual(['100 invalid header received']);
    expect([count(), peer.isGone]).toEqual([1, true]);
  });

  it('is accepted from whitelisted peers, like from the operator', async () => {
    await open(9000);
    const peer = world.connectQuiet({ isWhitelisted: true });
    await world.deliver(peer, 'headers', { headers: honest.slice(0, 100) });
    expect(count()).toBe(101);
    expect(world.chain.acceptHeaders(other.slice(0, 10)).error).toBe(null);
  });

  it('causes no other requests to the peer meanwhile, and is not continued by announcements', async () => {
    await open(9000);
    const peer = world.connectQuiet();
    world.tick(peer);
    await world.deliver(peer, 'headers', { headers: answerTo(peer, honest)! });
    const [ask] = peer.take('getheaders');
    expect(ask!.locator).toEqual([headerHash(honest[1999]!), Buffer.from(world.chain.index.headers.hash(0))]);
    await world.deliver(peer, 'inv', { items: [{ type: INV.block, hash: Buffer.alloc(32, 9) }] });
    await world.deliver(peer, 'headers', { headers: honest.slice(8000, 8002) });
    // The answer to an earlier request.
    await world.deliver(peer, 'headers', { headers: honest.slice(0, MESSAGE) });
    expect(peer.sent).toEqual([]);
    expect(presyncing(peer)).toBe(true);
    // The sync continues where it was.
    await world.deliver(peer, 'headers', { headers: honest.slice(MESSAGE, 2 * MESSAGE) });
    expect(peer.take('getheaders')[0]!.locator[0]).toEqual(headerHash(honest[3999]!));
    expect([peer.punishments, count()]).toEqual([[], 1]);
  });

  it('is requested from the beginning if no answer arrives for two minutes, without time in which nothing was read', async () => {
    await open(3000);
    const peer = world.connectQuiet();
    world.tick(peer);
    await world.deliver(peer, 'headers', { headers: answerTo(peer, honest)! });
    peer.sent.length = 0;
    world.nowMs += 3 * MINUTE_MS;
    for (const part of world.sync.parts) part.onHeldUp?.(2 * MINUTE_MS);
    world.tick(peer);
    expect(peer.sent).toEqual([]);
    world.nowMs += MINUTE_MS;
    world.tick(peer);
    expect(presyncing(peer)).toBe(false);
    expect(await serve(peer, () => honest.slice(0, 3500))).toBeGreaterThan(0);
    expect(count()).toBe(3501);
  });

  describe('that forks off below the tip', () => {
    it('is one with a fork more than 144 blocks below', async () => {
      world = await SyncWorld.open();
      await world.mine(200);
      const peer = world.connectQuiet();
      const before = count();
      await world.deliver(peer, 'headers', { headers: honest.slice(0, 55) });
      expect(count()).toBe(before);
      await world.deliver(peer, 'headers', { headers: honest.slice(0, 56) });
      expect(count()).toBe(before + 56);
      // Known headers are processed as usual.
      await world.deliver(peer, 'headers', { headers: honest.slice(0, 20) });
      expect(world.host.describe(peer)).toMatchObject({ syncedHeaders: 56 });
      expect(peer.punishments).toEqual([]);
    });

    it('has its blocks dropped too, whole or in compact form, unless they were requested', async () => {
      const old = await SyncWorld.open();
      const weak = await makeBlock(old.world);
      await old.close();
      world = await SyncWorld.open();
      await world.mine(200);
      const before = count();
      const peer = world.connectQuiet();
      await world.handle(peer, 'block', { raw: weak.raw });
      await world.handle(peer, 'cmpctblock', buildCompactBlock(weak, 1n, true));
      expect([count(), peer.punishments, peer.sent]).toEqual([before, [], []]);
      const { isNew } = await world.chain.processBlock(loadBlock(weak.raw), true);
      expect([isNew, count()]).toEqual([true, before + 1]);
    });

    it('still becomes the chain if it exceeds ours', async () => {
      world = await SyncWorld.open();
      await world.mine(300);
      const rival = await SyncWorld.open();
      rival.world.timeSec += 50;
      await rival.mine(310);
      const link = new Link(world, rival);
      await link.run();
      expect(world.tip).toBe(rival.tip);
      expect((await headersOf(world.world, 310, 310))[0]).toEqual(
        (await headersOf(rival.world, 310, 310))[0],
      );
      await rival.close();
    });
  });

  it('has no blocks to download', async () => {
    await open(9000);
    const peer = world.connectQuiet();
    await world.deliver(peer, 'headers', { headers: honest.slice(0, 30) });
    world.tick(peer);
    expect(peer.take('getdata').flatMap(itemsOf)).toEqual([]);
  });
});
