/**
 * A DHT of ten nodes of ours and ten of the Python lbry-sdk over loopback: all announce and find each other. LBRYNET names the
 * program `lbrynet`; without it nothing runs.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AdjustableClock,
  portsFound,
  startLoopbackNode,
  type LoopbackNode,
} from '../support/loopbackNodes.js';
import { PythonNodes } from '../support/pythonNodes.js';

const LBRYNET = process.env['LBRYNET'];
if (!LBRYNET) console.log('skipped: LBRYNET names no daemon');

const COUNT = 10;
const DAY_SEC = 86_400;
const hashOf = (name: string): Buffer => createHash('sha384').update(name).digest();

describe.skipIf(!LBRYNET)('a DHT of ours and of lbry-sdk', () => {
  let theirs: PythonNodes;
  let theirPorts: number[];
  const ours: LoopbackNode[] = [];
  const clock = new AdjustableClock();

  beforeAll(async () => {
    theirs = new PythonNodes(LBRYNET!);
    // Our first node is the first contact of lbry-sdk's nodes, and one of them is the first contact of our other nodes.
    ours.push(await startLoopbackNode([], clock));
    theirPorts = await theirs.start(COUNT, [ours[0]!.port]);
    for (let count = 1; count < COUNT; count++)
      ours.push(await startLoopbackNode([theirPorts[count]!], clock));
    await Promise.all(ours.map(({ node }) => node.joined()));
    for (let round = 0; round < 2; round++) {
      await Promise.all(ours.map(({ node }) => node.refresh()));
      await theirs.refresh();
    }
  });

  afterAll(async () => {
    for (const { node } of ours) await node.stop();
    await theirs?.stop();
  });

  it('stores announcements of both, and each finds them', async () => {
    const missed: string[] = [];
    for (let index = 0; index < COUNT; index++) {
      const [byOurs, byTheirs] = [hashOf(`ours ${index}`), hashOf(`theirs ${index}`)];
      const { found, accepted } = await ours[index]!.node.announce(byOurs);
      expect([found, accepted]).toEqual([8, 8]);
      expect(await theirs.announce(index, byTheirs)).toBeGreaterThan(4);
    }
    for (let index = 0; index < COUNT; index++)
      for (const other of [(index + 1) % COUNT, (index + 5) % COUNT]) {
        const [byOurs, byTheirs] = [hashOf(`ours ${other}`), hashOf(`theirs ${other}`)];
        const expected = [[ours[other]!.port], [theirPorts[other]!]];
        const oursFound = [await portsFound(ours[index]!, byOurs), await portsFound(ours[index]!, byTheirs)];
        const theirsFound = [await theirs.find(index, byOurs), await theirs.find(index, byTheirs)];
        if (JSON.stringify(oursFound) !== JSON.stringify(expected)) missed.push(`ours ${index}: ${other}`);
        if (JSON.stringify(theirsFound) !== JSON.stringify(expected))
          missed.push(`theirs ${index}: ${other}`);
      }
    expect(missed).toEqual([]);
  });

  it('returns all peers of a popular hash to both', async () => {
    const hash = hashOf('popular');
    for (let index = 0; index < COUNT; index++) {
      await ours[index]!.node.announce(hash);
      await theirs.announce(index, hash);
    }
    const all = [...ours.map(({ port }) => port), ...theirPorts].sort((a, b) => a - b);
    // A node does not return the requesting node as a peer.
    const others = (own: number): number[] => all.filter((port) => port !== own);
    expect(others(theirPorts[3]!)).toEqual(
      (await theirs.find(3, hash)).filter((port) => port !== theirPorts[3]),
    );
    expect(await portsFound(ours[4]!, hash)).toEqual(others(ours[4]!.port));
  });

  it('accepts announcements with new tokens after those of earlier ones have expired', async () => {
    // lbry-sdk accepts any token in the first five minutes of a node.
    await theirs.jump(360);
    const announceAll = async (name: string): Promise<void> => {
      for (const index of [0, 3, 7]) {
        const { found, accepted } = await ours[index]!.node.announce(hashOf(`ours ${name} ${index}`));
        expect([found, accepted]).toEqual([8, 8]);
        expect(await theirs.announce(index, hashOf(`theirs ${name} ${index}`))).toBeGreaterThan(4);
      }
    };
    await announceAll('before');
    // A token stays valid over one change of the secret, and not over two. Each node still has the tokens of the others.
    for (let change = 1; change <= 2; change++) {
      await theirs.changeTokens();
      for (const { node } of ours) node.tokens.rotate();
      await announceAll(`after ${change}`);
    }
    for (let change = 1; change <= 2; change++) {
      await theirs.changeTokens();
      for (const { node } of ours) node.tokens.rotate();
    }
    await announceAll('at last');
    for (const index of [0, 3, 7]) {
      const [byOurs, byTheirs] = [hashOf(`ours at last ${index}`), hashOf(`theirs at last ${index}`)];
      expect(await theirs.find(5, byOurs)).toEqual([ours[index]!.port]);
      expect(await portsFound(ours[5]!, byTheirs)).toEqual([theirPorts[index]]);
    }
  });

  it('forgets announcements after a day, and takes them again', async () => {
    const [byOurs, byTheirs] = [hashOf('a day of ours'), hashOf('a day of theirs')];
    const announce = async (): Promise<void> => {
      await ours[2]!.node.announce(byOurs);
      await theirs.announce(2, byTheirs);
    };
    const found = async (): Promise<number[][]> => [
      await portsFound(ours[6]!, byOurs),
      await portsFound(ours[6]!, byTheirs),
      await theirs.find(6, byOurs),
      await theirs.find(6, byTheirs),
    ];
    const both = [[ours[2]!.port], [theirPorts[2]!]];
    await announce();
    expect(await found()).toEqual([...both, ...both]);
    clock.jump(DAY_SEC - 3600);
    await theirs.jump(DAY_SEC - 3600);
    expect(await found()).toEqual([...both, ...both]);
    clock.jump(2 * 3600);
    await theirs.jump(2 * 3600);
    expect(await found()).toEqual([[], [], [], []]);
    await announce();
    expect(await found()).toEqual([...both, ...both]);
  });
});
