/**
 * The unchanged daemon of lbry-sdk with `-hub` on regtest: it starts, syncs, receives and sends, creates a channel and a stream,
 * resolves and searches. It continues after a reorganisation, after a restart of the node, and with another hub. LBRYNET names
 * the program `lbrynet`; the test is skipped without it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PeerGroup } from './support/network.js';
import { freePort, type RegtestNode } from './support/node.js';
import { SdkDaemon } from './support/sdkDaemon.js';

const LBRYNET = process.env['LBRYNET'];
if (!LBRYNET) console.log('skipped: LBRYNET names no daemon');

interface Output {
  readonly claim_id: string;
  readonly txid: string;
  readonly height: number;
}
interface Tx {
  readonly txid: string;
  readonly outputs: readonly Output[];
}
interface Claim extends Output {
  readonly name: string;
  readonly canonical_url: string;
  readonly error?: { readonly name: string };
  readonly is_channel_signature_valid?: boolean;
  readonly signing_channel?: { readonly claim_id: string };
  readonly meta: { readonly support_amount: string; readonly claims_in_channel?: number };
}

describe.skipIf(!LBRYNET)('lbrynet', () => {
  const group = new PeerGroup();
  const folder = group.folder();
  let hubPort: number;
  let address: string;
  let node: RegtestNode;
  let daemon: SdkDaemon;
  let channelId: string;
  let streamId: string;

  const startNode = async (): Promise<void> => {
    node = await group.start({
      dataDir: folder,
      args: [
        '-hub',
        `-hubport=${hubPort}`,
        `-hubudpport=${hubPort}`,
        '-fallbackfee=0.0002',
        '-supportdelay=proportional',
        '-maxtipage=100000000',
      ],
    });
  };
  const height = (): Promise<number> => node.rpc<number>('getblockcount');
  /** Mines, and waits until the daemon has the block. */
  async function mine(blocks = 1): Promise<void> {
    await node.rpc('generatetoaddress', [blocks, address]);
    await seesTip();
  }
  async function seesTip(): Promise<void> {
    const tip = await height();
    await daemon.until(`it is at ${tip}`, async () => {
      const { wallet } = await daemon.call<{ wallet: { blocks: number } }>('status');
      return wallet.blocks === tip;
    });
  }
  async function resolve(url: string): Promise<Claim> {
    return (await daemon.call<Record<string, Claim>>('resolve', { urls: [url] }))[url]!;
  }
  /** Waits until a search finds these names. The search index may be behind the last block. */
  async function finds(constraints: object, names: string[]): Promise<void> {
    await daemon.until(`${JSON.stringify(constraints)} finds ${names.join(', ')}`, async () => {
      const { items } = await daemon.call<{ items: Claim[] }>('claim_search', constraints);
      expect(items.map(({ name }) => name).sort()).toEqual(names);
      return true;
    });
  }
  const balance = async (): Promise<number> =>
    Number((await daemon.call<{ total: string }>('wallet_balance')).total);

  beforeAll(async () => {
    hubPort = await freePort();
    await startNode();
    address = await node.rpc<string>('getnewaddress');
    await node.rpc('generatetoaddress', [130, address]);
  });
  afterAll(async () => {
    await daemon?.stop();
    await group.close();
  });

  it('starts and syncs', async () => {
    daemon = await SdkDaemon.start(LBRYNET!, [hubPort]);
    await seesTip();
    const { wallet } = await daemon.call<{ wallet: { servers: { port: number }[] } }>('status');
    expect(wallet.servers.map(({ port }) => port)).toEqual([hubPort]);
    expect(await balance()).toBe(0);
  });

  it('receives and sends', async () => {
    const own = await daemon.call<string>('address_unused');
    // Several payments, because the daemon does not spend unconfirmed change.
    for (let payment = 0; payment < 5; payment++) await node.rpc('sendtoaddress', [own, 4]);
    await daemon.until('the payments in the mempool arrive', async () => (await balance()) === 20);
    await mine();
    const theirs = await node.rpc<string>('getnewaddress');
    const { txid } = await daemon.call<Tx>('wallet_send', { amount: '2.5', addresses: [theirs] });
    expect(await node.rpc<string[]>('getrawmempool')).toContain(txid);
    await mine();
    expect(await node.rpc('getreceivedbyaddress', [theirs])).toBe(2.5);
    const left = await balance();
    expect(left).toBeLessThan(17.5);
    expect(left).toBeGreaterThan(17.4);
  });

  it('makes a channel and streams, resolves and searches', async () => {
    const channel = await daemon.call<Tx>('channel_create', { name: '@room', bid: '1.0', title: 'A room' });
    channelId = channel.outputs[0]!.claim_id;
    await mine();
    await daemon.until('it has its channel', async () => {
      const { items } = await daemon.call<{ items: Output[] }>('channel_list');
      return items.some(({ claim_id, height: at }) => claim_id === channelId && at > 0);
    });
    const stream = await daemon.call<Tx>('stream_create', {
      name: 'film',
      bid: '1.0',
      title: 'History of conspiracies',
      tags: ['history'],
      channel_name: '@room',
      file_path: daemon.file('film.txt', 'a film'),
    });
    streamId = stream.outputs[0]!.claim_id;
    await daemon.call('stream_create', {
      name: 'song',
      bid: '0.5',
      title: 'Song',
      file_path: daemon.file('song.txt', 'a song'),
    });
    await mine();
    const claim = await resolve('lbry://@room/film');
    expect(claim).toMatchObject({
      claim_id: streamId,
      height: await height(),
      is_channel_signature_valid: true,
      signing_channel: { claim_id: channelId },
    });
    expect(await resolve(`film#${streamId.slice(0, 3)}`)).toEqual(claim);
    expect((await resolve('@room')).meta.claims_in_channel).toBe(1);
    expect((await resolve('nothing')).error?.name).toBe('NOT_FOUND');
    await finds({ channel: '@room' }, ['film']);
    await finds({ text: 'conspiracy' }, ['film']);
    await finds({ any_tags: ['history'] }, ['film']);
    await finds({ claim_type: ['stream'] }, ['film', 'song']);
  });

  it('survives a reorganisation', async () => {
    const claimed = await height();
    expect((await resolve('film')).height).toBe(claimed);
    await mine(2);
    await node.rpc('invalidateblock', [await node.rpc<string>('getblockhash', [claimed])]);
    // The disconnected claims are unconfirmed. A lower priority keeps them out of the next blocks.
    for (const txid of await node.rpc<string[]>('getrawmempool'))
      await node.rpc('prioritisetransaction', [txid, 0, -100_000_000]);
    await mine(4);
    expect(await height()).toBe(claimed + 3);
    await daemon.until('the dropped claim is unconfirmed', async () => (await resolve('film')).height === 0);
    await finds({ channel_ids: [channelId] }, ['film']);
    for (const txid of await node.rpc<string[]>('getrawmempool'))
      await node.rpc('prioritisetransaction', [txid, 0, 100_000_000]);
    await mine();
    await daemon.until('the claim is back', async () => (await resolve('@room/film')).height === claimed + 4);
    expect(await resolve('@room/film')).toMatchObject({
      claim_id: streamId,
      is_channel_signature_valid: true,
    });
    await finds({ channel: '@room' }, ['film']);
  });

  it('verifies claims of a channel with a new key, and of a claim that is signed again', async () => {
    const belonging = { channel_ids: [channelId], has_channel_signature: true };
    /** The daemon's own verification and the answer of the hub are equal. */
    const agrees = async (isValid: boolean): Promise<void> => {
      const claim = await resolve('film');
      expect(claim.is_channel_signature_valid).toBe(isValid);
      expect((await resolve('lbry://@room/film')).claim_id).toBe(isValid ? streamId : undefined);
      expect((await resolve('@room')).meta.claims_in_channel).toBe(isValid ? 1 : 0);
      expect(claim.canonical_url.startsWith('lbry://@room')).toBe(isValid);
      await finds({ ...belonging, valid_channel_signature: true }, isValid ? ['film'] : []);
      await finds({ ...belonging, invalid_channel_signature: true }, isValid ? [] : ['film']);
      await finds({ channel: '@room' }, ['film']);
      const { items } = await daemon.call<{ items: Claim[] }>('claim_search', { claim_id: streamId });
      expect(items[0]).toMatchObject({
        is_channel_signature_valid: isValid,
        canonical_url: claim.canonical_url,
      });
      expect(items[0]!.signing_channel).toEqual(claim.signing_channel);
    };
    await agrees(true);
    await daemon.call('channel_update', { claim_id: channelId, new_signing_key: true });
    await mine();
    await agrees(false);
    await daemon.call('stream_update', { claim_id: streamId, channel_id: channelId });
    await mine();
    await agrees(true);
  });

  it('survives a restart of the node', async () => {
    await node.stop();
    await startNode();
    expect(await resolve('@room/film')).toMatchObject({ claim_id: streamId });
    const { txid } = await daemon.call<Tx>('support_create', { claim_id: streamId, amount: '0.25' });
    expect(await node.rpc<string[]>('getrawmempool')).toContain(txid);
    await mine();
    expect((await resolve('film')).meta.support_amount).toBe('0.25');
  });

  it('survives its hub, with a second one', async () => {
    const secondPort = await freePort();
    const second = await group.start({
      args: [
        '-hub',
        `-hubport=${secondPort}`,
        `-hubudpport=${secondPort}`,
        `-connect=127.0.0.1:${node.p2pPort}`,
        '-supportdelay=proportional',
        '-maxtipage=100000000',
      ],
    });
    const tip = await height();
    await expect.poll(() => second.rpc('getblockcount'), { timeout: 120_000 }).toBe(tip);
    await daemon.call('settings_set', {
      key: 'lbryum_servers',
      value: [`127.0.0.1:${hubPort}`, `127.0.0.1:${secondPort}`],
    });
    await daemon.call('wallet_reconnect');
    await node.stop();
    node = second;
    expect(await resolve('@room/film')).toMatchObject({ claim_id: streamId });
    await finds({ channel: '@room' }, ['film']);
    const { wallet } = await daemon.call<{ wallet: { servers: { port: number }[] } }>('status');
    expect(wallet.servers.map(({ port }) => port)).toEqual([secondPort]);
    await daemon.call('stream_abandon', { claim_id: streamId, blocking: false });
    await mine();
    expect((await resolve('film')).error?.name).toBe('NOT_FOUND');
  });
});
