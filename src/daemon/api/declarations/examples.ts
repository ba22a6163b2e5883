/**
 * Examples of calls of every method: parameters by name, as JSON has them. Help and the reference show each as a command
 * line and as a request (`api/exampleLines.ts`).
 */

/** The value of a parameter. */
export type ExampleValue = string | number | boolean | readonly string[];

/** Parameters of one call, by their names. */
export type Example = Readonly<Record<string, ExampleValue>>;

const ACCOUNT = 'bW5PZEvEBNPQRVhwpYXSjabFgbSw1oaHyR';
const ADDRESS = 'bCqJcQrPsDSsB8UUzSsvuApMW9TX8ffEWk';
const CLAIM = '36a719a156a1df178531f3c712b8b37f8e7cc3b3';
const OTHER_CLAIM = '8b8a2b6b1c9d1f9f0b1dc7f0a7a3f6e2d4c5b6a7';
const CHANNEL = 'd1d6b3a0c4e5f60718293a4b5c6d7e8f90a1b2c3';
const TXID = '36a719a156a1df178531f3c712b8b37f8e7cc3b36eea532df961229d936272a1';
const BLOB =
  'a3a6f4d1e2b5c8978f6e5d4c3b2a19081726354453627180f1e2d3c4b5a69788796a5b4c3d2e1f00ffeeddccbbaa9988';
const SD_BLOB =
  'b4c6f4d1e2b5c8978f6e5d4c3b2a19081726354453627180f1e2d3c4b5a69788796a5b4c3d2e1f00ffeeddccbbaa9977';
const NODE_ID =
  'c5d6f4d1e2b5c8978f6e5d4c3b2a19081726354453627180f1e2d3c4b5a69788796a5b4c3d2e1f00ffeeddccbbaa9966';
const SEED = 'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent';
const URL_OF_STREAM = 'lbry://@me#d/hello#3';

/** Examples by method; each method has at least one. */
export const EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  account_add: [{ account_name: 'savings', seed: SEED }],
  account_balance: [{}, { account_id: ACCOUNT, confirmations: 6 }],
  account_create: [{ account_name: 'savings' }, { account_name: 'rent', single_key: true }],
  account_deposit: [
    {
      txid: TXID,
      nout: 0,
      redeem_script: '03a01900b17576a914411d3ffb5ad28b03a5be5a4ec2b4ac8cbc0f47c288ac',
      private_key: 'my private key',
    },
  ],
  account_fund: [
    { to_account: ACCOUNT, amount: '1.5', broadcast: true },
    { to_account: ACCOUNT, everything: true, outputs: 5 },
  ],
  account_list: [{}, { account_id: ACCOUNT, include_claims: true }],
  account_max_address_gap: [{ account_id: ACCOUNT }],
  account_remove: [{ account_id: ACCOUNT }],
  account_send: [{ amount: '0.5', addresses: [ADDRESS], account_id: ACCOUNT }],
  account_set: [{ account_id: ACCOUNT, new_name: 'everyday', default: true }],
  address_is_mine: [{ address: ADDRESS }],
  address_list: [{}, { account_id: ACCOUNT, page: 2, page_size: 50 }],
  address_unused: [{}, { wallet_id: 'savings' }],
  blob_announce: [{ blob_hash: BLOB }, { sd_hash: SD_BLOB }],
  blob_clean: [{}],
  blob_delete: [{ blob_hash: BLOB }],
  blob_get: [{ blob_hash: BLOB, timeout: 30 }],
  blob_list: [{}, { uri: URL_OF_STREAM, needed: true }],
  blob_reflect: [{ blob_hashes: [BLOB, SD_BLOB], reflector_server: 'reflector.example.com:5567' }],
  blob_reflect_all: [{}],
  blob_restore: [{}, { sd_hash: SD_BLOB }],
  channel_abandon: [{ claim_id: CHANNEL }],
  channel_create: [
    { name: '@me', bid: '0.1' },
    { name: '@me', bid: '0.1', title: 'It is me', tags: ['art', 'open source'], email: 'me@example.com' },
  ],
  channel_export: [{ channel_id: CHANNEL }, { channel_name: '@me' }],
  channel_import: [{ channel_data: '7PyDp3nL…' }],
  channel_list: [{}, { name: ['@me'], resolve: true }],
  channel_sign: [{ channel_name: '@me', hexdata: '68656c6c6f' }],
  channel_update: [
    { claim_id: CHANNEL, title: "It's me", clear_tags: true, tags: ['art'] },
    { claim_id: CHANNEL, new_signing_key: true },
  ],
  claim_list: [{}, { claim_type: ['stream', 'channel'], page_size: 50 }],
  claim_search: [
    { text: 'satoshi', order_by: ['release_time'], page_size: 5 },
    { channel: '@me', claim_type: 'stream', release_time: '>=1577836800', no_totals: true },
    { any_tags: ['art', 'music'], not_tags: ['mature'], order_by: ['trending_score', '^name'] },
  ],
  collection_abandon: [{ claim_id: CLAIM }],
  collection_create: [{ name: 'best', bid: '0.05', claims: [CLAIM, OTHER_CLAIM], title: 'The best' }],
  collection_list: [{}, { resolve_claims: 5 }],
  collection_resolve: [{ claim_id: CLAIM }, { url: 'lbry://best#3' }],
  collection_update: [{ claim_id: CLAIM, clear_claims: true, claims: [OTHER_CLAIM] }],
  ffmpeg_find: [{}],
  file_delete: [{ claim_id: CLAIM, delete_from_download_dir: true }],
  file_list: [{}, { channel_name: '@me', sort: 'added_on', reverse: true }],
  file_pin: [{}, { claim_id: CLAIM }, { channel_id: [CHANNEL] }],
  file_rebuild: [{}],
  file_reflect: [{ sd_hash: SD_BLOB }],
  file_save: [{ claim_id: CLAIM, download_directory: '/home/me/Downloads' }],
  file_set_status: [{ status: 'stop', sd_hash: SD_BLOB }],
  file_unpin: [{ claim_id: CLAIM }, { channel_id: [CHANNEL] }],
  get: [{ uri: URL_OF_STREAM }, { uri: URL_OF_STREAM, download_directory: '/home/me/My films' }],
  peer_list: [{ blob_hash: SD_BLOB }],
  peer_ping: [{ node_id: NODE_ID, address: '203.0.113.7', port: 4444 }, { node_id: NODE_ID }],
  preference_get: [{}, { key: 'theme' }],
  preference_set: [
    { key: 'theme', value: 'dark' },
    { key: 'feed', value: '{"sort": "new"}' },
  ],
  publish: [
    { name: 'hello', bid: '0.2', file_path: '/home/me/hello.mp4', title: 'Hello', channel_name: '@me' },
    { name: 'hello', bid: '0.2', sd_hash: SD_BLOB, fee_currency: 'lbc', fee_amount: '0.5' },
  ],
  purchase_create: [{ claim_id: CLAIM }, { url: URL_OF_STREAM, override_max_key_fee: true }],
  purchase_list: [{}, { resolve: true }],
  resolve: [{ urls: [URL_OF_STREAM] }, { urls: ['@me', 'hello'], include_is_my_output: true }],
  routing_table_get: [{}],
  settings_clear: [{ key: 'jurisdiction' }],
  settings_get: [{}],
  settings_set: [
    { key: 'jurisdiction', value: 'FR' },
    { key: 'lbryum_servers', value: '["localhost:50001"]' },
  ],
  status: [{}],
  stop: [{}],
  stream_abandon: [{ claim_id: CLAIM }, { txid: TXID, nout: 0 }],
  stream_cost_estimate: [{ uri: URL_OF_STREAM }],
  stream_create: [
    {
      name: 'hello',
      bid: '0.2',
      file_path: '/home/me/hello.mp4',
      title: 'Hello',
      channel_name: '@me',
      tags: ['art'],
      languages: ['en', 'pt-BR'],
    },
  ],
  stream_list: [{}, { account_id: ACCOUNT, page: 1, page_size: 20 }],
  stream_repost: [{ name: 'hello-again', bid: '0.01', claim_id: CLAIM, channel_name: '@me' }],
  stream_update: [
    { claim_id: CLAIM, title: 'Hello, again', bid: '0.3' },
    { claim_id: CLAIM, clear_fee: true, clear_channel: true },
  ],
  support_abandon: [{ claim_id: CLAIM }, { claim_id: CLAIM, keep: '0.1' }],
  support_create: [
    { claim_id: CLAIM, amount: '0.3' },
    { claim_id: CLAIM, amount: '0.3', tip: true, channel_name: '@me', comment: 'Thank you' },
  ],
  support_list: [{}, { received: true, page_size: 50 }],
  support_sum: [{ claim_id: CLAIM, new_sdk_server: 'hub.example.com:50001', include_channel_content: true }],
  sync_apply: [{ password: 'my pass phrase' }],
  sync_hash: [{}, { wallet_id: 'savings' }],
  tracemalloc_disable: [{}],
  tracemalloc_enable: [{}],
  tracemalloc_top: [{ items: 20 }],
  transaction_list: [{}, { account_id: ACCOUNT, page: 1, page_size: 20 }],
  transaction_show: [{ txid: TXID }],
  txo_list: [
    { type: ['stream', 'support'], is_not_spent: true },
    { channel_id: [CHANNEL], order_by: 'height', no_totals: true },
  ],
  txo_plot: [
    { type: ['support'], days_back: 30 },
    { start_day: '2026-01-01', end_day: '2026-01-31' },
  ],
  txo_spend: [{ type: ['support'], is_not_my_input: true, preview: true }],
  txo_sum: [{ type: ['stream', 'channel'], is_not_spent: true }],
  utxo_list: [{}, { account_id: ACCOUNT }],
  utxo_release: [{}],
  version: [{}],
  wallet_add: [{ wallet_id: 'savings' }],
  wallet_balance: [{}, { wallet_id: 'savings', confirmations: 6 }],
  wallet_create: [{ wallet_id: 'savings', create_account: true }],
  wallet_decrypt: [{}],
  wallet_encrypt: [{ new_password: 'my pass phrase' }],
  wallet_export: [{ wallet_id: 'savings' }, { password: 'my pass phrase' }],
  wallet_import: [{ data: '{"version": 1, "name": "savings", "accounts": []}' }],
  wallet_list: [{}],
  wallet_lock: [{ wallet_id: 'savings' }],
  wallet_reconnect: [{}],
  wallet_remove: [{ wallet_id: 'savings' }],
  wallet_send: [{ amount: '0.5', addresses: [ADDRESS] }],
  wallet_status: [{}, { wallet_id: 'savings' }],
  wallet_unlock: [{ password: 'my pass phrase' }],
};
