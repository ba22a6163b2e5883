/**
 * All settings with their defaults. Source: lbry-sdk lbry/conf.py `Config`. Defaults of folders and of
 * the file are the machine's (`folders.ts`).
 */
import { hostPorts, networkFacts } from '../../../params/networkFacts.js';
import { float } from '../../base/answerJson.js';
import { RATE_SOURCES } from '../../txBuilding/rateFeed.js';
import { SELECTION_STRATEGIES } from '../../wallet/tx/coinSelection.js';
import { HOST, MAX_PORT, type KindName, type SettingRow, type SettingValue } from './settingKinds.js';

type Rest = Partial<
  Pick<SettingRow, 'previousNames' | 'valueName' | 'choices' | 'form' | 'range' | 'isSecret'>
>;

const row = (
  name: string,
  kind: KindName,
  value: SettingValue,
  description: string,
  rest: Rest = {},
): SettingRow => ({ name, kind, default: value, description, ...rest });

const folder = (name: string, description: string, previousNames: readonly string[] = []): SettingRow =>
  row(name, 'path', '', description, { valueName: 'DIR', previousNames });

const endpoint = { valueName: 'HOST:PORT' };
const port: Rest = { range: [0, MAX_PORT] };
/** A number from 0 on. The description of each setting explains the meaning of 0. */
const amount: Rest = { range: [0, Infinity] };
/** Timeout in seconds. A timer of Node.js has at most 2^31 ms, so the upper bound is below that. */
const timeout: Rest = { range: [0.1, 2_000_000] };

/**
 * Allowed form of the setting `blob_store`. Bucket and object names may have only characters that need no encoding in a URL.
 * URLs leave out the segments `.` and `..`, so that requests would go to another bucket or prefix.
 */
const BLOB_STORE = /^(?:s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/(?!\.\.?(?:\/|$))[A-Za-z0-9._-]+)*\/?)?$/;

/** Facts about the main network, with the public servers that are the defaults of settings. */
const FACTS = networkFacts('main');

/** All settings, sorted by name. Responses and the help text have the same order. */
export const SETTINGS: readonly SettingRow[] = [
  row('allowed_origin', 'text', '', 'origin of web pages that may call the API; * for any, empty for none'),
  row('announce_head_and_sd_only', 'toggle', true, 'announce only the descriptor of each stream', {
    previousNames: ['announce_head_blobs_only'],
  }),
  row(
    'api',
    'endpoint',
    'localhost:5279',
    'address of the API, for the daemon and the command line',
    endpoint,
  ),
  row('audio_encoder', 'text', 'aac -b:a 160k', 'codec and parameters of ffmpeg for audio'),
  row('blob_download_timeout', 'float', float(30), 'seconds to download a blob from a peer', timeout),
  row('blob_lru_cache_size', 'integer', 32, 'decrypted blobs kept in memory; 0 for none', amount),
  row('blob_storage_limit', 'integer', 0, 'disk space for blobs in MB; 0 for no limit', amount),
  row(
    'blob_store',
    'text',
    '',
    'object store for the blobs of the reflector, as s3://BUCKET/PREFIX; empty for none',
    {
      form: { pattern: BLOB_STORE, words: 's3://BUCKET or s3://BUCKET/PREFIX' },
    },
  ),
  row(
    'blob_store_access_key',
    'text',
    null,
    'access key id for the object store; default: AWS_ACCESS_KEY_ID',
    { isSecret: true },
  ),
  row('blob_store_cache', 'integer', 10_000, 'disk space in MB for blobs of the object store', {
    range: [16, Infinity],
  }),
  row('blob_store_endpoint', 'text', '', 'address of the object store; default: Amazon S3 of the region', {
    form: { pattern: /^(?:https?:\/\/[^\s?#@]+)?$/, words: 'an address like https://HOST:PORT' },
  }),
  row('blob_store_region', 'text', '', 'region of the object store; default: us-east-1', {
    form: { pattern: /^[A-Za-z0-9-]{0,64}$/, words: 'a region like us-east-1' },
  }),
  row(
    'blob_store_secret_key',
    'text',
    null,
    'secret access key for the object store; default: AWS_SECRET_ACCESS_KEY',
    {
      isSecret: true,
    },
  ),
  row('blockchain_name', 'choice', 'lbrycrd_main', 'name of the chain', {
    choices: ['lbrycrd_main', 'lbrycrd_testnet', 'lbrycrd_regtest'],
  }),
  row('coin_selection_strategy', 'choice', 'prefer_confirmed', 'strategy of coin selection', {
    choices: SELECTION_STRATEGIES,
  }),
  row('components_to_skip', 'texts', [], 'components of the daemon that are not started'),
  row(
    'concurrent_blob_announcers',
    'integer',
    10,
    'maximum number of concurrent announcements of blobs; 0 for none',
    {
      range: [0, Infinity],
      previousNames: ['concurrent_announcers'],
    },
  ),
  row('concurrent_hub_requests', 'integer', 32, 'maximum number of concurrent requests to a hub', {
    range: [1, Infinity],
  }),
  row(
    'concurrent_reflector_uploads',
    'integer',
    10,
    'maximum number of streams sent to reflectors at the same time',
    amount,
  ),
  row('config', 'path', '', 'path of the settings file', { valueName: 'FILE' }),
  folder('data_dir', 'folder of the daemon: settings, blobs, log'),
  row(
    'download_bytes_per_second',
    'integer',
    0,
    'maximum download rate from peers and blob servers; 0 for no limit',
    amount,
  ),
  folder('download_dir', 'folder for downloaded files', ['download_directory']),
  row('download_timeout', 'float', float(30), 'time limit in seconds for the start of a download', timeout),
  row('edge_token', 'text', null, 'token for protected blobs of HTTP servers', { isSecret: true }),
  row(
    'exchange_rate_source',
    'choice',
    '',
    'exchange that provides the price of LBC in USD: mexc; empty for none',
    {
      choices: RATE_SOURCES,
    },
  ),
  row(
    'exchange_rate_url',
    'text',
    'https://api.mexc.com/api/v3/ticker/price?symbol=LBCUSDT',
    'URL of the price query, which is sent once an hour',
    {
      form: {
        pattern: /^(?:https:\/\/|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/])\S+$/,
        words: 'an https address',
      },
    },
  ),
  row('exchange_rates', 'texts', [], 'LBC for one unit of another currency, as USD=38.5', {
    form: { pattern: /^(?:USD|BTC)=[0-9]+(?:\.[0-9]+)?$/, words: 'a rate like USD=38.5' },
  }),
  row('ffmpeg_path', 'text', '', 'folders in which to look for ffmpeg and ffprobe first', {
    previousNames: ['ffmpeg_folder'],
  }),
  row(
    'fixed_peer_delay',
    'float',
    float(2),
    'seconds after which blobs are also requested from fixed peers',
    {
      range: [0, 2_000_000],
    },
  ),
  row('fixed_peers', 'servers', hostPorts(FACTS.blobPeers), 'peers that each download also uses'),
  row(
    'http_blob_servers',
    'texts',
    (FACTS.httpBlobServers ?? []).map(({ url }) => url),
    'HTTP(S) blob servers, asked after the same delay as fixed peers',
    { form: { pattern: /^https?:\/\/[^\s?#]+$/, words: 'an address like https://HOST:PORT' } },
  ),
  row('hub_timeout', 'float', float(30), 'time limit for a response of a hub in seconds', {
    range: [1, 86_400],
  }),
  row(
    'is_bootstrap_node',
    'toggle',
    false,
    'keep an unlimited routing table, as a bootstrap node of the DHT',
  ),
  row(
    'jurisdiction',
    'text',
    null,
    'only hubs of this country: two letters such as US, or a region such as 419',
  ),
  row(
    'keep_blobs',
    'toggle',
    true,
    'keep blobs of published files on disk; if false, they are read from the file on demand',
  ),
  row('known_dht_nodes', 'servers', hostPorts(FACTS.dhtNodes), 'bootstrap nodes of the DHT'),
  row('lbryum_servers', 'servers', hostPorts(FACTS.hubs), 'hubs for the wallet'),
  row(
    'max_connections_per_download',
    'integer',
    4,
    'maximum number of peers from which a download requests blobs at the same time',
    {
      range: [1, Infinity],
      previousNames: ['max_connections_per_stream'],
    },
  ),
  row('max_key_fee', 'price', { currency: 'USD', amount: float(50) }, 'maximum price of a claim', {
    valueName: 'AMOUNT CURRENCY',
  }),
  row(
    'max_peer_connections',
    'integer',
    200,
    'maximum number of connected peers that download from this daemon',
    amount,
  ),
  row(
    'max_peer_connections_per_address',
    'integer',
    16,
    'maximum number of such peers per IP address',
    amount,
  ),
  row('max_wallet_server_fee', 'text', '0.0', 'accepted for older files, without effect; hubs are not paid'),
  row('network_interface', 'text', '0.0.0.0', 'address at which DHT and blob exchange listen', {
    form: { pattern: HOST, words: 'an IPv4 address or a host name of this machine' },
  }),
  row('network_storage_limit', 'integer', 0, 'disk space for blobs of others in MB; 0 for none', amount),
  row('node_rpc_timeout', 'float', float(5), 'time limit for a response of a DHT peer in seconds', timeout),
  row('peer_connect_timeout', 'float', float(3), 'time limit for a connection to a peer in seconds', timeout),
  row('prometheus_port', 'integer', 0, 'port for metrics; 0 for none', port),
  row('reflect_streams', 'toggle', true, 'send complete streams to a reflector', {
    previousNames: ['reflect_uploads'],
  }),
  row(
    'reflector_blocked',
    'texts',
    [],
    'ids of claims and channels whose streams the reflector neither accepts nor serves',
    {
      form: { pattern: /^[0-9a-f]{40}$/, words: 'a claim id of 40 hexadecimal digits' },
    },
  ),
  row('reflector_http_port', 'integer', 5569, 'HTTP port of the reflector', port),
  row('reflector_peer_port', 'integer', 5567, 'port of the reflector for downloads', port),
  row('reflector_port', 'integer', 5566, 'port of the reflector for uploads', port),
  row('reflector_quota', 'integer', 0, 'disk space of the reflector in MB; 0 for no limit', amount),
  row('reflector_servers', 'servers', hostPorts(FACTS.reflectors), 'reflectors to send streams to'),
  row('save_blobs', 'toggle', true, 'keep downloaded blobs on disk'),
  row('save_files', 'toggle', false, 'save downloaded streams to files'),
  row('save_resolved_claims', 'toggle', true, 'store resolved claims, for the list of files'),
  row('share_usage_data', 'toggle', false, 'accepted for older files, without effect; no data is shared', {
    previousNames: ['upload_log', 'share_debug_info'],
  }),
  row(
    'split_buckets_under_index',
    'integer',
    2,
    'buckets of the routing table that are always split',
    amount,
  ),
  row('streaming_get', 'toggle', true, 'allow the media server to start downloads'),
  row('streaming_server', 'endpoint', 'localhost:5280', 'address of the media server', endpoint),
  row('tcp_port', 'integer', 4444, 'port of the blob exchange', { ...port, previousNames: ['peer_port'] }),
  row('track_bandwidth', 'toggle', true, 'count the bytes sent to and received from peers'),
  row('tracker_servers', 'servers', hostPorts(FACTS.trackers), 'trackers for finding peers'),
  row(
    'transaction_cache_size',
    'integer',
    131_072,
    'accepted for older files, without effect; memory is limited without it',
  ),
  row('udp_port', 'integer', 4444, 'UDP port of the DHT; 0 for any free port', {
    ...port,
    previousNames: ['dht_node_port'],
  }),
  row(
    'upload_bytes_per_second',
    'integer',
    0,
    'maximum upload rate to peers in bytes per second; 0 for no limit',
    amount,
  ),
  row('use_upnp', 'toggle', true, 'ask the gateway to forward ports'),
  row(
    'video_bitrate_maximum',
    'integer',
    5_000_000,
    'maximum bit rate of videos in bits per second; 0 for no limit',
    amount,
  ),
  row(
    'video_encoder',
    'text',
    'libx264 -crf 24 -preset faster -pix_fmt yuv420p',
    'codec and parameters of ffmpeg for videos',
  ),
  row(
    'video_scaler',
    'text',
    String.raw`-vf "scale=if(gte(iw\,ih)\,min(1920\,iw)\,-2):if(lt(iw\,ih)\,min(1920\,ih)\,-2)" -maxrate 5500K -bufsize 5000K`,
    'parameters of ffmpeg for scaling videos down',
  ),
  row(
    'volume_analysis_time',
    'integer',
    240,
    'seconds of audio whose volume is analyzed; 0 for none',
    amount,
  ),
  row('volume_filter', 'text', '', 'audio filter of ffmpeg for the volume'),
  folder('wallet_dir', 'folder whose subfolder `wallets` contains the wallet files', ['lbryum_wallet_dir']),
  row('wallets', 'texts', ['default_wallet'], 'wallet files to open at start'),
];

/** Names of the settings that only this daemon has, not lbry-sdk. */
export const OWN_SETTINGS: readonly string[] = [
  'blob_store',
  'blob_store_access_key',
  'blob_store_cache',
  'blob_store_endpoint',
  'blob_store_region',
  'blob_store_secret_key',
  'download_bytes_per_second',
  'edge_token',
  'exchange_rate_source',
  'exchange_rate_url',
  'exchange_rates',
  'http_blob_servers',
  'keep_blobs',
  'max_peer_connections',
  'max_peer_connections_per_address',
  'reflector_blocked',
  'reflector_http_port',
  'reflector_peer_port',
  'reflector_port',
  'reflector_quota',
  'upload_bytes_per_second',
];
