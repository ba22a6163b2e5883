/** Shapes that recur in the answers of methods. Source: lbry-sdk lbry/extras/daemon/json_response_encoder.py. */
import { t, type Schema, type SchemaFields } from '../../../schema/schema.js';

const lbc = (description: string): Schema => t.str(`${description} (LBC as text)`);
/** Schema of a value that is null under the condition `when`. */
const orNull = (schema: Schema, when: string, description = schema.description): Schema =>
  t.union(
    [
      { when: '', schema },
      { when, schema: t.none() },
    ],
    `${description}; null ${when}`,
  );
const known = 'if known';
const requested = 'if requested';
const withoutAddress = 'if the script has no address';
const HEIGHT =
  'block height; 0 in the mempool, -1 in the mempool with unconfirmed inputs, -2 if not yet sent to a hub';

/** Schema of an output within another output. It has no fields of its own, so that schemas do not contain themselves. */
const inner = (description: string): Schema => t.openObject({}, description);

const txoFields = {
  txid: t.hash('id of the transaction'),
  nout: t.int('index of the output in its transaction'),
  height: t.int(HEIGHT),
  amount: lbc('amount of the output'),
  address: orNull(t.str('address that can spend the output'), withoutAddress),
  confirmations: t.int('number of confirmations; if unconfirmed, the height'),
  timestamp: orNull(t.time('block time'), 'if unconfirmed'),
  type: t.oneOf(['claim', 'support', 'data', 'purchase', 'payment'], 'type of the output'),
  claim_op: t.optional(t.oneOf(['create', 'update'], 'whether the claim is new or updated'), 'for claims'),
  is_spent: t.optional(t.bool('whether the output is spent'), known),
  is_my_output: t.optional(t.bool('whether the output pays to an account of the wallet'), known),
  is_expired: t.optional(
    t.bool('true: the output has no effect any more, and can only be spent'),
    'for unspent claims and supports that have expired',
  ),
  is_my_input: t.optional(t.bool('whether an account of the wallet funded the output'), known),
  is_internal_transfer: t.optional(
    t.bool('whether the output is a payment from the wallet to itself'),
    known,
  ),
  sent_supports: t.optional(lbc('sum of your supports for the claim'), requested),
  sent_tips: t.optional(lbc('sum of the tips that you sent for the claim'), requested),
  received_tips: t.optional(lbc('sum of the tips received for the claim'), requested),
  name: t.optional(t.str('name of the claim'), 'for claims and supports'),
  normalized_name: t.optional(
    t.str('normalized name, by which names are compared'),
    'for claims and supports',
  ),
  claim_id: t.optional(t.claimId('id of the claim'), 'for claims, supports and purchases'),
  permanent_url: t.optional(t.str('URL with the full claim id'), 'for claims and supports'),
  short_url: t.optional(t.str('URL with the shortest unique prefix of the claim id'), 'if resolved'),
  canonical_url: t.optional(
    t.str('short URL of the channel followed by that of the claim; without a channel, the short URL'),
    'if resolved',
  ),
  meta: t.optional(
    t.openObject({}, 'data from the claim index: heights, amounts, whether the claim is controlling'),
    'for claims and supports; empty if not resolved',
  ),
  value: t.optional(t.openObject({}, 'decoded value of the claim or support'), 'if it can be decoded'),
  value_type: t.optional(t.str('type of the claim: stream, channel, collection or repost'), 'for claims'),
  protobuf: t.optional(t.hex('serialized value of the claim or support'), 'with `include_protobuf`'),
  has_signing_key: t.optional(
    t.bool('whether the wallet has the signing key of the channel'),
    'for channels',
  ),
  signing_channel: t.optional(
    inner('channel that signed the claim or support; only its `channel_id`, if the channel is unknown'),
    'if signed',
  ),
  is_channel_signature_valid: t.optional(
    t.bool('whether the signature of the channel is valid'),
    'if signed',
  ),
  reposted_claim: t.optional(inner('the reposted claim'), 'for resolved reposts'),
  claims: t.optional(
    t.array(t.any('a claim; null if not found'), 'claims of the collection'),
    'for collections, if requested',
  ),
  purchase_receipt: t.optional(
    inner('receipt of the purchase'),
    'if requested and the wallet bought the claim',
  ),
  claim: t.optional(inner('the purchased claim'), 'for resolved purchases'),
} satisfies SchemaFields;

/** An output. */
export const txo = t.named('Txo', t.object(txoFields, 'an output'));

/** Input of a transaction: the spent output, or only its outpoint if the output is unknown. */
const txInput = t.named(
  'TxInput',
  t.union([
    { when: 'if the spent output is known', schema: txo },
    {
      when: 'otherwise',
      schema: t.object({
        txid: t.hash('id of the spent transaction'),
        nout: t.int('index of the spent output'),
      }),
    },
  ]),
);

export const transaction = t.named(
  'Transaction',
  t.object(
    {
      txid: t.hash('id of the transaction'),
      height: t.int(HEIGHT),
      inputs: t.array(txInput, 'outputs that the transaction spends'),
      outputs: t.array(txo, 'outputs of the transaction'),
      total_input: lbc('sum of the known inputs'),
      total_output: lbc('sum of the outputs'),
      total_fee: lbc('fee: total_input less total_output'),
      hex: t.hex('the serialized transaction'),
    },
    'a transaction',
  ),
);

const chain = (description: string): Schema =>
  t.object(
    {
      gap: t.int('number of unused addresses that are kept ahead'),
      maximum_uses_per_address: t.int('maximum number of transactions per address'),
    },
    description,
  );

const addressGenerator = t.object(
  {
    name: t.oneOf(['deterministic-chain', 'single-address'], 'type of the generator'),
    receiving: t.optional(chain('chain of receiving addresses'), 'for deterministic-chain'),
    change: t.optional(chain('chain of change addresses'), 'for deterministic-chain'),
  },
  'generator of the addresses',
);

const accountFields = {
  id: t.str('id of the account'),
  name: t.str('name of the account'),
  ledger: t.str('currency and network'),
  encrypted: t.bool('whether the account is locked'),
  public_key: t.str('extended public key'),
  address_generator: addressGenerator,
  address_type: t.optional(
    t.oneOf(['p2wpkh'], 'type of the addresses: P2WPKH in bech32'),
    'if the addresses are not P2PKH',
  ),
} satisfies SchemaFields;

const wholeAccountFields = {
  ...accountFields,
  is_default: t.bool('whether the account is the default account of the wallet'),
  private_key: orNull(t.str('extended private key'), 'for watch-only accounts'),
  seed: orNull(
    t.str('seed words that restore the account'),
    'for watch-only accounts and for accounts with keys of other wallets',
  ),
  modified_on: t.num('time of the last change of the settings of the account (seconds since 1970)'),
} satisfies SchemaFields;

export const account = t.named('Account', t.object(wholeAccountFields, 'an account'));

/** Schema of the answer of `account_add`. */
export const addedAccount = t.object(
  { ...wholeAccountFields, form: t.str('format of the seed or key that was passed') },
  'the account, and the format of its seed or key',
);

export const listedAccount = t.named(
  'ListedAccount',
  t.object(
    {
      ...accountFields,
      certificates: t.int('number of stored channel keys that are not derived from the seed'),
      coins: t.num('spendable balance in LBC, rounded to two decimals'),
      satoshis: t.int('spendable balance in dewies'),
      is_default: t.optional(
        t.bool('whether the account is the default account of the wallet'),
        'without `account_id`',
      ),
      seed: t.optional(t.any('seed words that restore the account'), 'with `show_seed`'),
    },
    'an account in a list',
  ),
);

export const wallet = t.named(
  'Wallet',
  t.object({ id: t.str('id of the wallet'), name: t.str('name of the wallet') }, 'a wallet'),
);

export const address = t.named(
  'Address',
  t.object(
    {
      address: t.str('the address'),
      account: t.str('id of the account'),
      used_times: t.int('number of transactions with the address'),
      pubkey: t.str('extended public key of the address'),
    },
    'an address',
  ),
);

export const balance = t.named(
  'Balance',
  t.object(
    {
      total: lbc('total balance'),
      available: lbc('spendable balance'),
      reserved: lbc('balance in claims, supports and received tips'),
      reserved_subtotals: t.object(
        {
          claims: lbc('balance in claims'),
          supports: lbc('balance in own supports'),
          tips: lbc('balance in received tips'),
        },
        'parts of the reserved balance',
      ),
    },
    'a balance',
  ),
);

const notSaved = 'if no file is saved';
const withoutClaim = 'if the file has no claim';
const downloading = 'during a download';

/** Fields of a file in answers. Source: lbry-sdk lbry/extras/daemon/json_response_encoder.py `encode_file`. */
const fileFields = {
  streaming_url: t.str('URL of the content for media players'),
  completed: t.bool('whether the saved file is complete'),
  file_name: orNull(t.str('name of the saved file'), notSaved),
  download_directory: orNull(t.str('folder of the saved file'), notSaved),
  download_path: orNull(t.str('path of the saved file'), notSaved),
  points_paid: t.num('always 0, because blobs are free'),
  stopped: t.bool('whether the file is neither being saved nor being played'),
  stream_hash: t.str('hash of the stream'),
  stream_name: t.str('name of the published file'),
  suggested_file_name: t.str('default name of the saved file'),
  sd_hash: t.str('hash of the stream descriptor'),
  mime_type: t.str('media type, derived from the suggested name'),
  key: t.str('AES key of the stream in hex'),
  total_bytes_lower_bound: t.int('minimum size of the whole file in bytes'),
  total_bytes: t.int('maximum size of the whole file in bytes'),
  written_bytes: t.int('size of the saved file in bytes; 0 if no file is saved'),
  blobs_completed: t.int('number of stored data blobs'),
  blobs_in_stream: t.int('number of data blobs of the stream'),
  blobs_remaining: t.int('number of missing data blobs'),
  status: t.oneOf(
    ['running', 'finished', 'stopped'],
    'running: being saved or played; finished: completely saved; stopped: neither',
  ),
  claim_id: orNull(t.claimId('id of the claim'), withoutClaim),
  txid: orNull(t.hash('id of the transaction of the claim'), withoutClaim),
  nout: orNull(t.int('index of the claim output in its transaction'), withoutClaim),
  outpoint: orNull(t.str('outpoint (TXID:NOUT) of the claim'), withoutClaim),
  metadata: orNull(
    t.openObject({}, 'decoded value of the claim'),
    'if the file has no claim or the claim cannot be decoded',
  ),
  protobuf: orNull(t.hex('serialized value of the claim'), withoutClaim),
  channel_claim_id: orNull(
    t.claimId('id of the channel that signed the claim'),
    'if the claim is not signed',
  ),
  channel_name: orNull(t.str('name of the channel that signed the claim'), 'if unknown'),
  claim_name: orNull(t.str('name of the claim'), withoutClaim),
  content_fee: orNull(
    transaction,
    'if the download was not paid',
    'transaction that paid the price of the claim',
  ),
  purchase_receipt: orNull(
    txo,
    'if the wallet has not bought the claim; only lists contain it',
    'receipt of the purchase',
  ),
  added_on: t.time('time at which the file was added'),
  height: orNull(t.int('block height of the claim; 0 or below in the mempool'), withoutClaim),
  confirmations: orNull(t.int('number of confirmations of the claim'), 'if unknown'),
  timestamp: orNull(t.time('block time of the claim'), 'if unknown'),
  is_pinned: t.bool('whether the blobs are kept when disk space runs short'),
  original_file: orNull(
    t.oneOf(['unchanged', 'changed'], 'state of the published file from which blobs are read'),
    'if the blobs are on disk',
  ),
  is_fully_reflected: t.bool('whether a reflector has the stream'),
  reflector_progress: t.int('progress of the upload to a reflector in percent; 0 without upload'),
  uploading_to_reflector: t.bool('whether the stream is being sent to a reflector'),
  reflector_error: t.optional(t.str('reason why the last upload failed'), 'if it failed'),
  peers: t.optional(t.int('number of connected peers'), downloading),
  bytes_per_second: t.optional(t.int('download rate in bytes per second'), downloading),
  seconds_left: t.optional(
    orNull(t.int('estimated remaining time in seconds'), 'while no data arrives'),
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
      udp_port: orNull(t.int('UDP port of the DHT'), 'if unknown'),
      tcp_port: orNull(t.int('TCP port of the blob exchange'), 'if unknown'),
      node_id: orNull(t.str('id in the DHT, 96 hexadecimal digits'), 'if unknown'),
    },
    'a peer',
  ),
);

const pageFields = {
  page: t.int('number of this page'),
  page_size: t.int('maximum number of items per page'),
  total_pages: t.optional(t.int('number of pages'), 'without `no_totals`'),
  total_items: t.optional(t.int('number of items on all pages'), 'without `no_totals`'),
} satisfies SchemaFields;

/** Schema of one page of a list of items, named after the items. */
export function pageOf(name: string, item: Schema, more: SchemaFields = {}): Schema {
  return t.named(
    `${name}Page`,
    t.object({ items: t.array(item, 'items of the page'), ...pageFields, ...more }, 'a page of a list'),
  );
}

export const txoPage = pageOf('Txo', txo);
export const accountPage = pageOf('ListedAccount', listedAccount);
export const addressPage = pageOf('Address', address);
export const walletPage = pageOf('Wallet', wallet);
export const filePage = pageOf('File', file);

/** Schema of the outputs that `transaction_list` shows for a transaction, for one type of output. */
const entries = (description: string, more: SchemaFields): Schema =>
  t.array(
    t.object({
      address: orNull(t.str('address that can spend the output'), withoutAddress),
      balance_delta: lbc('change of the balance of the wallet by this output'),
      amount: lbc('amount of the output'),
      nout: t.int('index of the output in its transaction'),
      claim_id: t.claimId('id of the claim'),
      ...more,
    }),
    description,
  );
const named = { claim_name: t.str('name of the claim') } satisfies SchemaFields;
const spent = {
  is_spent: orNull(t.bool('whether the output is spent'), 'for outputs of others'),
} satisfies SchemaFields;

export const transactionPage = pageOf(
  'ListedTransaction',
  t.named(
    'ListedTransaction',
    t.object(
      {
        txid: t.hash('id of the transaction'),
        timestamp: t.any('block time (seconds since 1970); null if unconfirmed'),
        date: t.any('block time as local time `YYYY-MM-DD HH:MM`; null if unconfirmed'),
        confirmations: t.int('number of confirmations; 0 if unconfirmed'),
        value: lbc('change of the balance of the wallet, without the fee'),
        fee: lbc('fee as a negative amount; 0.0 unless the wallet paid all inputs'),
        claim_info: entries('new claims of the wallet', { ...named, ...spent }),
        update_info: entries('updated claims of the wallet', { ...named, ...spent }),
        support_info: entries('supports and tips', {
          ...named,
          ...spent,
          is_tip: t.bool('whether the support is a tip to or from others'),
        }),
        abandon_info: entries('abandoned claims and supports', named),
        purchase_info: entries('purchases', spent),
      },
      'a transaction in a list',
    ),
  ),
);

export const searchPage = pageOf('FoundClaim', txo, {
  blocked: t.optional(
    t.object(
      {
        total: t.int('number of omitted claims'),
        channels: t.array(
          t.openObject({}, 'a blocking channel and the number of claims that it blocks'),
          'blocking channels',
        ),
      },
      'claims that the hub omitted because a channel blocks them',
    ),
    'for claim_search',
  ),
});

export const ffmpegShape = t.named(
  'Ffmpeg',
  t.object(
    {
      available: t.bool('whether ffmpeg and ffprobe were found'),
      which: orNull(t.str('path of ffmpeg'), 'if not found'),
      analyze_audio_volume: t.bool('whether the volume of the audio is analyzed'),
    },
    'result of the search for ffmpeg',
  ),
);

export const versionShape = t.named(
  'Version',
  t.object(
    {
      lbcnet_version: t.str('version of this daemon'),
      lbrynet_version: t.str('compatible version of lbrynet'),
      version: t.str('same as lbrynet_version'),
      build: t.str('dev in a source checkout, otherwise release'),
      processor: t.str('architecture of the processor'),
      platform: t.str('operating system, its release and the processor in one text'),
      os_system: t.str('operating system'),
      os_release: t.str('release of the operating system'),
      python_version: t.str('version of Node.js'),
      distro: t.optional(t.openObject({}, 'Linux distribution'), 'on Linux'),
      desktop: t.optional(t.str('desktop environment'), 'on Linux'),
    },
    'versions',
  ),
);

const withHeight = 'if a hub has sent its height';
const withHistories = 'if histories of addresses are requested from a hub';

const walletStatusShape = t.object(
  {
    connected: orNull(t.str('HOST:PORT of the connected hub'), 'without a hub'),
    connected_features: orNull(t.openObject({}, 'features that the hub reports'), 'without a hub'),
    servers: t.array(t.openObject({}, 'address and latency of the hub'), 'the connected hub'),
    connected_servers: t.array(t.openObject({}, 'address and latency of the hub'), 'same as servers'),
    known_servers: t.int('number of hubs to which the wallet may connect'),
    available_servers: t.int('number of connected hubs'),
    headers_synchronization_progress: t.optional(t.int('download of block headers in percent'), withHeight),
    blocks: t.optional(t.int('height of the last block header'), withHeight),
    blocks_behind: t.optional(t.int('number of missing block headers'), withHeight),
    best_blockhash: t.optional(t.hash('hash of the last block'), withHeight),
    is_syncing: t.bool('whether histories of addresses of the wallets are missing'),
    history_synchronization_progress: t.optional(t.int('download of histories in percent'), withHistories),
    addresses: t.optional(t.int('number of addresses that are requested from the hub'), withHistories),
    addresses_behind: t.optional(t.int('number of addresses without a known history'), withHistories),
    transactions_fetched: t.optional(
      t.int('number of transactions that were fetched for these addresses'),
      withHistories,
    ),
    is_encrypted: orNull(t.bool('whether the default wallet is encrypted'), 'without a wallet'),
    is_locked: orNull(t.bool('whether the default wallet is locked'), 'without a wallet'),
  },
  'state of the wallet component',
);

const transferShape = t.named(
  'Transfer',
  t.object(
    {
      id: t.int('number of the transfer since the start of the daemon'),
      kind: t.str(
        'download (of a stream to a file), publish (of a file as a stream) or reflect (of a stream to a reflector)',
      ),
      sd_hash: orNull(t.str('hash of the stream descriptor'), 'while the stream is being created'),
      claim_name: orNull(t.str('name of the claim'), 'if unknown'),
      path: orNull(t.str('path of the file that is written or read'), 'for reflect'),
      reflector: orNull(t.str('HOST:PORT of the reflector'), 'for other kinds'),
      bytes_done: t.int('number of transferred bytes'),
      bytes_total: orNull(t.int('total number of bytes'), 'while unknown'),
      bytes_per_second: t.int('transfer rate of the last seconds'),
      seconds_left: orNull(t.int('estimated remaining time in seconds'), 'while no data arrives'),
      peers: orNull(t.int('number of connected peers and servers'), 'for transfers without peers'),
    },
    'a running transfer of a file or stream',
  ),
);

export const statusShape = t.named(
  'Status',
  t.openObject(
    {
      installation_id: t.str('unique id of this installation'),
      is_running: t.bool('whether all components have started'),
      skipped_components: t.array(t.str('name of a component'), 'components that the settings exclude'),
      startup_status: t.map('component', t.bool('whether the component has started'), 'started components'),
      ffmpeg_status: ffmpegShape,
      connection_status: t.optional(
        t.object(
          {
            code: t.str('connected or network_connection_lost'),
            message: t.str('a sentence about the connection'),
          },
          'connection to a hub',
        ),
        'with the component wallet',
      ),
      blockchain_headers: t.optional(
        t.object(
          {
            downloading_headers: t.bool('whether block headers are being downloaded'),
            download_progress: t.num('progress in percent'),
          },
          'download of block headers',
        ),
        withHeight,
      ),
      wallet: t.optional(walletStatusShape, 'with the component wallet'),
      transfers: t.array(transferShape, 'running transfers; lbrynet does not have this field'),
      dht: t.optional(
        t.object(
          {
            node_id: orNull(t.str('own id in the DHT, 96 hexadecimal digits'), 'before the start'),
            peers_in_routing_table: t.int('number of peers in the routing table'),
          },
          'DHT node',
        ),
        'with the component dht',
      ),
      hash_announcer: t.optional(
        t.object(
          { announce_queue_size: t.int('number of blobs that wait for an announcement') },
          'announcer of blobs',
        ),
        'with the component hash_announcer',
      ),
      upnp: t.optional(
        t.object(
          {
            aioupnp_version: t.str('name and version of the UPnP library'),
            redirects: t.map('TCP or UDP', t.int('external port'), 'forwarded ports'),
            gateway: t.str('name of the gateway, or `No gateway found`'),
            dht_redirect_set: t.bool('whether the port of the DHT is forwarded'),
            peer_redirect_set: t.bool('whether the port of the blob exchange is forwarded'),
            external_ip: orNull(t.str('external IP address'), 'while unknown'),
          },
          'forwarding of ports',
        ),
        'with the component upnp',
      ),
    },
    'state of the daemon; each running component can add a field with its name',
  ),
);
