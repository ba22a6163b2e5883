/** `listnames`, `getnamehistory` and `listupcoming` over a real claim store. */
import { describe, expect, it } from 'vitest';
import { hashToHex, toHex } from '../../../../src/util/bytes.js';
import {
  blockHashAt,
  claimOutput,
  plainOutput,
  SIDE_BLOCK_HASH,
  supportOutput,
  updateOutput,
  World,
} from './world.js';

const COIN = 100_000_000n;
const INVALID_PARAMETER = -8;

interface NamesAnswer {
  height: number;
  blockhash: string;
  names: { name: string; normalized_name: string; namehex?: string }[];
  next?: string;
}

/** Four names after block 1. One of them is not UTF-8. */
async function fourNames() {
  const world = new World();
  await world.mine();
  const odd = Buffer.from([0x61, 0xff]);
  const [tx] = await world.mine([
    [],
    [
      claimOutput('Mint', 'aa', 2n * COIN),
      claimOutput('mind', 'bb', COIN),
      claimOutput('', 'cc', COIN),
      claimOutput(odd, 'dd', COIN),
    ],
  ]);
  return { world, tx: tx!, odd };
}

describe('listnames', () => {
  it('returns for each name its controlling claim and amount', async () => {
    const { world, tx } = await fourNames();
    await world.mine([
      [],
      [supportOutput('mint', tx.claimId(0), COIN / 2n), claimOutput('MINT', 'ee', COIN)],
    ]);
    for (const profile of ['documented', 'lbrycrd', 'lbcd'] as const) {
      expect(await world.call(profile, 'listnames', 'MINT')).toEqual({
        height: 2,
        blockhash: blockHashAt(2),
        names: [
          {
            name: 'Mint',
            normalized_name: 'mint',
            claims: 2,
            claimId: hashToHex(tx.claimId(0)),
            txid: tx.id,
            n: 0,
            amount: 2,
            effectiveAmount: 2.5,
            height: 1,
            lastTakeoverHeight: 1,
          },
        ],
      });
    }
  });

  it('returns all names in byte order, page by page, with any bytes', async () => {
    const { world, odd } = await fourNames();
    const seen: string[] = [];
    let after: string | null = null;
    for (let pages = 0; pages < 4; pages++) {
      const page = (await world.call('documented', 'listnames', '', 1, after)) as NamesAnswer;
      expect(page.names).toHaveLength(1);
      const { normalized_name: text, namehex } = page.names[0]!;
      seen.push(namehex ?? toHex(Buffer.from(text)));
      expect(page.next).toBe(pages < 3 ? seen.at(-1) : undefined);
      after = page.next ?? null;
    }
    expect(seen).toEqual(['', toHex(odd), toHex(Buffer.from('mind')), toHex(Buffer.from('mint'))]);
  });

  it('finds names that begin with bytes that are not text, and their history', async () => {
    const { world, odd } = await fourNames();
    const other = Buffer.from([0x61, 0xff, 0xc3]);
    await world.mine([[], [claimOutput(other, 'ee', COIN), claimOutput('ã', 'ff', COIN)]]);
    const list = async (hex: string, count = 100, after: string | null = null) =>
      (await world.call('documented', 'listnames', hex, count, after, null, true)) as NamesAnswer;
    const hexOf = ({ names }: NamesAnswer) => names.map(({ namehex }) => namehex);
    expect(hexOf(await list('61ff'))).toEqual([toHex(odd), toHex(other)]);
    expect(hexOf(await list('61ffc3'))).toEqual([toHex(other)]);
    const first = await list('61ff', 1);
    expect(first.next).toBe('61ff');
    expect(hexOf(await list('61ff', 1, first.next))).toEqual([toHex(other)]);
    // Hex of a text is normalized like the text. The same digits as text are another name.
    const small = (await list(toHex(Buffer.from('MIN')))).names;
    expect(small.map(({ normalized_name: name }) => name)).toEqual(['mind', 'mint']);
    expect((await list('c3a3')).names.map(({ name }) => name)).toEqual(['ã']);
    expect((await world.call('documented', 'listnames', '61ff')) as NamesAnswer).toMatchObject({ names: [] });
    const life = await world.call('documented', 'getnamehistory', '61ffc3', 0, null, 100, true);
    expect(life).toMatchObject({ namehex: '61ffc3', blocks: [{ height: 2 }] });
    const complaint = (label: string) => [INVALID_PARAMETER, `${label} must be in hex`];
    const failure = (...call: [string, ...(string | number | boolean | null)[]]) =>
      world.failure('documented', ...call);
    expect(await failure('listnames', 'm', 1, null, null, true)).toEqual(complaint('prefix'));
    expect(await failure('getnamehistory', '6', 0, null, 1, true)).toEqual(complaint('name'));
  });

  it('returns the state of a past block by hash and by height, also after further blocks', async () => {
    const { world, tx } = await fourNames();
    const before = (await world.call('documented', 'listnames', 'mi')) as NamesAnswer;
    await world.mine([[tx.out(0)], [plainOutput(1n)]], [[], [claimOutput('minor', 'ee', COIN)]]);
    expect(await world.call('documented', 'listnames', 'mi', 100, null, before.blockhash)).toEqual(before);
    expect(await world.call('documented', 'listnames', 'mi', 100, null, 1)).toEqual(before);
    const { names } = (await world.call('documented', 'listnames', 'mi')) as NamesAnswer;
    expect(names.map(({ name }) => name)).toEqual(['mind', 'minor']);
    const empty = { height: 0, blockhash: blockHashAt(0), names: [] };
    expect(await world.call('documented', 'listnames', '', 100, null, 0)).toEqual(empty);
  });

  it('refuses invalid arguments', async () => {
    const { world } = await fourNames();
    const call = (...params: (string | number | null)[]) =>
      world.failure('documented', 'listnames', ...params);
    const notHex = 'after must be a name in hex, the value "next" of the previous page';
    expect(await call('', 100, 'mint')).toEqual([INVALID_PARAMETER, notHex]);
    expect(await call('', 0)).toEqual([INVALID_PARAMETER, 'count must be between 1 and 10000']);
    expect(await call('', 1, null, 2)).toEqual([INVALID_PARAMETER, 'Block height out of range']);
    expect(await call('', 1, null, -1)).toEqual([INVALID_PARAMETER, 'Block height out of range']);
    expect(await call('', 1, null, SIDE_BLOCK_HASH)).toEqual([-32603, 'Block not in main chain']);
    expect(await call('', 1, null, 'zz')).toEqual([
      INVALID_PARAMETER,
      "block must be hexadecimal string (not 'zz')",
    ]);
    expect(await world.call('documented', 'listnames', 'm'.repeat(1_000_000))).toMatchObject({ names: [] });
    expect(await world.call('documented', 'listnames', '', 1, 'ff'.repeat(500_000))).toMatchObject({
      names: [],
    });
  });
});

describe('getnamehistory', () => {
  /** Makes a claim, a support, a better claim that takes over, an update, and spends all of them. */
  async function life() {
    const world = new World();
    await world.mine();
    const [first] = await world.mine([[], [claimOutput('Name', 'aa', 2n * COIN)]]);
    await world.mineEmpty(31);
    const [support] = await world.mine([[], [supportOutput('name', first!.claimId(0), COIN)]]);
    const [second] = await world.mine([[], [claimOutput('name', 'bb', 5n * COIN)]]);
    await world.mine();
    const [update] = await world.mine([
      [first!.out(0)],
      [updateOutput('NAME', first!.claimId(0), 'cc', COIN)],
    ]);
    await world.mine([[support!.out(0), second!.out(0)], [plainOutput(1n)]]);
    return { world, first: first!, support: support!, second: second!, update: update! };
  }

  type Actors = Omit<Awaited<ReturnType<typeof life>>, 'world'>;
  const item = { n: 0, isSupport: false };

  function blocksBefore35({ first, support, second }: Actors) {
    const [a, b] = [hashToHex(first.claimId(0)), hashToHex(second.claimId(0))];
    const owner = { claimId: a, txid: first.id, n: 0, amount: 2 };
    return [
      {
        height: 1,
        blockhash: blockHashAt(1),
        events: [
          {
            event: 'claim',
            ...item,
            name: 'Name',
            claimId: a,
            txid: first.id,
            amount: 2,
            validAtHeight: 1,
            active: true,
          },
          { event: 'takeover', ...owner, effectiveAmount: 2 },
        ],
        claims: 1,
        owner: { ...owner, effectiveAmount: 2 },
        lastTakeoverHeight: 1,
        amounts: [{ claimId: a, effectiveAmount: 2 }],
      },
      {
        height: 33,
        blockhash: blockHashAt(33),
        events: [
          {
            event: 'support',
            name: 'name',
            claimId: a,
            txid: support.id,
            n: 0,
            amount: 1,
            isSupport: true,
            validAtHeight: 33,
            active: true,
          },
        ],
        claims: 1,
        owner: { ...owner, effectiveAmount: 3 },
        lastTakeoverHeight: 1,
        amounts: [{ claimId: a, effectiveAmount: 3 }],
      },
      {
        height: 34,
        blockhash: blockHashAt(34),
        events: [
          {
            event: 'claim',
            ...item,
            name: 'name',
            claimId: b,
            txid: second.id,
            amount: 5,
            validAtHeight: 35,
            active: false,
          },
        ],
        claims: 1,
        owner: { ...owner, effectiveAmount: 3 },
        lastTakeoverHeight: 1,
        amounts: [],
      },
    ];
  }

  function blocksFrom35({ first, second, update }: Actors) {
    const [a, b] = [hashToHex(first.claimId(0)), hashToHex(second.claimId(0))];
    const winner = { claimId: b, txid: second.id, n: 0, amount: 5, effectiveAmount: 5 };
    return [
      {
        height: 35,
        blockhash: blockHashAt(35),
        events: [
          {
            event: 'activation',
            ...item,
            name: 'name',
            claimId: b,
            txid: second.id,
            amount: 5,
            validAtHeight: 35,
          },
          { event: 'takeover', ...winner, formerClaimId: a },
        ],
        claims: 2,
        owner: winner,
        lastTakeoverHeight: 35,
        amounts: [{ claimId: b, effectiveAmount: 5 }],
      },
      {
        height: 36,
        blockhash: blockHashAt(36),
        events: [
          {
            event: 'update',
            ...item,
            name: 'NAME',
            claimId: a,
            txid: update.id,
            amount: 1,
            validAtHeight: 36,
            active: true,
            replaces: { txid: first.id, n: 0, amount: 2 },
          },
        ],
        claims: 2,
        owner: winner,
        lastTakeoverHeight: 35,
        amounts: [{ claimId: a, effectiveAmount: 2 }],
      },
    ];
  }

  function block37({ first, support, second, update }: Actors) {
    const [a, b] = [hashToHex(first.claimId(0)), hashToHex(second.claimId(0))];
    return [
      {
        height: 37,
        blockhash: blockHashAt(37),
        events: [
          {
            event: 'abandon',
            name: 'name',
            claimId: a,
            txid: support.id,
            n: 0,
            amount: 1,
            isSupport: true,
            validAtHeight: 33,
          },
          {
            event: 'abandon',
            ...item,
            name: 'name',
            claimId: b,
            txid: second.id,
            amount: 5,
            validAtHeight: 35,
          },
          {
            event: 'takeover',
            claimId: a,
            txid: update.id,
            n: 0,
            amount: 1,
            effectiveAmount: 1,
            formerClaimId: b,
          },
        ],
        claims: 1,
        owner: { claimId: a, txid: update.id, n: 0, amount: 1, effectiveAmount: 1 },
        lastTakeoverHeight: 37,
        amounts: expect.arrayContaining([
          { claimId: a, effectiveAmount: 1 },
          { claimId: b, effectiveAmount: 0 },
        ]),
      },
    ];
  }

  it('returns the events of each block, the controlling claim and its amount', async () => {
    const { world, ...actors } = await life();
    const blocks = [...blocksBefore35(actors), ...blocksFrom35(actors), ...block37(actors)];
    const head = { name: 'NAME', normalized_name: 'name', height: 37, blockhash: blockHashAt(37) };
    expect(await world.call('documented', 'getnamehistory', 'NAME')).toEqual({ ...head, blocks });
    // No block is read for the answer, because blocks may be pruned.
    expect(world.reads).toBe(0);
    expect(await world.call('documented', 'getnamehistory', 'NAME', 2, 36, 2)).toEqual({
      ...head,
      height: 36,
      blockhash: blockHashAt(36),
      blocks: blocks.slice(1, 3),
      next: 35,
    });
    expect(await world.call('documented', 'getnamehistory', 'NAME', 35, blockHashAt(36), 2)).toMatchObject({
      blocks: [blocks[3]],
      next: 36,
    });
    expect(await world.call('documented', 'getnamehistory', 'NAME', 38)).toEqual({ ...head, blocks: [] });
  });

  it('returns the latest events first, in the requested number, in parts of blocks', async () => {
    const { world } = await life();
    const all = (await world.call('documented', 'getnamehistory', 'NAME')) as unknown as {
      blocks: { height: number; events: unknown[]; amounts: unknown[] }[];
    };
    const wanted = all.blocks
      .toReversed()
      .flatMap(({ height, events }) => events.toReversed().map((event) => ({ height, event })));
    for (const count of [1, 2, 3, 100]) {
      const seen: unknown[] = [];
      for (let [to, skip] = [37, 0]; ;) {
        const page = (await world.call(
          'documented',
          ...['getnamehistory', 'NAME', 0, to, count, false, 'newest', skip],
        )) as unknown as typeof all & { next?: number; skip?: number };
        for (const { height, events } of page.blocks)
          seen.push(...events.map((event) => ({ height, event })));
        if (page.next === undefined) break;
        [to, skip] = [page.next, page.skip ?? 0];
      }
      expect(seen).toEqual(wanted);
    }
    const latest = await world.call('documented', 'getnamehistory', 'NAME', 0, null, 100, false, 'newest');
    expect(latest).toMatchObject({
      blocks: all.blocks.toReversed().map(({ height, amounts }) => ({ height, amounts })),
    });
    const later = await world.call('documented', 'getnamehistory', 'NAME', 36, null, 100, false, 'newest');
    expect((later as unknown as typeof all).blocks.map(({ height }) => height)).toEqual(
      all.blocks
        .map(({ height }) => height)
        .filter((height) => height >= 36)
        .toReversed(),
    );
  });

  it('keeps the latest events of the tip until a block changes the name', async () => {
    const { world } = await life();
    type Blocks = { blocks: { height: number; events: unknown[] }[] };
    const heights = async (): Promise<number[]> => {
      const oldest = (await world.call('documented', 'getnamehistory', 'name')) as unknown as Blocks;
      const call = ['getnamehistory', 'name', 0, null, 100, false, 'newest'] as const;
      const newest = (await world.call('documented', ...call)) as unknown as Blocks;
      const again = await world.call('documented', ...call);
      expect(again).toEqual(newest);
      expect(newest.blocks).toEqual(
        oldest.blocks.toReversed().map((block) => ({ ...block, events: block.events.toReversed() })),
      );
      return newest.blocks.map(({ height }) => height);
    };
    const before = await heights();
    await world.mineEmpty(1);
    expect(await heights()).toEqual(before);
    await world.mine([[], [claimOutput('other', 'cc', COIN)]]);
    expect(await heights()).toEqual(before);
    await world.mine([[], [claimOutput('name', 'dd', COIN)]]);
    expect(await heights()).toEqual([before[0]! + 3, ...before]);
  });

  it('refuses an invalid range', async () => {
    const { world } = await life();
    const call = (...params: (string | number)[]) =>
      world.failure(
        'documented',
        'getnamehistory',
        ...params.map((value) => (value === 'false' ? false : value)),
      );
    const after = 'from is above the last block, whose height is 6';
    expect(await call('name', 7, 6)).toEqual([INVALID_PARAMETER, after]);
    expect(await call('name', 0, 38)).toEqual([INVALID_PARAMETER, 'Block height out of range']);
    expect(await call('name', -1)).toEqual([INVALID_PARAMETER, 'from must be between 0 and 2147483647']);
    expect(await call('name', 0, 6, 10_001)).toEqual([
      INVALID_PARAMETER,
      'count must be between 1 and 10000',
    ]);
    expect(await call('name', 0, 6, 1, 'false', 'latest')).toEqual([
      INVALID_PARAMETER,
      'order must be one of oldest, newest',
    ]);
    expect(await call('name', 0, 6, 1, 'false', 'oldest', 3)).toEqual([
      INVALID_PARAMETER,
      'skip is only allowed with order "newest"',
    ]);
    expect(await world.call('documented', 'getnamehistory', 'unknown')).toMatchObject({ blocks: [] });
    expect(await world.call('documented', 'getnamehistory', 'm'.repeat(100_000))).toMatchObject({
      blocks: [],
    });
  });
});

describe('listupcoming', () => {
  async function waiting() {
    const world = new World();
    await world.mine();
    const [first] = await world.mine([[], [claimOutput('Name', 'aa', 2n * COIN)]]);
    await world.mineEmpty(63);
    const [second] = await world.mine([[], [claimOutput('name', 'bb', 5n * COIN)]]);
    return { world, first: first!, second: second! };
  }

  it('returns activations, expirations and takeovers', async () => {
    const { world, first, second } = await waiting();
    const [a, b] = [hashToHex(first.claimId(0)), hashToHex(second.claimId(0))];
    const place = { height: 65, blockhash: blockHashAt(65), from: 66 };
    const of = { normalized_name: 'name', n: 0 };
    const entering = {
      event: 'activation',
      height: 67,
      ...of,
      name: 'name',
      claimId: b,
      txid: second.id,
      amount: 5,
      isSupport: false,
    };
    const taking = {
      event: 'takeover',
      height: 67,
      ...of,
      claimId: b,
      txid: second.id,
      amount: 5,
      effectiveAmount: 5,
      formerClaimId: a,
    };
    const ending = [
      {
        ...entering,
        event: 'expiration',
        height: 501,
        name: 'Name',
        claimId: a,
        txid: first.id,
        amount: 2,
      },
      { ...entering, event: 'expiration', height: 565 },
      { event: 'takeover', height: 565, normalized_name: 'name', formerClaimId: b },
    ];
    const call = (...params: (string | number | null)[]) =>
      world.call('documented', 'listupcoming', ...params);
    expect(await call()).toEqual({ ...place, to: 641, events: [entering, taking, ...ending] });
    expect(await call(436)).toEqual({ ...place, to: 501, events: [entering, taking, ending[0]] });
    expect(await call(576, 'takeover')).toEqual({ ...place, to: 641, events: [taking, ending[2]] });
    expect(await call(576, 'all', 1)).toEqual({ ...place, to: 641, events: [entering, taking], next: 68 });
    expect(await call(576, 'all', 1, 68)).toEqual({
      ...place,
      from: 68,
      to: 641,
      events: [ending[0]],
      next: 502,
    });
    expect(await call(576, 'activation', 1, 3)).toEqual({ ...place, to: 641, events: [entering], next: 68 });
    // The search ends after the longest delay or term. A page covers a limited number of blocks.
    expect(await call(1_000_000, 'activation', 1, 68)).toEqual({
      ...place,
      from: 68,
      to: 4097,
      events: [],
      next: 2068,
    });
    expect(await call(10, 'all', 1, 76)).toEqual({ ...place, from: 76, to: 75, events: [] });
  });

  it('returns the same as of a block after further blocks, and refuses old blocks', async () => {
    const { world, first } = await waiting();
    const call = (...params: (string | number | null)[]) =>
      world.call('documented', 'listupcoming', ...params) as Promise<{ events: { height: number }[] }>;
    const whole = await call();
    // The first claim is spent before it becomes active, so the answer as of the tip differs now.
    await world.mine([[first.out(0)], [plainOutput(1n)]]);
    await world.mineEmpty(10);
    expect((await call()).events).not.toEqual(whole.events);
    expect(await call(576, null, null, null, 65)).toEqual(whole);
    expect(await call(576, null, null, null, blockHashAt(65))).toEqual(whole);
    const page = await call(576, 'all', 1, 68, 65);
    expect(page.events).toEqual(whole.events.filter(({ height }) => height === 501));
    await world.mineEmpty(140);
    expect(await world.failure('documented', 'listupcoming', 10, null, null, null, 65)).toEqual([
      INVALID_PARAMETER,
      'Upcoming events are available only for block 72 and later blocks',
    ]);
    expect(await world.failure('documented', 'listupcoming', 10, null, null, null, 217)).toEqual([
      INVALID_PARAMETER,
      'Block height out of range',
    ]);
  });

  it('refuses an unknown kind', async () => {
    const { world } = await waiting();
    expect(await world.failure('documented', 'listupcoming', 10, 'claims')).toEqual([
      INVALID_PARAMETER,
      'kind must be one of all, activation, expiration, takeover',
    ]);
    expect(await world.failure('documented', 'listupcoming', 0)).toEqual([
      INVALID_PARAMETER,
      'blocks must be between 1 and 2147483647',
    ]);
  });
});
