/** Pages of claims and names from answers of the test: kinds of claims, names that are not text or are too long, the mempool. */
import { Fragment, h, type VNode } from 'preact';
import { render } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { encodePurchase } from '../../../src/metadata/purchase.js';
import { AskError } from '../../../src/explorer/explorerRpcClient.js';
import { PageError, type PageContext } from '../../../src/explorer/pageContext.js';
import { TakenBack } from '../../../src/explorer/pages/parts.js';
import { parseJson } from '../../../src/util/json/jsonParse.js';
import { PAGES } from '../../../src/explorer/pages/pageTable.js';
import { answers, contextOf, HASH, ID } from '../../support/hostileAnswers.js';

const OTHER = 'ef'.repeat(20);
const OTHER_HASH = 'ef'.repeat(32);
const known = answers('harmless');
const claim = known['getclaim'] as object;

interface Shown {
  readonly html: string;
  readonly asked: readonly (readonly [method: string, ...params: unknown[]])[];
}

/** Renders a page. `instead` has results by method that replace the answers of the node, and `more` parts of its context. */
async function shown(
  page: string,
  parts: readonly string[],
  instead: Readonly<Record<string, unknown>>,
  query: Record<string, string> = {},
  more: Partial<PageContext> = {},
): Promise<Shown> {
  const context = contextOf('harmless', parts, query);
  const asked: [string, ...unknown[]][] = [];
  const ask = (async (method: string, ...params: unknown[]) => {
    asked.push([method, ...params]);
    const answer = instead[method] ?? known[method];
    if (answer instanceof AskError) throw answer;
    return answer;
  }) as typeof context.ask;
  const result = await PAGES.get(page)!({ ...context, ask, taken: [], ...more });
  if ('redirect' in result) return { html: result.redirect, asked };
  return { html: render(h(Fragment, null, result.body)), asked };
}

const optionsOf = ({ asked }: Shown, method: string): unknown => asked.find(([one]) => one === method)?.[1];

describe('the search', () => {
  it('links to a claim id that the node cannot look up, and says why it cannot look up a URL', async () => {
    const off = new AskError(-1, 'The claim index is not enabled.');
    const instead = {
      getclaim: off,
      getclaimstatus: off,
      resolve: off,
      validateaddress: { isvalid: false },
      getclaimbyid: { claimId: ID },
      listclaims: { ...(known['listclaims'] as object), claims: 0 },
    };
    expect((await shown('find', [], instead, { q: ID })).html).toContain(`href="/claim/${ID}"`);
    const url = await shown('find', [], instead, { q: 'lbry://name' });
    expect(url.html).toContain('The claim index is not enabled.');
  });
});

describe('coming events', () => {
  it('have pages of a hundred, also if a block has more', async () => {
    const counts = [
      [20, 3],
      [21, 240],
      [22, 60],
      [23, 70],
    ] as const;
    const all = counts.flatMap(([height, count]) =>
      Array.from({ length: count }, (_, n) => ({ event: 'expiration', name: `n${height}-${n}`, height })),
    );
    const ask = (async (_: string, blocks: number, kind: string, count: number, from: number | null) => {
      const left = all.filter(({ height }) => height >= (from ?? 0));
      const last = left[count - 1]?.height ?? Infinity;
      const events = left.filter(({ height }) => height <= last);
      const next = events.length < left.length ? last + 1 : undefined;
      return { height: 10, blockhash: HASH, from: 11, to: 10 + blocks, events, next };
    }) as never;
    const seen: string[] = [];
    let href: string | undefined = '/upcoming';
    for (let pages = 0; href !== undefined; pages++) {
      expect(pages).toBeLessThan(7);
      const context = contextOf('harmless', [], Object.fromEntries(new URLSearchParams(href.split('?')[1])));
      const result = await PAGES.get('upcoming')!({ ...context, ask, tip: { ...context.tip, height: 10 } });
      const html = 'redirect' in result ? '' : render(h(Fragment, null, result.body));
      const names = [...html.matchAll(/<bdi>(n\d+-\d+)<\/bdi>/g)].map(([, name]) => name!);
      expect(names.length).toBeLessThanOrEqual(100);
      seen.push(...names);
      href = /rel="next" href="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen).toEqual(all.map(({ name }) => name));
  });
});

describe('the search for a name', () => {
  /** Shows the result of a search on a chain that has claims for these names, given as text or as hex digits. */
  async function search(q: string, claimed: readonly string[]): Promise<string> {
    const nowhere = { validateaddress: { isvalid: false }, resolve: {}, listnames: { names: [] } };
    const context = contextOf('harmless', [], { q });
    const ask = (async (method: string, name: string, ...rest: readonly unknown[]) => {
      if (method !== 'listclaims') return { ...known, ...nowhere }[method];
      const key = rest.at(-1) === true ? `hex ${name}` : name;
      return { ...(known['listclaims'] as object), claims: claimed.includes(key) ? 1 : 0 };
    }) as typeof context.ask;
    const result = await PAGES.get('find')!({ ...context, ask });
    return 'redirect' in result ? result.redirect : render(h(Fragment, null, result.body));
  }

  it.each([
    [' pear', [' pear'], '/name/%20pear'],
    [' pear', ['pear'], '/name/pear'],
    ['  ', ['  '], '/name/%20%20'],
    ['  ', [], '/'],
    ['FF00', ['hex ff00'], '/name-hex/ff00'],
    ['6d696e64', ['hex 6d696e64'], undefined],
    ['99', ['hex 99'], '/name-hex/99'],
    ['7', [], '/block/7'],
    ['11', [], '/block/11'],
    ['lbry://free', [], '/name/free'],
    ['LBRY://free', [], '/name/free'],
    ['lbry://@free', [], '/name/%40free'],
    ['lbry://free#ab', [], undefined],
    ['lbry://@free/one', [], undefined],
    ['ff00', [], undefined],
  ])('for “%s” finds the names %j', async (q, claimed, expected) => {
    const found = await search(q, claimed);
    if (expected === undefined) expect(found).toContain('Search for');
    else expect(found).toBe(expected);
  });

  it('offers the page of a name that is given by its bytes, or by a URL that cannot be looked up', async () => {
    expect(await search('FF00', [])).toContain('href="/name-hex/ff00"');
    expect(await search('6d696e64', [])).not.toContain('/name-hex/');
    const off = { resolve: new AskError(-1, 'The claim index is not enabled.') };
    const instead = { ...off, listclaims: { ...(known['listclaims'] as object), claims: 0 } };
    const url = await shown('find', [], instead, { q: 'lbry://free' });
    expect(url.html).toContain('href="/name/free"');
  });

  it('shows each of several names', async () => {
    const blanks = await search('pear ', ['pear ', 'pear']);
    expect(blanks).toContain('href="/name/pear"');
    expect(blanks).toContain('href="/name/pear%20"');
    const both = await search('ff', ['ff', 'hex ff']);
    expect(both).toContain('href="/name/ff"');
    expect(both).toContain('href="/name-hex/ff"');
  });
});

describe('the page of a claim', () => {
  it('lists the claims of a collection in its order, also those that the node does not know', async () => {
    const value = { title: 'List', claims: [OTHER, ID, OTHER, 'no id'] };
    const page = await shown('claim', [ID], {
      getclaim: { ...claim, value_type: 'collection', value },
      searchclaims: { claims: [{ ...claim, claim_id: ID, value: { title: 'Second' } }], total: 1 },
    });
    expect(optionsOf(page, 'searchclaims')).toMatchObject({ claim_ids: [OTHER, ID] });
    expect(page.html).toContain('Claims of the collection (3)');
    const [, list = ''] = page.html.split('Claims of the collection (3)');
    const links = [...list.matchAll(/href="\/claim\/([0-9a-f]{40})"/g)].map(([, id]) => id);
    expect(links.slice(0, 3)).toEqual([OTHER, ID, OTHER]);
    expect(list).toContain('Second');
  });

  it('says of the claims of a collection which have ended or are not known', async () => {
    const [ended, never] = ['01', '02'].map((byte) => byte.repeat(20)) as [string, string];
    const context = contextOf('harmless', [ID], {});
    const value = { title: 'List', claims: [ended, never, ended] };
    const asked: string[] = [];
    const ask = (async (method: string, id: string) => {
      if (method === 'getclaim') return { ...claim, value_type: 'collection', value };
      if (method === 'searchclaims') return { claims: [] };
      if (method !== 'getclaimstatus' || id === ID) return known[method];
      asked.push(id);
      if (id === never) throw new AskError(-5, 'Could not find claim');
      return { claimId: id, state: 'spent', name: 'old', title: 'Old one', kind: 'stream', endedHeight: 9 };
    }) as typeof context.ask;
    const result = await PAGES.get('claim')!({ ...context, ask, taken: [] });
    const html = render(h(Fragment, null, (result as { body: VNode }).body));
    const [, list = ''] = html.split('Claims of the collection (3)');
    expect(asked).toEqual([ended, never]);
    expect(list.match(/Old one<\/bdi><\/a> <span class="tag warning">ended/g)).toHaveLength(2);
    expect(list).toContain('not known');
    expect(list).not.toContain(`href="/claim/${never}"`);
  });

  it('lists only claims with a valid signature as those of a channel', async () => {
    const valid = { channel_ids: [ID], has_channel_signature: true, signature_valid: true };
    const channel = await shown('claim', [ID], { getclaim: { ...claim, value_type: 'channel' } });
    expect(optionsOf(channel, 'searchclaims')).toMatchObject(valid);
    const list = await shown('claims', [], {}, { channel: ID });
    expect(optionsOf(list, 'searchclaims')).toMatchObject(valid);
  });

  it('shows dates, prices and URLs of a value as they are', async () => {
    const textOf = async (value: object): Promise<string> => {
      const page = await shown('claim', [ID], { getclaim: { ...claim, value } });
      return page.html.replaceAll(/<[^>]*>/g, '');
    };
    for (const [seconds, text] of [
      ['-5', '1969-12-31 23:59:55 UTC'],
      ['0', '1970-01-01 00:00:00 UTC'],
      ['9223372036854775807', '9223372036854775807 seconds after 1970'],
    ] as const)
      expect(await textOf({ release_time: seconds })).toContain(`Released${text}`);
    for (const [amount, shown] of [
      ['1E-8', '0.00000001'],
      ['1.20E-7', '0.00000012'],
      ['0E-8', '0'],
      ['1.00000E+6', '1000000'],
      ['18446744073709.551615E+5', '1844674407370955161.5'],
      ['2.50', '2.50'],
    ] as const)
      expect(await textOf({ fee: { currency: 'BTC', amount } })).toContain(`Price${shown} BTC`);
    expect(await textOf({ fee: { currency: 'USD', amount: '1.99' } })).toContain('Price1.99 USD');
    const licensed = await textOf({ license: 'CC', license_url: 'https://cc.example/by' });
    expect(licensed).toContain('Text of the licencehttps://cc.example/by');
    expect(licensed).not.toContain('Website');
  });

  it('says why the fields of a value are missing', async () => {
    const why = 'The fields of its value cannot be shown';
    expect((await shown('claim', [ID], { getclaim: { ...claim, value: undefined } })).html).toContain(why);
    expect((await shown('claim', [ID], {})).html).not.toContain(why);
  });

  it.each([
    ['has ended', { claimId: OTHER, state: 'spent' }, 'The reposted claim has ended.', true],
    ['never existed', new AskError(-5, 'no'), 'This node knows no claim with the reposted id.', false],
  ])('of a repost says that the reposted claim %s', async (_, status, text, isLinked) => {
    const context = contextOf('harmless', [ID], {});
    const repost = {
      ...claim,
      value_type: 'repost',
      reposted_claim_id: OTHER,
      reposted_claim: undefined,
      is_reposted_claim_gone: true,
    };
    const ask = (async (method: string, id: string) => {
      if (method === 'getclaim') return repost;
      if (method !== 'getclaimstatus' || id !== OTHER) return known[method];
      if (status instanceof AskError) throw status;
      return status;
    }) as typeof context.ask;
    const result = await PAGES.get('claim')!({ ...context, ask, taken: [] });
    const html = render(h(Fragment, null, (result as { body: VNode }).body));
    expect(html).toContain(text);
    expect(html.includes(`href="/claim/${OTHER}"`)).toBe(isLinked);
  });

  it('says that a support names a channel, because the signature is not verified', async () => {
    const support = { txid: HASH, n: 0, amount: 1, active: true, validAtHeight: 1, channelId: OTHER };
    const page = await shown('claim', [ID], {
      listsupports: { ...(known['listsupports'] as object), supports: [support] },
    });
    expect(page.html.replaceAll(/<[^>]*>/g, '')).toContain(`names the channel ${OTHER.slice(0, 8)}`);
  });

  it('says that a value is not metadata', async () => {
    const page = await shown('claim', [ID], {
      getclaim: { ...claim, value_type: undefined, value: undefined },
    });
    expect(page.html).toContain('Its value is not metadata of LBRY.');
    expect((await shown('claim', [ID], {})).html).not.toContain('Its value is not metadata');
  });

  it('shows the bid of a claim on the chain while an update of it waits in the mempool', async () => {
    const waits = { ...claim, is_waiting: true, is_controlling: false, activation_height: 0, amount: 5 };
    const onChain = { ...(known['getclaimstatus'] as object), isControlling: true, effectiveAmount: 7 };
    const bids = [{ bid: 2, claimId: ID, name: 'harmless' }];
    const instead = {
      getclaim: waits,
      getclaimstatus: onChain,
      listclaims: { ...(known['listclaims'] as object), claims: 4, bids },
    };
    const text = (await shown('claim', [ID], instead)).html.replaceAll(/<[^>]*>/g, '');
    expect(text).toContain('holds the name an update waits at');
    expect(text).toContain('Place3rd of 4 bids');
    expect(text).toContain('Effective amount7.00');
    expect(text).toContain('Own amount1.00');
    expect(text).not.toContain('not before its block');
  });

  it('shows no support of a claim that exists only in the mempool', async () => {
    const page = await shown('claim', [ID], {
      getclaim: { ...claim, is_waiting: true, creation_height: 0 },
    });
    expect(page.asked.map(([method]) => method)).not.toContain('listsupports');
    expect(page.html).toContain('Nothing supports this claim.');
  });

  it('links to a name that is not UTF-8 by its bytes, and shows no URL with it', async () => {
    const odd = { ...claim, name: '\\u00ff', namehex: 'ff', short_url: 'lbry://odd#1' };
    const page = await shown('claim', [ID], { getclaim: odd });
    expect(page.html).toContain('/name-hex/ff');
    expect(page.html).not.toContain('lbry://odd#1');
    expect(page.asked.find(([method]) => method === 'listclaims')?.slice(1, 2)).toEqual(['ff']);
    for (const [name, query] of [
      ['', {}],
      ['claims', {}],
      ['find', { q: 'no name' }],
    ] as const) {
      const list = await shown(
        name,
        [],
        {
          searchclaims: { claims: [odd], total: 1 },
          listnewclaims: { claims: [{ name: odd.name, namehex: 'ff', claimId: ID, amount: 1, time: 1 }] },
          listclaims: { ...(known['listclaims'] as object), claims: 0 },
        },
        query,
      );
      expect([name, list.html]).toEqual([name, expect.stringContaining('/name-hex/ff')]);
      expect(list.html).not.toContain('/name/%5Cu00ff');
    }
  });
});

describe('the page of an ended claim', () => {
  const [MADE, UPDATED, ENDED] = ['01', '02', '03'].map((byte) => byte.repeat(32)) as [
    string,
    string,
    string,
  ];
  const infos: Readonly<Record<string, object>> = {
    [MADE]: {
      height: 5,
      inputs: [],
      outputs: [{ n: 0, amount: 1, address: 'first', claim: { op: 'claim', claimId: ID, title: 'Old' } }],
    },
    [UPDATED]: {
      height: 7,
      inputs: [{ n: 0, txid: MADE, vout: 0, claim: { op: 'claim', claimId: ID } }],
      outputs: [{ n: 0, amount: 2, address: 'second', claim: { op: 'update', claimId: ID, title: 'New' } }],
    },
  };
  const status = { ...(known['getclaimstatus'] as object), claimId: ID, txid: UPDATED, n: 0, value: '7b7d' };
  const gone = (): Promise<never> => {
    const refused = Promise.reject(new AskError(-5, 'Could not find claim'));
    refused.catch(() => undefined);
    return refused;
  };
  const textOf = (html: string): string => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

  const pageOf = async (of: object, gettxinfo: (txid: string) => unknown): Promise<string> => {
    const context = contextOf('harmless', [ID], {});
    const ask = (async (method: string, txid: string) => {
      if (method === 'getclaim') return gone();
      if (method === 'gettxinfo') return gettxinfo(txid);
      return method === 'getclaimstatus' ? { ...status, ...of } : known[method];
    }) as typeof context.ask;
    const result = await PAGES.get('claim')!({ ...context, ask, taken: [] });
    return textOf(render(h(Fragment, null, (result as { body: VNode }).body)));
  };

  it('lists its end and all its outputs, with what each update changed', async () => {
    const text = await pageOf({ state: 'spent', endedHeight: 9, spentBy: ENDED }, (txid) => infos[txid]);
    const [, history = ''] = text.split('Output Address');
    expect(history).toMatch(
      /^ 9 abandoned – spent by 03030303…030303 – 7 updated moved new title 2\S* \S+ 02020202…:0 second 5 made 1\S* \S+ 01010101…:0 first/,
    );
    expect(text).toContain('7b7d');
  });

  it('shows how it ended if its transactions are not indexed', async () => {
    const refusal = new AskError(-5, 'Use -txindex. Use gettransaction for wallet transactions.');
    const refused = (): Promise<never> => Promise.reject(refusal);
    const text = await pageOf({ state: 'expired', endedHeight: 9, spentBy: undefined }, refused);
    expect(text).toContain('Use -txindex.');
    expect(text).not.toContain('gettransaction');
    expect(text.split('Output Address')[1]).toMatch(/^ 9 expired – – –/);
  });

  it('shows the outputs that are found if earlier ones are not', async () => {
    const refusal = new AskError(-5, 'Use -txindex');
    const ended = { state: 'spent', endedHeight: 9, spentBy: ENDED };
    const text = await pageOf(ended, (txid) => (txid === UPDATED ? infos[txid] : Promise.reject(refusal)));
    expect(text.split('Output Address')[1]).toMatch(
      /^ 9 abandoned .* 7 updated 2\S* .* second .*Use -txindex/,
    );
    expect(text).not.toContain('lead further back');
  });
});

describe('a name', () => {
  const free = { ...(known['listclaims'] as object), claims: 0, supportsWithoutClaim: 0 };
  /** It has 254 bytes, and its normalized form 381. */
  const spelled = 'ü'.repeat(127);

  it('has a page if its normalized form is longer than names may be', async () => {
    const page = await shown('name', [spelled.normalize('NFD')], {});
    expect(page.html).toContain('Bids (1)');
    expect((await shown('find', [], {}, { q: spelled.normalize('NFD') })).html).toMatch(/^\/name\/u%CC%88/);
  });

  it('is refused if it is too long and no claim has it', async () => {
    for (const name of [spelled.normalize('NFD'), 'x'.repeat(766)])
      await expect(shown('name', [name], { listclaims: free })).rejects.toMatchObject({
        status: 400,
        message: 'A name has at most 255 bytes.',
      });
    await expect(shown('name-hex', ['ff'.repeat(256)], {})).rejects.toBeInstanceOf(PageError);
    const search = await shown('find', [], { listclaims: free }, { q: 'x'.repeat(256) });
    expect(search.html).not.toContain('"/name/x');
    expect(search.html).toContain('Names that begin with it');
  });
});

describe('the page of a name', () => {
  const listed = known['listclaims'] as object;

  it('links to the proof of the normalized name, which the trie contains', async () => {
    const answer = { ...listed, name: 'MiXed', normalized_name: 'mixed' };
    const { html } = await shown('name', ['MiXed'], { listclaims: answer });
    expect(html).toContain('href="/proof/mixed"');
    expect(html).not.toContain('href="/proof/MiXed"');
    const before = { ...answer, normalized_name: 'MiXed', height: 9 };
    expect((await shown('name', ['MiXed'], { listclaims: before })).html).toContain(
      `href="/proof/MiXed?block=${HASH}"`,
    );
  });

  it.each([
    ['2e', '.', '/name-hex/2e', '/proof-hex/2e'],
    ['2E2e', '..', '/name-hex/2e2e', '/proof-hex/2e2e'],
    ['61', 'a', '/name/a', '/proof/a'],
  ])('shows the text of the bytes %s in hex', async (digits, text, page, proof) => {
    const answer = { ...listed, name: digits, normalized_name: text };
    const { html } = await shown('name-hex', [digits], { listclaims: answer });
    expect(html).toContain(`<h1><bdi>${text}</bdi></h1>`);
    expect(html).toContain(`action="${page}"`);
    expect(html).toContain(`href="${proof}"`);
    expect(html).not.toContain('Normalized name of all spellings');
  });

  it.each([
    ['name', ['one'], 'listclaims'],
    ['names', [], 'listnames'],
    ['upcoming', [], 'listupcoming'],
  ] as const)(
    'at /%s is not marked as an earlier one if the answer is ahead of the known tip',
    async (page, parts, method) => {
      const at = (height: number) =>
        shown(page, parts, { [method]: { ...(known[method] as object), height } }, { block: '' });
      expect((await at(9)).html).toContain('This is how it was after block 9.');
      for (const height of [10, 11]) expect((await at(height)).html).not.toContain('This is how it was');
    },
  );

  it('shows bytes that are not UTF-8 as the other pages do, with links that have the bytes', async () => {
    const answer = { ...listed, name: 'ff', normalized_name: '\\u00ff', namehex: 'ff' };
    const { html } = await shown('name-hex', ['ff'], { listclaims: answer });
    expect(html).toContain('<h1><bdi>\\u00ff</bdi></h1>');
    expect(html).toContain('href="/proof-hex/ff"');
    expect(html).not.toContain('/name/%5Cu00ff');
  });
});

describe('the holder of a name in an order that does not list its bid', () => {
  it.each([undefined, ID])(
    'is part of the same answer, and is read by its claim only if it names a channel (%s)',
    async (channelId) => {
      const listed = known['listclaims'] as { bids: object[] };
      const holder = { ...listed.bids[0], claimId: OTHER, title: 'The best bid', channelId };
      const asked: string[] = [];
      const context = contextOf('harmless', ['a'], { order: 'oldest' });
      const ask = (async (method: string) => {
        asked.push(method);
        return method === 'listclaims' ? { ...listed, holder } : known[method];
      }) as typeof context.ask;
      const result = await PAGES.get('name')!({ ...context, ask, taken: [] });
      const html = 'redirect' in result ? '' : render(h(Fragment, null, result.body));
      const [, lead = ''] = html.split('class="lead"');
      const [shownHead = ''] = lead.split('</section>');
      expect(shownHead).toContain('The best bid');
      expect(shownHead.includes('✓ signature valid')).toBe(channelId !== undefined);
      expect(asked.filter((method) => method === 'listclaims')).toHaveLength(1);
      expect(asked.includes('getclaim')).toBe(channelId !== undefined);
    },
  );
});

describe('an id that no claim has', () => {
  const named = { name: 'a', normalized_name: 'a', claimId: OTHER };
  const support = { ...named, event: 'support', index: 0, height: 9, txid: HASH, n: 0, amount: 1 };
  const output = {
    n: 0,
    amount: 1,
    type: 'pubkeyhash',
    script: '',
    spent: false,
    claim: { ...named, op: 'support' },
  };
  const utxo = { txid: HASH, outputIndex: 0, satoshis: 1, height: 9, claim: { ...named, op: 'support' } };
  const waiting = { total: 1, claims: [{ ...support, transaction: HASH, time: 1 }] };
  const receipt = Buffer.concat([
    Buffer.of(0x6a, encodePurchase(Buffer.from(OTHER, 'hex').reverse()).length),
    encodePurchase(Buffer.from(OTHER, 'hex').reverse()),
  ]);
  const purchase = { n: 1, amount: 0, type: 'nulldata', script: receipt.toString('hex'), spent: false };
  const bids = known['listclaims'] as { bids: object[] };
  const signed = { ...claim, signing_channel: undefined, channel_id: OTHER };
  const gone = {
    getclaim: new AskError(-5, 'no'),
    getclaimstatus: { ...named, claimId: ID, state: 'spent', channelId: OTHER, txid: HASH, n: 0, amount: 1 },
  };

  it.each([
    ['tx', [HASH], { gettxinfo: { ...(known['gettxinfo'] as object), inputs: [], outputs: [output] } }],
    ['tx', [HASH], { gettxinfo: { ...(known['gettxinfo'] as object), inputs: [], outputs: [purchase] } }],
    ['block', [HASH], { getblockevents: { counts: {}, events: [support], total: 1 } }],
    ['address', ['x'], { getaddressutxos: { utxos: [utxo] } }],
    ['mempool', [], { listmempoolclaims: waiting }],
    [
      'upcoming',
      [],
      { listupcoming: { height: 9, from: 10, to: 20, events: [{ ...support, isSupport: true }] } },
    ],
    ['name', ['a'], { getnamehistory: { blocks: [{ height: 9, blockhash: HASH, events: [support] }] } }],
    ['name', ['a'], { listmempoolclaims: waiting }],
    ['name', ['a'], { listclaims: { ...bids, bids: [{ ...bids.bids[0], channelId: OTHER }] } }],
    ['claim', [ID], { getclaim: signed }],
    ['claim', [ID], { listsupports: { ...named, total: 1, supports: [{ ...support, channelId: OTHER }] } }],
    ['claim', [ID], gone],
  ] as const)('has no link on the page %s %j %j', async (page, parts, instead) => {
    const link = `href="/claim/${OTHER}"`;
    const stateOf = async (getclaimstates: unknown): Promise<string> =>
      (await shown(page, [...parts], { ...instead, getclaimstates })).html;
    const unknown = await stateOf([{ claimId: OTHER, state: 'unknown' }]);
    expect([unknown.includes(link), unknown.includes('no such claim')]).toEqual([false, true]);
    // A claim that has ended has a page. Without the claim index the node does not know which ids have one.
    for (const states of [[{ claimId: OTHER, state: 'spent' }], new AskError(-1, 'not enabled')]) {
      const html = await stateOf(states);
      expect([html.includes(link), html.includes('no such claim')]).toEqual([true, false]);
    }
  });
});

describe('the page of an address', () => {
  it('marks outputs that wait in the mempool', async () => {
    const output = { txid: HASH, outputIndex: 0, satoshis: 1 };
    const utxos = [
      { ...output, height: 9 },
      { ...output, outputIndex: 1, height: -1 },
    ];
    const { html } = await shown('address', ['x'], {
      getaddressutxos: { utxos },
      getaddresstxids: { txids: [] },
    });
    const table = html.slice(html.indexOf('>Unspent outputs</caption>'));
    expect([table.match(/waits/g)?.length, table.includes('/block/9')]).toEqual([1, true]);
  });
});

describe('a tag of a claim', () => {
  it.each([
    [300, true],
    [301, false],
  ])('of %i characters leads to the claims with it: %s', async (length, isLinked) => {
    const tag = 't'.repeat(length);
    const [claim] = [known['getclaim'] as { value: object }];
    const { html } = await shown('claim', [ID], {
      getclaim: { ...claim, value: { ...claim.value, tags: [tag] } },
    });
    expect([html.includes(tag.slice(0, 50)), html.includes(`/claims?tag=${tag}`)]).toEqual([true, isLinked]);
  });
});

describe('the timeline of a name', () => {
  it('counts each holder once', async () => {
    const owners = [ID, OTHER, ID].map((claimId) => ({ claimId, effectiveAmount: 1 }));
    const blocks = owners.map((owner, n) => ({ height: 5 + n, blockhash: HASH, events: [], owner }));
    const { html } = await shown('name', ['a'], { getnamehistory: { blocks: blocks.toReversed() } });
    expect(html).toContain('2 holders since block');
  });
});

describe('the events of a block', () => {
  it('name the transaction that abandoned a claim, and none for a claim that expired', async () => {
    const [made, spending] = ['aa'.repeat(32), 'bb'.repeat(32)];
    const event = { name: 'a', normalized_name: 'a', claimId: ID, txid: made, n: 0, amount: 1 };
    const linked = async (more: object): Promise<boolean[]> => {
      const getblockevents = { counts: {}, events: [{ ...event, index: 0, ...more }], total: 1 };
      const { html } = await shown('block', [HASH], { getblockevents });
      return [made, spending].map((txid) => html.includes(`href="/tx/${txid}"`));
    };
    expect(await linked({ event: 'claim' })).toEqual([true, false]);
    expect(await linked({ event: 'abandon', spentBy: spending })).toEqual([false, true]);
    expect(await linked({ event: 'expiration' })).toEqual([false, false]);
  });
});

describe('the list of claims', () => {
  it('has all claims of a channel by name, and the search links to it where it ends', async () => {
    const whole = await shown('claims', [], {}, { channel: ID, order: 'name', after: 'x' });
    expect(whole.asked).toEqual([['listchannelclaims', ID, 50, 'x']]);
    expect(whole.html).toContain('<h2>Claims (2,000)</h2>');
    const searchclaims = { claims: [claim], total: 1000 };
    const cut = await shown('claims', [], { searchclaims }, { channel: ID });
    expect(cut.html).toContain('<h2>Claims (1,000 or more)</h2>');
    expect(cut.html).toContain(
      `href="/claims?channel=${ID}&amp;order=name">All claims of the channel by name`,
    );
    const byWords = await shown('claims', [], {}, { channel: ID, order: 'name', text: 'word' });
    expect(byWords.asked[0]![0]).toBe('searchclaims');
  });
});

describe('a node without the search', () => {
  const list = (query: Record<string, string>, lacking: readonly string[]): Promise<Shown> =>
    shown('claims', [], {}, query, { lacking });
  const names = ['/names', 'Names with active claims'];

  it('names the option, and links to lists that need no search', async () => {
    await expect(list({ text: 'word' }, ['claimsearch'])).rejects.toMatchObject({
      status: 501,
      title: 'The search for claims is off',
      message: expect.stringContaining('only if it is started with -claimsearch. '),
      near: [names],
    });
    await expect(list({ channel: ID }, ['claimsearch'])).rejects.toMatchObject({
      near: [[`/claims?channel=${ID}&order=name`, 'All claims of the channel by name'], names],
    });
    await expect(list({ channel: ID }, ['claimindex', 'claimsearch'])).rejects.toMatchObject({
      message: expect.stringContaining('-claimsearch, which also turns on -claimindex. '),
      near: [names],
    });
  });

  it('lists all claims of a channel by name', async () => {
    const { asked } = await list({ channel: ID, order: 'name' }, ['claimsearch']);
    expect(asked).toEqual([['listchannelclaims', ID, 50]]);
  });
});

describe('the warning that a claim expires', () => {
  /** The warning of a claim with this lifetime and this remaining time, both in blocks. */
  async function warningOf(life: number, left: number): Promise<string | undefined> {
    const dates = { height: 1000, activation_height: 1000, expiration_height: 1000 + life };
    const tip = { height: 1000 + life - left, hash: HASH, timeSec: 1 };
    const { html } = await shown('claim', [ID], { getclaim: { ...claim, ...dates } }, {}, { tip });
    return /It expires in ([\d,]+ blocks?)/.exec(html)?.[1];
  }

  it('is in the last tenth of its life on regtest, where claims live 500 blocks', async () => {
    expect(await warningOf(500, 500)).toBeUndefined();
    expect(await warningOf(500, 50)).toBeUndefined();
    expect(await warningOf(500, 49)).toBe('49 blocks');
    expect(await warningOf(500, 1)).toBe('1 block');
  });

  it('is in the last 20,160 blocks of its life on the main network', async () => {
    expect(await warningOf(2_102_400, 20_160)).toBeUndefined();
    expect(await warningOf(2_102_400, 20_159)).toBe('20,159 blocks');
  });
});

describe('the state of the node', () => {
  const stateOf = async (blocks: number, headers: number, isSyncing: boolean): Promise<string> => {
    const getblockchaininfo = { ...(known['getblockchaininfo'] as object), blocks, headers };
    const { html } = await shown('node', [], { getblockchaininfo }, {}, { isSyncing });
    return /<dt[^>]*>State<\/dt><dd>(.*?)<\/dd>/.exec(html)![1]!;
  };

  it('with only the genesis block is not that of a node that has the chain', async () => {
    expect(await stateOf(0, 0, false)).toBe('only the genesis block');
    expect(await stateOf(0, 0, true)).toBe('synchronizing, 0.0 %');
    expect(await stateOf(0, 1000, true)).toBe('synchronizing, 0.0 %');
    expect(await stateOf(500, 1000, true)).toBe('synchronizing, 50.0 %');
    expect(await stateOf(1000, 1000, false)).toBe('synchronized');
  });
});

describe('the page of an address', () => {
  it('names a missing index once, because the lists need the same one as the balance', async () => {
    const off = (index: string): AskError => new AskError(-1, `The ${index} index is not enabled.`);
    const missing = off('address');
    const all = { getaddressbalance: missing, getaddresstxids: missing, getaddressutxos: missing };
    const countIn = async (instead: Readonly<Record<string, unknown>>, text: string): Promise<number> =>
      (await shown('address', ['harmless'], instead)).html.split(text).length - 1;
    expect(await countIn(all, 'The address index is not enabled.')).toBe(1);
    expect(await countIn(all, '<h2>')).toBe(0);
    // A list that lacks something else says so.
    const other = { ...all, getaddressutxos: off('other') };
    expect(await countIn(other, 'The other index is not enabled.')).toBe(1);
    expect(await countIn(other, '<h2>Unspent outputs</h2>')).toBe(1);
  });

  it('shows what each transaction changes, and repeats no list on a later page of the other one', async () => {
    const [txid, next] = ['01'.repeat(32), 'more'];
    const getaddresstxids = { txids: [{ txid, received: 1e8, spent: 3e8 }], next };
    const listsOf = async (query: Record<string, string>): Promise<string[]> => {
      const { html } = await shown('address', ['harmless'], { getaddresstxids }, query);
      const lists = [...html.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, title]) => title!);
      expect(html.includes('01010101…010101')).toBe(lists.includes('Transactions, the latest first'));
      return lists;
    };
    const [transactions, outputs] = ['Transactions, the latest first', 'Unspent outputs'];
    expect(await listsOf({})).toEqual([transactions, outputs]);
    expect(await listsOf({ after: 'x' })).toEqual([transactions]);
    expect(await listsOf({ coins: 'x' })).toEqual([outputs]);
    const { html } = await shown('address', ['harmless'], { getaddresstxids });
    expect(html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')).toContain(
      '01010101…010101 −2 .00 waits',
    );
  });
});

describe('the history of a name', () => {
  it('shows the effective amount of the owner at a takeover', async () => {
    const takeover = { event: 'takeover', claimId: ID, amount: 1, effectiveAmount: 4.5 };
    const getnamehistory = { blocks: [{ height: 9, blockhash: HASH, events: [takeover] }] };
    const { html } = await shown('name', ['harmless'], { getnamehistory });
    expect(html.split('id="history"')[1]).toContain('4<small>.50</small>');
  });
});

describe('a disconnected block', () => {
  it('is named without a cause, because no other block may have its place', () => {
    const events = [{ event: 'claim', nameHex: '61', claimId: ID }];
    const html = render(h(TakenBack, { blocks: [{ height: 1200, hash: HASH, events }] }));
    expect(html.replaceAll(/<[^>]*>/g, '')).toContain(
      'Block 1,200 was disconnected from the chain. Taken back: claimed ',
    );
  });
});

describe('the search', () => {
  const height = { q: '7' };
  const listed = known['listclaims'] as object;

  it('offers both the block and the name for a height that is also the name of a claim', async () => {
    const { html } = await shown('find', [], { listclaims: listed }, height);
    expect(html).toContain('href="/block/7"');
    expect(html).toContain('href="/name/7"');
  });

  it('redirects to the block if no claim has the height as its name', async () => {
    const free = { ...listed, claims: 0 };
    expect((await shown('find', [], { listclaims: free }, height)).html).toBe('/block/7');
  });

  it('of a height above the tip leads to the page that says where the chain ends, or to the name', async () => {
    const free = { ...listed, claims: 0 };
    expect((await shown('find', [], { listclaims: free }, { q: '11' })).html).toBe('/block/11');
    expect((await shown('find', [], { listclaims: listed }, { q: '11' })).html).toBe('/name/11');
    const at = (height: string, more: object) =>
      PAGES.get('block')!({ ...contextOf('harmless', [height], {}), ...more });
    await expect(at('11', {})).rejects.toMatchObject({
      status: 404,
      message: 'The chain ends at block 10. Block 11 is expected in ≈ 3 minutes.',
      near: [
        ['/block/tip', 'The latest block'],
        ['/name/11', 'The name 11'],
      ],
    });
    for (const [height, more] of [
      ['11', { network: 'regtest' }],
      ['999999999', {}],
    ] as const)
      await expect(at(height, more)).rejects.toMatchObject({ message: 'The chain ends at block 10.' });
  });

  it.each([
    ['block', '11', 'The node has not downloaded this block yet', 'The node is at block 10 of 2,000.'],
    ['block', '2000', 'The node has not downloaded this block yet', 'The node is at block 10 of 2,000.'],
    ['block', '2001', 'The node does not know this block', 'so a newer block is not known yet.'],
    ['block', HASH, 'The node has not downloaded this block yet', 'The node is at block 10 of 2,000.'],
    ['block', OTHER_HASH, 'The node does not know this block', 'so a newer block is not known yet.'],
    ['blocks', '11', 'The node has not downloaded this block yet', 'The node is at block 10 of 2,000.'],
    ['tx', HASH, 'The node does not know this transaction', 'so a newer transaction is not known yet.'],
    ['claim', ID, 'The node does not know this claim', 'so a newer claim is not known yet.'],
  ])('/%s/%s says during a sync: “%s”', async (page, id, title, message) => {
    const error = new AskError(-5, 'unknown');
    const instead = {
      gettxinfo: error,
      getclaim: error,
      getclaimstatus: error,
      // The node has the header of one block that it has not downloaded.
      getblockheader:
        id === OTHER_HASH
          ? error
          : { ...(known['getblockheader'] as object), height: 400, confirmations: -1 },
    };
    const query = page === 'blocks' ? { from: id } : {};
    const context = contextOf('harmless', [id], query, 'harmless', instead);
    const refused = PAGES.get(page)!({ ...context, taken: [], isSyncing: true, headers: 2000 });
    await expect(refused).rejects.toMatchObject({
      status: 404,
      title,
      message: expect.stringContaining(message) as unknown,
    });
    await expect(refused).rejects.toThrow('The node is at block 10 of 2,000');
  });

  it('of an unknown hash says which option would find a transaction', async () => {
    const unknown = new AskError(-5, 'unknown');
    const instead = {
      getblockheader: unknown,
      gettxinfo: unknown,
      validateaddress: { isvalid: false },
      listclaims: { ...listed, claims: 0 },
    };
    const search = async (lacking: readonly string[]): Promise<string> => {
      const context = contextOf('harmless', [], { q: 'ff'.repeat(32) }, 'harmless', instead);
      const result = await PAGES.get('find')!({ ...context, lacking });
      return 'redirect' in result ? result.redirect : render(h(Fragment, null, result.body));
    };
    const whole = await search([]);
    expect(whole).toContain('This node knows no block and no transaction with this hash.');
    expect(whole).not.toContain('-txindex');
    expect(await search(['txindex'])).toContain('It may exist: without the index of transactions');
    // The digits can also be a name that is not text.
    expect(whole).toContain(`href="/name-hex/${'ff'.repeat(32)}"`);
  });

  it.each([
    ['claims', {}],
    ['find', { q: 'no name' }],
  ])('at /%s names its limit to claims with metadata', async (page, query) => {
    const none = { searchclaims: { claims: [], total: 0 }, listclaims: { ...listed, claims: 0 } };
    const { html } = await shown(page, [], none, query);
    expect(html).toContain('No claim with metadata matches.');
    expect(html).toContain('href="/names"');
  });
});

describe('the newest claims of the first page', () => {
  const listed = { name: 'plain', claimId: OTHER, txid: HASH, n: 0, amount: 1, time: 1 };

  it('include claims without metadata and of the mempool, and channels with a valid signature', async () => {
    const titled = {
      ...listed,
      claimId: ID,
      createdHeight: 3,
      kind: 'stream',
      title: 'Titled',
      channelId: OTHER,
    };
    const page = await shown('', [], {
      listnewclaims: { claims: [listed, titled] },
      searchclaims: { claims: [{ ...claim, signing_channel: { claim_id: OTHER, name: '@signer' } }] },
    });
    expect(optionsOf(page, 'searchclaims')).toMatchObject({ claim_ids: [ID] });
    const [, list = ''] = page.html.split('Newest claims');
    const text = list.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(text).toContain('Claim efefefef… plain no metadata waits 1');
    expect(text).toContain('Titled plain stream in @signer 1');
  });

  it('are shown without channels if the search is off', async () => {
    const off = Promise.reject(new AskError(-1, 'Claim search is not enabled.'));
    off.catch(() => undefined);
    const claims = [{ ...listed, channelId: ID, createdHeight: 3, kind: 'stream' }];
    const { html } = await shown('', [], { listnewclaims: { claims }, searchclaims: off });
    expect(html).toContain(`href="/claim/${OTHER}"`);
    expect(html).not.toContain('not enabled');
  });

  it('may be none', async () => {
    expect((await shown('', [], { listnewclaims: { claims: [] } })).html).toContain('There are no claims.');
  });

  it('are searched below blocks without new claims, by a limited number of calls', async () => {
    const asked: unknown[][] = [];
    const instead = (answers: readonly object[]) => ({
      get listnewclaims() {
        return answers[Math.min(asked.push([]), answers.length) - 1];
      },
    });
    const below = { claims: [], next: 5000, skip: 2 };
    const found = await shown('', [], instead([below, { claims: [listed] }]));
    expect(found.html).toContain(`href="/claim/${OTHER}"`);
    const calls = found.asked.filter(([method]) => method === 'listnewclaims');
    expect(calls.map(([, ...params]) => params)).toEqual([[10], [10, 5000, 2]]);
    asked.length = 0;
    const never = await shown('', [], instead([below]));
    expect(never.asked.filter(([method]) => method === 'listnewclaims').length).toBeLessThan(6);
    expect(never.html).toContain('Claims up to block 5,000 are not listed here.');
    expect(never.html).not.toContain('There are no claims.');
  });
});

describe('the transaction of the genesis block', () => {
  it('has no link on the page of the block', async () => {
    const header = known['getblock'] as object;
    const pageOf = (height: number) =>
      shown('block', [HASH], { getblock: { ...header, height }, getblockheader: { ...header, height } });
    const link = `href="/tx/${HASH}"`;
    expect((await pageOf(0)).html.split('id="transactions"')[1]).not.toContain(link);
    expect((await pageOf(0)).html).toContain('The node does not index the transaction of the genesis block');
    expect((await pageOf(1)).html.split('id="transactions"')[1]).toContain(link);
  });

  it('has a page that gives the reason', async () => {
    const unknown = Promise.reject(new AskError(-5, 'No information available about transaction'));
    unknown.catch(() => undefined);
    const header = known['getblockheader'] as object;
    const pageOf = (merkleroot: string) =>
      shown('tx', [HASH], { gettxinfo: unknown, getblockheader: { ...header, merkleroot } });
    await expect(pageOf(HASH)).rejects.toMatchObject({
      status: 404,
      title: 'This is the transaction of the genesis block',
      near: [['/block/0', 'The genesis block']],
    });
    await expect(pageOf(OTHER)).rejects.toMatchObject({ title: 'There is no such transaction' });
  });
});

describe('the page of a transaction', () => {
  it('that left the chain leads to its block by the hash, and has no confirmations', async () => {
    const info = known['gettxinfo'] as object;
    const stale = { ...info, state: 'stale', height: 7, blockhash: HASH, confirmations: 0 };
    const { html } = await shown('tx', [HASH], { gettxinfo: stale });
    expect(html).toContain(`<a href="/block/${HASH}">7</a>`);
    expect(html).not.toContain('href="/block/7"');
    expect(html).toMatch(/Confirmations<\/span><strong>0</);
  });

  it('is not called unknown by a node without an index of transactions', async () => {
    const pageOf = (lacking: readonly string[]) => {
      const context = contextOf('harmless', [OTHER.slice(0, 24) + ID], {});
      const ask = ((method: string) =>
        method === 'gettxinfo'
          ? Promise.reject(new AskError(-5, 'No such mempool transaction.'))
          : Promise.resolve(known[method])) as typeof context.ask;
      return PAGES.get('tx')!({ ...context, ask, lacking });
    };
    await expect(pageOf(['txindex'])).rejects.toMatchObject({ status: 501 });
    await expect(pageOf(['claimindex'])).rejects.toMatchObject({ status: 404 });
  });

  it('names what its inputs spend', async () => {
    const { html } = await shown('tx', [HASH], {});
    const [, inputs = '', outputs = ''] = html.split(/id="inputs"|id="outputs"/);
    expect([inputs.includes('spends the claim'), outputs.includes('spends the claim')]).toEqual([
      true,
      false,
    ]);
  });

  it('shows which claim an output buys', async () => {
    const output = {
      ...(known['gettxinfo'] as { outputs: object[] }).outputs[0],
      type: 'nulldata',
      spent: false,
      claim: undefined,
      address: undefined,
    };
    const scriptOf = (data: Buffer): string =>
      Buffer.concat([Buffer.of(0x6a, data.length), data]).toString('hex');
    const receipt = { ...output, script: scriptOf(encodePurchase(Buffer.from(ID, 'hex').reverse())) };
    const pageOf = (outputs: readonly object[]) =>
      shown('tx', [HASH], { gettxinfo: { ...(known['gettxinfo'] as object), outputs } });
    const { html } = await pageOf([receipt]);
    expect(html).toContain('buys the claim');
    expect(html).toContain(`/claim/${ID}`);
    for (const data of [Buffer.from('P'), Buffer.from('other data'), encodePurchase(Buffer.alloc(19))])
      expect((await pageOf([{ ...output, script: scriptOf(data) }])).html).not.toContain('buys the claim');
  });
});

describe('the console', () => {
  const method = { name: 'getclaimsforname', category: 'claimtrie', help: '', params: [] as object[] };
  const pageOf = async (query: Record<string, string>, showsPeers = true): Promise<string> => {
    const context = { ...contextOf('harmless', [], query), showsPeers };
    const params = [{ name: 'name', description: '', isRequired: true, cli: 'string' }];
    const answer = '{"warnings": "a \\"secret\\"", "amount": 1083202000.00000100}';
    const askExactly = (() => Promise.resolve(parseJson(answer))) as never;
    const methods = [{ ...method, params }] as never;
    const result = await PAGES.get('console')!({ ...context, askExactly, methods });
    return 'redirect' in result ? '' : render(h(Fragment, null, result.body));
  };
  const call = { method: 'getclaimsforname', run: '1', p0: "a'; echo $(id) '" };

  it('quotes arguments on the command line', async () => {
    expect(await pageOf(call)).toContain("getclaimsforname 'a'\\''; echo $(id) '\\'''");
  });

  it.each(['1e400', '[1, {"a": -1e400}]', '12345678901234567890'])(
    'refuses %s, because the node would get another number',
    async (p0) => {
      const params = [{ name: 'blocks', description: '', isRequired: true, cli: 'json' }];
      const context = contextOf('harmless', [], { ...call, p0 });
      const askExactly = (() => expect.fail('the call was sent')) as never;
      await expect(
        PAGES.get('console')!({ ...context, askExactly, methods: [{ ...method, params }] as never }),
      ).rejects.toThrow('“blocks” has a number that is too large: at most 9007199254740991.');
    },
  );

  const errorOf = (query: Record<string, string>): Promise<unknown> =>
    pageOf(query).then(
      () => expect.fail('the page was shown'),
      (error: unknown) => error,
    );

  it('shows a command line only for a closed method that exists', async () => {
    expect(await errorOf({ method: 'stop' })).toMatchObject({
      title: 'This method is not open here',
      message: 'The console calls only methods that read. On the machine of the node: lbcnode-cli stop',
    });
    for (const [name, near] of [
      ['stop; id', []],
      ['nothing', []],
      ['getclaimforname', [['/console?method=getclaimsforname', 'getclaimsforname']]],
    ] as const)
      expect(await errorOf({ method: name })).toMatchObject({
        status: 404,
        message: `The node has no method “${name}”.`,
        near: [...near, ['/console', 'All open methods']],
      });
  });

  it('names an empty argument that is required, and a height where a hash is needed', async () => {
    expect(await errorOf({ method: 'getclaimsforname', run: '1', p1: '5' })).toMatchObject({
      status: 400,
      message: '“name” is required, but it is empty.',
      near: [['/console?method=getclaimsforname', 'The form of getclaimsforname']],
    });
    const params = [{ name: 'blockhash', description: '', isRequired: true, cli: 'string', isHash: true }];
    const methods = [{ ...method, name: 'getblock', params }] as never;
    const get = (p0: string) =>
      PAGES.get('console')!({ ...contextOf('harmless', [], { method: 'getblock', run: '1', p0 }), methods });
    const form = (p0: string) => [`/console?method=getblock&p0=${p0}`, 'The form of getblock'];
    await expect(get('113')).rejects.toMatchObject({
      status: 400,
      message:
        '“blockhash” must be a hash of 64 hexadecimal digits. 113 is a height: the method getblockhash returns the hash of the block.',
      near: [['/console?method=getblockhash&p0=113&run=1', 'getblockhash 113'], form('113')],
    });
    await expect(get('xyz')).rejects.toMatchObject({
      message: '“blockhash” must be a hash of 64 hexadecimal digits.',
      near: [form('xyz')],
    });
    const context = contextOf('harmless', [], { method: 'getblock', run: '1', p0: HASH });
    expect(await PAGES.get('console')!({ ...context, methods })).toMatchObject({
      title: 'Console: getblock',
    });
  });

  it('shows warnings of the node only to the visitors who see them on its page', async () => {
    expect(await pageOf(call)).toContain('secret');
    const far = await pageOf(call, false);
    expect(far).not.toContain('secret');
    expect(far).toContain('shown to visitors on the machine of the node');
  });

  it('shows numbers as the method wrote them', async () => {
    expect(await pageOf(call)).toContain('&quot;amount&quot;: 1083202000.00000100');
  });
});

describe('the first digits of a claim id', () => {
  const at = (digits: string, instead: Readonly<Record<string, unknown>>) =>
    PAGES.get('claim')!(contextOf('harmless', [digits], {}, 'harmless', instead));
  const found = (...ids: readonly string[]) => ({ claims: ids.map((id) => ({ claim_id: id })) });
  const THIRD = 'cdcd'.padEnd(40, '1');

  it('lead to the claims that begin with them', async () => {
    const instead = { getclaimbyid: { claimId: ID }, searchclaims: found(THIRD, ID) };
    await expect(at('CDCD', instead)).rejects.toMatchObject({
      status: 404,
      near: [
        [`/claim/${ID}`, `The claim ${ID}`],
        [`/claim/${THIRD}`, `The claim ${THIRD}`],
        ['/find?q=CDCD', expect.any(String)],
      ],
    });
    const off = { getclaimbyid: { claimId: ID }, searchclaims: new AskError(-1, 'off') };
    await expect(at('cdcd', off)).rejects.toMatchObject({
      near: [[`/claim/${ID}`, `The claim ${ID}`], expect.anything()],
    });
    const search = { ...off, listclaims: { ...(known['listclaims'] as object), claims: 0 } };
    const { html } = await shown(
      'find',
      [],
      { ...search, validateaddress: { isvalid: false } },
      { q: ID.slice(0, 8) },
    );
    expect(html).toContain(`href="/claim/${ID}"`);
  });

  it.each([
    ['ab', {}],
    ['abcdef', { getclaimbyid: {}, searchclaims: found() }],
    ['xyz', {}],
  ])('%s that no claim has lead to the search', async (digits, instead) => {
    await expect(at(digits, instead)).rejects.toMatchObject({
      message: 'A claim is identified by 40 hexadecimal digits.',
      near: [[`/find?q=${digits}`, expect.any(String)]],
    });
  });
});

describe('a path without a name', () => {
  it.each(['name', 'proof'])('/%s/ leads to the list of names', async (page) => {
    expect((await shown(page, [], {})).html).toBe('/names');
    expect((await shown(page, [''], {})).html).toBe('/names');
  });
  it.each(['name-hex', 'proof-hex'])('/%s/ is the page of the empty name', async (page) => {
    const { asked } = await shown(page, [], {});
    expect(asked.find(([method]) => /^(listclaims|getnameproof)$/.test(method))?.[1]).toBe('');
  });
});
