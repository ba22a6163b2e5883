/**
 * Two of our daemons and the one of lbry-sdk on one hub: each creates claims that the others list, resolve, support, repost,
 * buy and outbid. Then each opens all three wallets, and the answers of the three to the same calls are equal, except for a
 * list of differences with reasons. LBRYNET names the program `lbrynet`; without it nothing is tested.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { differencesOf, formOf, REASONED, type Json, type Question } from './support/daemonDifferences.js';
import { MISSING, Trio, type Owner } from './support/trio.js';
import { until } from './support/network.js';

const LBRYNET = process.env['LBRYNET'];
if (!LBRYNET) console.log('skipped: LBRYNET names no daemon');

/** Maximum number of differences of an answer that are printed. */
const SHOWN = 5;

/** Parameters of the lists: pages, orders and filters. */
const LISTS: readonly Json[] = [
  {},
  { page_size: 100 },
  { page: 2, page_size: 3 },
  { page: 99, page_size: 3 },
  { order_by: 'name', page_size: 100 },
  { order_by: 'height', page_size: 100 },
  { order_by: 'amount', page_size: 100 },
  { is_spent: true, page_size: 100 },
  { resolve: true, page_size: 100 },
  { no_totals: true, page_size: 100 },
];

describe.skipIf(!LBRYNET)('two lbcnet daemons and lbrynet', () => {
  let trio: Trio;

  beforeAll(async () => {
    trio = await Trio.start(LBRYNET!);
    await trio.makeEverything();
    await trio.shareWallets();
    for (const owner of trio.owners)
      await until(`the search of ${owner.name} has all`, async () => {
        const { total_items } = await owner.call<{ total_items: number }>('claim_search');
        return total_items === 21;
      });
  });
  afterAll(() => trio?.stop());

  /** Sends the calls to all three daemons and compares the answers. With `wallets`, each call is repeated for each wallet. */
  async function allAgree(
    questions: readonly Question[],
    wallets: readonly Owner[] | null,
    view: (answer: unknown) => unknown = (answer) => answer,
  ): Promise<void> {
    const found = new Set<string>();
    for (const wallet of wallets ?? [null])
      for (const [method, params] of questions) {
        const reasons = REASONED.filter(({ applies }) => applies(method, params));
        const ask = async (host: Owner): Promise<unknown> => {
          const of = wallet ? { wallet_id: wallet.walletAt(host) } : {};
          const answer = await host
            .call(method, { ...params, ...of })
            .catch((error: unknown) => ({ refused: error instanceof Error ? error.message : error }));
          return view(reasons.reduce((left, { alike }) => (alike === null ? left : alike(left)), answer));
        };
        const [ada, bea, cyd] = await Promise.all(trio.owners.map(ask));
        const reported = `${method} ${JSON.stringify(params)} of ${wallet?.name ?? 'all'}`;
        const others = reasons.some(({ alike }) => alike === null) ? { bea } : { bea, cyd };
        for (const [name, other] of Object.entries(others))
          for (const difference of differencesOf(ada, other).slice(0, SHOWN))
            found.add(`ada / ${name}: ${reported}${difference}`);
      }
    expect([...found]).toEqual([]);
  }
  const formOfMade = (answer: unknown): unknown => {
    expect(answer).not.toHaveProperty('refused');
    return formOf(answer);
  };
  const id = (owner: number, label: string): string => trio.owners[owner]!.ids[label]!;

  it('agree on the meaning of names and URLs', async () => {
    const urls = [
      ...[
        'shared',
        'SHARED',
        'shared$2',
        'shared$3',
        'shared$4',
        '@same',
        '@same$2',
        '@SAME*2',
        'nothing',
        '@nobody/x',
      ],
      ...trio.owners.flatMap(({ name, ids }) => [
        ...[
          `@${name}`,
          `@${name}/${name}-film`,
          `@${name}/${name}-song`,
          `@${name}/${name}-again`,
          `${name}-list`,
        ],
        ...[`${name}-gone`, `@${name}:${ids['room']![0]}`, `shared#${ids['shared']}`, `x#${ids['again']}`],
        `lbry://${name}-FILM#${ids['film']!.slice(0, 2)}`,
      ]),
      ...['', '@', 'a b', 'a/b', '@ada/', 'lbry://'],
    ];
    await allAgree(
      [['resolve', { urls }], ...urls.slice(0, 4).map((url) => ['resolve', { urls: url }] as const)],
      null,
    );
    const includes = {
      include_purchase_receipt: true,
      include_is_my_output: true,
      include_sent_supports: true,
      include_sent_tips: true,
      include_received_tips: true,
    };
    await allAgree([['resolve', { urls: urls.filter((url) => url !== ''), ...includes }]], trio.owners);
    // The owners of the name in order: by the highest bid, by a higher bid, and by more support.
    expect(trio.winners).toEqual(['bea', 'cyd', 'ada']);
  });

  it('agree on search results', async () => {
    const searches: Json[] = [
      ...[{}, { page_size: 50 }, { page: 2, page_size: 5, order_by: 'name' }, { no_totals: true }],
      ...[
        { name: 'shared' },
        { text: 'conspiracies' },
        { claim_ids: [id(0, 'film'), id(2, 'film'), MISSING] },
      ],
      ...[
        { channel: '@bea' },
        { channel_ids: [id(0, 'room'), id(2, 'room')] },
        { not_channel_ids: [id(1, 'room')] },
      ],
      ...[
        { claim_type: 'repost' },
        { claim_type: ['channel', 'collection'] },
        { any_tags: ['history', 'new'] },
      ],
      ...[
        { is_controlling: true },
        { reposted_claim_id: id(1, 'film') },
        { fee_amount: '>0' },
        { has_source: true },
      ],
      ...[
        { order_by: ['^amount', 'name'] },
        { order_by: ['effective_amount', 'name'] },
        { order_by: 'support_amount' },
      ],
      ...[{ any_languages: ['fr'] }, { media_types: ['text/plain'] }, { stream_types: ['document'] }],
    ];
    await allAgree(
      searches.map((search) => ['claim_search', search]),
      null,
    );
    const own = {
      include_is_my_output: true,
      include_purchase_receipt: true,
      page_size: 50,
      order_by: 'name',
    };
    await allAgree([['claim_search', own]], trio.owners);
  });

  it('agree on the contents of collections', async () => {
    const questions = trio.owners.flatMap(({ name, ids }): Question[] => [
      ['collection_resolve', { url: `${name}-list` }],
      ['collection_resolve', { claim_id: ids['list'] }],
      ['collection_resolve', { claim_id: ids['list'], page: 2, page_size: 2 }],
    ]);
    await allAgree(questions, null);
    await allAgree(questions, trio.owners);
  });

  it('agree on claims of a wallet', async () => {
    const methods = [
      'claim_list',
      'channel_list',
      'stream_list',
      'collection_list',
      'support_list',
      'purchase_list',
    ];
    for (const method of methods) {
      const takes = (list: Json): boolean =>
        method === 'purchase_list'
          ? !('order_by' in list || 'is_spent' in list || 'no_totals' in list)
          : true;
      await allAgree(
        LISTS.filter(takes)
          .filter((list) => !('order_by' in list) || method === 'claim_list')
          .map((list) => [method, list] as const),
        trio.owners,
      );
    }
    for (const owner of trio.owners) {
      const account = { account_id: owner.second };
      await allAgree([...methods.map((method) => [method, account] as const)], [owner]);
    }
    await allAgree(
      [
        ...['stream', 'channel', 'repost', 'collection'].map(
          (claim_type) => ['claim_list', { claim_type }] as const,
        ),
        ['claim_list', { claim_type: ['stream', 'channel'], page_size: 50 }],
        ['claim_list', { name: ['shared', '@SAME'] }],
        ['claim_list', { claim_id: id(0, 'film') }],
        ['claim_list', { channel_id: [id(0, 'room'), id(1, 'room')] }],
        ['claim_list', { has_source: true }],
        ['claim_list', { has_no_source: true }],
        ['claim_list', { resolve: true, include_received_tips: true }],
        ['channel_list', { name: '@SAME' }],
        ['stream_list', { name: 'shared', resolve: true }],
        ['collection_list', { resolve_claims: 5 }],
        ['collection_list', { resolve: true, resolve_claims: 2 }],
        ['support_list', { received: true }],
        ['support_list', { sent: true }],
        ['support_list', { staked: true }],
        ['support_list', { sent: true, is_spent: true }],
        ['support_list', { name: 'shared' }],
        ['support_list', { claim_id: id(1, 'film') }],
        ['purchase_list', { claim_id: id(1, 'film') }],
        ['purchase_list', { claim_id: id(2, 'film'), resolve: true }],
      ],
      trio.owners,
    );
  });

  it('agree on outputs of a wallet', async () => {
    const filters: Json[] = [
      ...['stream', 'channel', 'support', 'purchase', 'collection', 'repost', 'other'].map((type) => ({
        type,
      })),
      { type: ['stream', 'support'], is_not_spent: true },
      { type: 'stream', is_spent: true },
      ...[
        { is_my_output: true },
        { is_not_my_output: true },
        { is_my_input: true },
        { is_not_my_input: true },
      ],
      ...[{ is_my_input_or_output: true }, { is_my_input: true, is_not_my_output: true }],
      { is_my_input_or_output: true, exclude_internal_transfers: true },
      { exclude_internal_transfers: true },
      { is_my_output: true, is_not_my_input: true, is_not_spent: true },
      ...[{ name: 'shared' }, { claim_id: id(0, 'shared') }, { channel_id: id(2, 'room') }],
      ...[{ not_channel_id: id(0, 'room'), type: 'stream' }, { reposted_claim_id: id(1, 'film') }],
      ...[{ has_source: true }, { has_no_source: true }],
    ];
    const all = { page_size: 200 };
    await allAgree(
      [...LISTS, ...filters.map((filter) => ({ ...filter, ...all }))].map((list) => ['txo_list', list]),
      trio.owners,
    );
    await allAgree(
      [
        ...filters.map((filter) => ['txo_list', { ...filter, ...all, include_received_tips: true }] as const),
        ...[{}, ...filters].map((filter) => ['txo_sum', filter] as const),
        ...[
          { days_back: 1 },
          { start_day: '2010-01-01', days_after: 30_000 },
          { days_back: 3, type: 'support' },
        ].map((range) => ['txo_plot', range] as const),
        ...[{}, all, { page: 2, page_size: 4 }].map((list) => ['utxo_list', list] as const),
        ...[{}, all, { page: 3, page_size: 5 }].map((list) => ['transaction_list', list] as const),
      ],
      trio.owners,
    );
    for (const owner of trio.owners) {
      const account = { account_id: owner.second, ...all };
      const methods = ['txo_list', 'utxo_list', 'transaction_list'];
      await allAgree(
        methods.map((method) => [method, account]),
        [owner],
      );
    }
  });

  it('list outputs in the order of the chain, the last one first', async () => {
    for (const owner of trio.owners.slice(0, 2)) {
      const { items } = await owner.call<{ items: { txid: string; height: number; nout: number }[] }>(
        'txo_list',
        {
          page_size: 500,
        },
      );
      const places = [];
      for (const { txid, height, nout } of items)
        places.push({ height, place: (await trio.blockOf(height)).indexOf(txid), nout });
      const inOrder = places.toSorted((a, b) => b.height - a.height || b.place - a.place || a.nout - b.nout);
      expect(places).toEqual(inOrder);
      expect(new Set(places.map(({ height }) => height)).size).toBeLessThan(places.length);
    }
  });

  it('agree on accounts, balances and addresses', async () => {
    await allAgree(
      [
        ['account_list', {}],
        ['account_list', { include_claims: true }],
        ['account_list', { show_seed: true }],
        ...[{}, { confirmations: 1 }, { confirmations: 3 }].flatMap((params): Question[] => [
          ['account_balance', params],
          ['wallet_balance', params],
        ]),
        ['address_list', { page_size: 500 }],
        ['wallet_status', {}],
        ['preference_get', {}],
        ['sync_hash', {}],
      ],
      trio.owners,
    );
    for (const owner of trio.owners) {
      const account = { account_id: owner.second };
      const questions: Question[] = [
        ['account_list', account],
        ['account_balance', account],
        ['address_list', { ...account, page_size: 500 }],
      ];
      await allAgree(questions, [owner]);
      const { items } = await owner.call<{ items: { address: string }[] }>('address_list');
      const address = items[0]!.address;
      await allAgree(
        [
          ['address_list', { address }],
          ['address_is_mine', { address }],
          ['address_is_mine', { address: 'x' }],
        ],
        trio.owners,
      );
    }
  });

  it('agree on each transaction', async () => {
    const { items } = await trio.owners[0]!.call<{ items: { txid: string }[] }>('transaction_list', {
      page_size: 100,
    });
    await allAgree(
      [...items.map(({ txid }) => txid), MISSING + MISSING.slice(0, 24)].map((txid) => [
        'transaction_show',
        { txid },
      ]),
      null,
    );
  });

  it('agree on the form of created transactions', async () => {
    for (const [n, owner] of trio.owners.entries()) {
      const other = (n + 1) % trio.owners.length;
      const film = { claim_id: id(n, 'film') };
      const questions: Question[] = [
        ['channel_create', { name: '@preview', bid: '0.1', title: 'x' }],
        ['channel_update', { claim_id: id(n, 'room'), title: 'x' }],
        ['channel_abandon', { claim_id: id(n, 'room') }],
        ['stream_update', { ...film, title: 'x', channel_id: id(n, 'room') }],
        ['stream_update', { ...film, title: 'x', clear_channel: true }],
        ['stream_abandon', film],
        ['stream_repost', { name: 'preview', bid: '0.1', claim_id: id(other, 'film') }],
        ['collection_create', { name: 'preview', bid: '0.1', claims: [id(n, 'film')] }],
        ['collection_update', { claim_id: id(n, 'list'), title: 'x' }],
        ['collection_abandon', { claim_id: id(n, 'list') }],
        ['support_create', { ...film, amount: '0.1' }],
        ['support_create', { ...film, amount: '0.1', comment: 'x', channel_id: id(n, 'room') }],
        ['support_create', { claim_id: id(other, 'film'), amount: '0.1', tip: true }],
        ['wallet_send', { amount: '0.1', addresses: [await owner.call<string>('address_unused')] }],
        ['txo_spend', { type: 'stream', include_full_tx: true }],
      ];
      await allAgree(
        questions.map(([method, params]) => [method, { ...params, preview: true }] as const),
        [owner],
        formOfMade,
      );
      const accounts = { to_account: owner.second, amount: '0.1' };
      await allAgree([['account_fund', accounts]], [owner], formOfMade);
    }
  });

  it('agree on unconfirmed transactions', async () => {
    const foreign = await trio.payUnowned();
    for (const one of trio.owners)
      await until(
        `${one.name} finds it`,
        async () => 'txid' in (await one.call<Json>('transaction_show', { txid: foreign })),
      );
    const { txid } = await trio.owners[0]!.make('wallet_send', {
      amount: '0.07',
      addresses: [await trio.owners[1]!.call<string>('address_unused')],
    });
    for (const host of trio.owners)
      for (const wallet of trio.owners.slice(0, 2))
        await until(`${host.name} knows of it`, async () => {
          const of = { wallet_id: wallet.walletAt(host), txid };
          return (await host.call<{ total_items: number }>('txo_list', of)).total_items === 1;
        });
    await allAgree(
      [foreign, txid].map((one) => ['transaction_show', { txid: one }]),
      null,
    );
    await allAgree(
      [
        ...['txo_list', 'utxo_list', 'transaction_list'].map((method) => [method, {}] as const),
        ...['account_balance', 'wallet_balance'].map((method) => [method, {}] as const),
        ['account_balance', { confirmations: 1 }],
        ['txo_list', { txid, is_my_input_or_output: true }],
        ['txo_sum', {}],
      ],
      trio.owners,
    );
  });
});
