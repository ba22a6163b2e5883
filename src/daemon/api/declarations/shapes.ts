/** Shapes that recur in the answers of methods. Source: lbry-sdk lbry/extras/daemon/json_response_encoder.py. */
import { t, type Schema, type SchemaFields } from '../../../schema/schema.js';

const lbc = (description: string): Schema => t.str(`${description} (LBC as text)`);
const orNull = (schema: Schema, when: string): Schema =>
  t.union([
    { when: '', schema },
    { when, schema: t.none() },
  ]);
const known = 'when it is known';

/** A nested output has no schema of its own here. */
const inner = (description: string): Schema => t.openObject({}, description);

const txoFields = {
  txid: t.hash('the transaction'),
  nout: t.int('position in the transaction'),
  height: t.int('block in which it is; 0 in the mempool, -2 when it was made just before'),
  amount: lbc('the amount'),
  address: orNull(t.str('who can spend it'), 'for scripts without an address'),
  confirmations: t.int('blocks on top of it, its own included; the height when it is in none'),
  timestamp: orNull(t.time('of its block'), 'when it is in no block'),
  type: t.oneOf(['claim', 'support', 'data', 'purchase', 'payment'], 'what it is'),
  claim_op: t.optional(t.oneOf(['create', 'update']), 'of claims'),
  is_spent: t.optional(t.bool('whether it is spent'), known),
  is_my_output: t.optional(t.bool('whether it pays to an account of the wallet'), known),
  is_expired: t.optional(
    t.bool('true: it has no effect any more, and can only be spent'),
    'for unspent claims and supports that have expired',
  ),
  is_my_input: t.optional(t.bool('whether an account of the wallet paid it'), known),
  is_internal_transfer: t.optional(t.bool('whether it is a payment from the wallet to itself'), known),
  sent_supports: t.optional(lbc('own supports for the claim'), 'when asked for'),
  sent_tips: t.optional(lbc('own tips for the claim'), 'when asked for'),
  received_tips: t.optional(lbc('tips for the claim'), 'when asked for'),
  name: t.optional(t.str('name of the claim'), 'of claims and supports'),
  normalized_name: t.optional(t.str('the name as names are compared'), 'of claims and supports'),
  claim_id: t.optional(t.claimId('the claim'), 'of claims, supports and purchases'),
  permanent_url: t.optional(t.str('URL with the full claim id'), 'of claims and supports'),
  short_url: t.optional(t.str('URL with the shortest id that tells it from others'), 'when it was resolved'),
  canonical_url: t.optional(t.str('short URL below that of the channel'), 'when it was resolved'),
  meta: t.optional(
    t.openObject({}, 'what the claim index knows of it: heights, amounts, whether it is controlling'),
    'of claims and supports; empty when it was not resolved',
  ),
  value: t.optional(t.openObject({}, 'what the claim or support says'), 'when it can be understood'),
  value_type: t.optional(t.str('type of the claim: stream, channel, collection or repost'), 'of claims'),
  protobuf: t.optional(t.hex('the value as bytes'), 'with `include_protobuf`'),
  has_signing_key: t.optional(t.bool('whether the wallet can sign for the channel'), 'of channels'),
  signing_channel: t.optional(inner('the channel that signed it, or its `channel_id` alone'), 'when signed'),
  is_channel_signature_valid: t.optional(t.bool('whether the signature is of that channel'), 'when signed'),
  reposted_claim: t.optional(inner('the claim that is reposted'), 'of reposts that were resolved'),
  claims: t.optional(t.array(t.any('a claim, null where there is none')), 'of collections, when asked for'),
  purchase_receipt: t.optional(inner('the purchase of the claim'), 'when it was bought'),
  claim: t.optional(inner('the claim that was bought'), 'of purchases that were resolved'),
} satisfies SchemaFields;

/** An output. */
export const txo = t.named('Txo', t.object(txoFields, 'an output'));

/** An output, or the outpoint of an unknown input. */
const txInput = t.named(
  'TxInput',
  t.union([
    { when: 'when it is known', schema: txo },
    { when: 'else', schema: t.object({ txid: t.hash('the transaction'), nout: t.int('its output') }) },
  ]),
);

export const transaction = t.named(
  'Transaction',
  t.object(
    {
      txid: t.hash('hash of the transaction'),
      height: t.int('block in which it is; 0 in the mempool, -2 when it was made just before'),
      inputs: t.array(txInput, 'the outputs that it spends'),
      outputs: t.array(txo, 'its outputs'),
      total_input: lbc('sum of what is spent'),
      total_output: lbc('sum of what is paid'),
      total_fee: lbc('the fee'),
      hex: t.hex('the whole transaction'),
    },
    'a transaction',
  ),
);

const chain = (description: string): Schema =>
  t.object(
    { gap: t.int('unused addresses ahead'), maximum_uses_per_address: t.int('uses of one address') },
    description,
  );

const addressGenerator = t.object(
  {
    name: t.oneOf(['deterministic-chain', 'single-address'], 'how addresses are made'),
    receiving: t.optional(chain('of receiving addresses'), 'of chains'),
    change: t.optional(chain('of change addresses'), 'of chains'),
  },
  'how addresses are made',
);

const accountFields = {
  id: t.str('the account id'),
  name: t.str('its name'),
  ledger: t.str('currency and network'),
  encrypted: t.bool('whether it is locked'),
  public_key: t.str('extended public key'),
  address_generator: addressGenerator,
  address_type: t.optional(
    t.oneOf(['p2wpkh'], 'P2WPKH in bech32'),
    'of accounts whose addresses are not P2PKH',
  ),
} satisfies SchemaFields;

const wholeAccountFields = {
  ...accountFields,
  is_default: t.bool('whether it is the default account'),
  private_key: orNull(t.str('extended private key'), 'of watch-only accounts'),
  seed: orNull(
    t.str('seed words that restore the account'),
    'of watch-only accounts, and of keys of other wallets',
  ),
  modified_on: t.num('when its settings were last changed (seconds since 1970)'),
} satisfies SchemaFields;

export const account = t.named('Account', t.object(wholeAccountFields, 'an account'));

/** The answer of `account_add`. */
export const addedAccount = t.object(
  { ...wholeAccountFields, form: t.str('the form of the seed or key that was given') },
  'the account, and the form of its seed or key',
);

export const listedAccount = t.named(
  'ListedAccount',
  t.object(
    {
      ...accountFields,
      certificates: t.int('number of channel keys that were brought from outside'),
      coins: t.num('balance in LBC, two decimals'),
      satoshis: t.int('balance in dewies'),
      is_default: t.optional(t.bool('whether it is the default account'), 'without `account_id`'),
      seed: t.optional(t.any('words from which the account can be made again'), 'with `show_seed`'),
    },
    'an account in a list',
  ),
);

export const wallet = t.named(
  'Wallet',
  t.object({ id: t.str('the wallet id'), name: t.str('its name') }, 'a wallet'),
);

export const address = t.named(
  'Address',
  t.object(
    {
      address: t.str('the address'),
      account: t.str('the account id'),
      used_times: t.int('transactions in which it is'),
      pubkey: t.str('extended public key'),
    },
    'an address',
  ),
);

export const balance = t.named(
  'Balance',
  t.object(
    {
      total: lbc("all that is the wallet's"),
      available: lbc('what can be spent'),
      reserved: lbc('the amounts in claims, supports and tips'),
      reserved_subtotals: t.object({
        claims: lbc('in claims'),
        supports: lbc('in own supports'),
        tips: lbc('in tips that were received'),
      }),
    },
    'a balance',
  ),
);

const notSaved = 'while nothing is saved';
const withoutClaim = 'while it has no claim';
const downloading = 'while blobs of it are downloaded';

/** Source: lbry-sdk lbry/extras/daemon/json_response_encoder.py `encode_file`. */
const fileFields = {
  streaming_url: t.str('URL for players'),
  completed: t.bool('whether the saved file is complete'),
  file_name: orNull(t.str('name of the saved file'), notSaved),
  download_directory: orNull(t.str('folder of the saved file'), notSaved),
  download_path: orNull(t.str('path of the saved file'), notSaved),
  points_paid: t.num('0: blobs cost nothing'),
  stopped: t.bool('whether it is neither being saved nor played'),
  stream_hash: t.str('hash of the stream'),
  stream_name: t.str('name of the published file'),
  suggested_file_name: t.str('default name of the saved file'),
  sd_hash: t.str('hash of the stream descriptor'),
  mime_type: t.str('media type, from the suggested name'),
  key: t.str('AES key of the stream as hexadecimal digits'),
  total_bytes_lower_bound: t.int('least size of the whole file in bytes'),
  total_bytes: t.int('greatest size of the whole file in bytes'),
  written_bytes: t.int('bytes of the saved file; 0 while nothing is saved'),
  blobs_completed: t.int('data blobs that are stored'),
  blobs_in_stream: t.int('data blobs of the stream'),
  blobs_remaining: t.int('data blobs that are missing'),
  status: t.oneOf(
    ['running', 'finished', 'stopped'],
    'running while it is being saved or played, finished when it is saved',
  ),
  claim_id: orNull(t.claimId('its claim'), withoutClaim),
  txid: orNull(t.hash('transaction of its claim'), withoutClaim),
  nout: orNull(t.int('output of its claim'), withoutClaim),
  outpoint: orNull(t.str('transaction and output of its claim'), withoutClaim),
  metadata: orNull(t.openObject({}, 'the decoded value of the claim'), 'without a claim that can be decoded'),
  protobuf: orNull(t.hex('the value of the claim as bytes'), withoutClaim),
  channel_claim_id: orNull(t.claimId('the channel that signed the claim'), 'without one'),
  channel_name: orNull(t.str('name of that channel'), 'while it is not known'),
  claim_name: orNull(t.str('name of its claim'), withoutClaim),
  content_fee: orNull(transaction, 'if the download paid no price'),
  purchase_receipt: orNull(txo, 'if the wallet has no purchase of it, and outside of lists'),
  added_on: t.time('when it was added'),
  height: orNull(t.int('block height of its claim; 0 or below in the mempool'), withoutClaim),
  confirmations: orNull(t.int('confirmations of its claim'), 'while that is not known'),
  timestamp: orNull(t.time('of the block of its claim'), 'while that is not known'),
  is_pinned: t.bool('whether its blobs are kept when disk space runs short'),
  original_file: orNull(
    t.oneOf(['unchanged', 'changed'], 'whether the published file is unchanged'),
    'where blobs are on disk',
  ),
  is_fully_reflected: t.bool('whether a reflector has it'),
  reflector_progress: t.int('progress of the upload to a reflector in percent; 0 without an upload'),
  uploading_to_reflector: t.bool('whether it is being sent to a reflector'),
  reflector_error: t.optional(t.str('why the last upload failed'), 'when it failed'),
  peers: t.optional(t.int('connected peers'), downloading),
  bytes_per_second: t.optional(t.int('download rate'), downloading),
  seconds_left: t.optional(
    orNull(t.int('remaining time at this rate'), 'while no data arrives'),
    downloading,
  ),
} satisfies SchemaFields;

/** A file. */
export const file = t.named('File', t.object(fileFields, 'a file'));

export const peer = t.named(
  'Peer',
  t.object(
    {
      address: t.str('IP address'),
      udp_port: orNull(t.int('port of the DHT'), 'when it is not known'),
      tcp_port: orNull(t.int('port of the blob exchange'), 'when it is not known'),
      node_id: orNull(t.str('id in the DHT'), 'when it is not known'),
    },
    'a peer',
  ),
);

const pageFields = {
  page: t.int('number of this page'),
  page_size: t.int('most items of a page'),
  total_pages: t.optional(t.int('number of pages'), 'without `no_totals`'),
  total_items: t.optional(t.int('number of items'), 'without `no_totals`'),
} satisfies SchemaFields;

/** A page of a list, by the name of its items. */
export function pageOf(name: string, item: Schema, more: SchemaFields = {}): Schema {
  return t.named(
    `${name}Page`,
    t.object({ items: t.array(item, 'the items'), ...pageFields, ...more }, 'a page'),
  );
}

export const txoPage = pageOf('Txo', txo);
export const accountPage = pageOf('ListedAccount', listedAccount);
export const addressPage = pageOf('Address', address);
export const walletPage = pageOf('Wallet', wallet);
export const filePage = pageOf('File', file);

/** Outputs in a transaction of a list. */
const entries = (description: string, more: SchemaFields): Schema =>
  t.array(
    t.object({
      address: orNull(t.str('who can spend it'), 'for scripts without an address'),
      balance_delta: lbc('what it changed in the wallet'),
      amount: lbc('the amount'),
      nout: t.int('position in its transaction'),
      claim_id: t.claimId('the claim'),
      ...more,
    }),
    description,
  );
const named = { claim_name: t.str('name of the claim') } satisfies SchemaFields;
const spent = {
  is_spent: orNull(t.bool('whether it is spent'), 'for outputs of others, where it is not known'),
} satisfies SchemaFields;

export const transactionPage = pageOf(
  'ListedTransaction',
  t.named(
    'ListedTransaction',
    t.object(
      {
        txid: t.hash('the transaction'),
        timestamp: t.any('time of its block; null in the mempool'),
        date: t.any('the same as text; null in the mempool'),
        confirmations: t.int('blocks on top of it, its own included'),
        value: lbc('what it changed in the wallet, without the fee'),
        fee: lbc('what the wallet paid for it, negative'),
        claim_info: entries('claims that were made', { ...named, ...spent }),
        update_info: entries('claims that were updated', { ...named, ...spent }),
        support_info: entries('supports', {
          ...named,
          ...spent,
          is_tip: t.bool('whether it was given away, or came from others'),
        }),
        abandon_info: entries('claims and supports that were abandoned', named),
        purchase_info: entries('purchases', spent),
      },
      'a transaction in a list',
    ),
  ),
);

export const searchPage = pageOf('FoundClaim', txo, {
  blocked: t.optional(
    t.object({ total: t.int('claims that were left out'), channels: t.array(t.openObject({}, 'by whom')) }),
    'what channels that block claims kept out',
  ),
});

export const ffmpegShape = t.named(
  'Ffmpeg',
  t.object(
    {
      available: t.bool('whether ffmpeg and ffprobe were found'),
      which: orNull(t.str('path of ffmpeg'), 'when there is none'),
      analyze_audio_volume: t.bool('whether the volume of sound is looked at'),
    },
    'what is known of ffmpeg',
  ),
);

export const versionShape = t.named(
  'Version',
  t.object(
    {
      lbcnet_version: t.str('version of this daemon'),
      lbrynet_version: t.str('generation of lbrynet that it is compatible with'),
      version: t.str('the same'),
      build: t.str('kind of build'),
      processor: t.str('processor'),
      platform: t.str('system in one text'),
      os_system: t.str('system'),
      os_release: t.str('its release'),
      python_version: t.str('what it runs on'),
      distro: t.optional(t.openObject({}, 'the distribution'), 'on Linux'),
      desktop: t.optional(t.str('the desktop'), 'on Linux'),
    },
    'versions',
  ),
);

const withHeight = 'once a hub told how high its chain is';
const withHistories = 'while a hub is asked for histories';

const walletStatusShape = t.object(
  {
    connected: orNull(t.str('the hub of the moment'), 'without one'),
    connected_features: orNull(t.openObject({}, 'what it says of itself'), 'without one'),
    servers: t.array(t.openObject({}, 'the same with its latency')),
    connected_servers: t.array(t.openObject({}, 'the same')),
    known_servers: t.int('hubs that may be asked'),
    available_servers: t.int('hubs that are connected'),
    headers_synchronization_progress: t.optional(t.int('0 to 100'), withHeight),
    blocks: t.optional(t.int('height of the last block header'), withHeight),
    blocks_behind: t.optional(t.int('block headers that are missing'), withHeight),
    best_blockhash: t.optional(t.hash('the last block'), withHeight),
    is_syncing: t.bool('whether the histories of wallets are not all known'),
    history_synchronization_progress: t.optional(t.int('0 to 100'), withHistories),
    addresses: t.optional(t.int('addresses that the hub is asked for'), withHistories),
    addresses_behind: t.optional(t.int('those whose histories are not yet known'), withHistories),
    transactions_fetched: t.optional(t.int('transactions that came from this hub'), withHistories),
    is_encrypted: orNull(t.bool('whether the default wallet is encrypted'), 'without one'),
    is_locked: orNull(t.bool('whether it is locked'), 'without one'),
  },
  'hub, headers, histories and locks',
);

const transferShape = t.named(
  'Transfer',
  t.object(
    {
      id: t.int('number in this run of the daemon'),
      kind: t.str(
        'download (to a file), publish (a file becomes a stream) or reflect (a stream goes to a reflector)',
      ),
      sd_hash: orNull(t.str('hash of the stream descriptor'), 'while the stream is made'),
      claim_name: orNull(t.str('name of the claim'), 'where it is not known'),
      path: orNull(t.str('the file that is written or read'), 'for a reflector'),
      reflector: orNull(t.str('HOST:PORT'), 'without one'),
      bytes_done: t.int('bytes that are through'),
      bytes_total: orNull(t.int('bytes in all'), 'while that is not known'),
      bytes_per_second: t.int('over the last seconds'),
      seconds_left: orNull(t.int('remaining time at this rate'), 'while no data arrives'),
      peers: orNull(t.int('peers and servers with a connection'), 'where none takes part'),
    },
    'a file or stream on its way',
  ),
);

export const statusShape = t.named(
  'Status',
  t.openObject(
    {
      installation_id: t.str('what tells this installation from others'),
      is_running: t.bool('whether all parts have started'),
      skipped_components: t.array(t.str('a part that is not started')),
      startup_status: t.map('component', t.bool('whether it has started')),
      ffmpeg_status: ffmpegShape,
      connection_status: t.optional(
        t.object({ code: t.str('the state'), message: t.str('in words') }),
        'with the wallet',
      ),
      blockchain_headers: t.optional(
        t.object({
          downloading_headers: t.bool('whether headers are coming'),
          download_progress: t.num('0 to 100'),
        }),
        'once a hub told how high its chain is',
      ),
      wallet: t.optional(walletStatusShape, 'with the wallet'),
      transfers: t.array(transferShape, 'what is on its way; lbrynet has no such field'),
      dht: t.optional(
        t.object({
          node_id: orNull(t.str('own id in the DHT'), 'before it runs'),
          peers_in_routing_table: t.int('peers that it knows'),
        }),
        'with the DHT',
      ),
      hash_announcer: t.optional(
        t.object({ announce_queue_size: t.int('blobs that wait for their announcement') }),
        'with the announcer',
      ),
      upnp: t.optional(
        t.object({
          aioupnp_version: t.str('what talks to gateways'),
          redirects: t.map('TCP or UDP', t.int('external port')),
          gateway: t.str('its name, or that there is none'),
          dht_redirect_set: t.bool('whether the port of the DHT is forwarded'),
          peer_redirect_set: t.bool('whether the port of the blob exchange is forwarded'),
          external_ip: orNull(t.str('own address as others see it'), 'while it is not known'),
        }),
        'unless it is skipped',
      ),
    },
    'how the daemon is doing; each part that runs adds a field under its name',
  ),
);
