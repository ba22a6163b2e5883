/** Access of methods and components to the settings. The table and the file of the settings are in `daemon/main`. */
import type { JsonValue } from '../../util/json/json.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { VideoSettings } from '../media/videoAnalyzer.js';

/** Address of a server in the settings. */
export type HostPortSetting = readonly [host: string, port: number];

export interface MaxKeyFee {
  readonly currency: string;
  /** The amount as the operator wrote it. */
  readonly amount: string;
}

/** Values of the settings that modules of the daemon read, by setting name. */
export interface SettingValues extends VideoSettings {
  readonly data_dir: string;
  readonly wallet_dir: string;
  readonly download_dir: string;
  readonly wallets: readonly string[];
  readonly allowed_origin: string;
  readonly streaming_get: boolean;
  readonly save_files: boolean;
  /** Seconds. */
  readonly download_timeout: number;
  /** Maximum number of decrypted blobs kept in memory. */
  readonly blob_lru_cache_size: number;
  /** Limit in MiB for blobs of streams; 0 means no limit. */
  readonly blob_storage_limit: number;
  /** Object store for blobs, as `s3://bucket/prefix`; empty for none. */
  readonly blob_store: string;
  readonly blob_store_access_key: string | null;
  /** Megabytes. */
  readonly blob_store_cache: number;
  readonly blob_store_endpoint: string;
  readonly blob_store_region: string;
  readonly blob_store_secret_key: string | null;
  /** Limit in MiB for blobs without a stream; 0 keeps none. */
  readonly network_storage_limit: number;
  readonly hub_timeout: number;
  readonly concurrent_hub_requests: number;
  readonly save_resolved_claims: boolean;
  readonly lbryum_servers: readonly HostPortSetting[];
  readonly jurisdiction: string | null;
  readonly blockchain_name: 'lbrycrd_main' | 'lbrycrd_testnet' | 'lbrycrd_regtest';
  readonly coin_selection_strategy: string;
  readonly transaction_cache_size: number;
  readonly max_key_fee: MaxKeyFee | null;
  /** Exchange rates: LBC for one unit of another currency, for example `USD=38.5`. */
  readonly exchange_rates: readonly string[];
  /** Empty: none. */
  readonly exchange_rate_source: string;
  readonly exchange_rate_url: string;
  readonly api: string;
  readonly streaming_server: string;
  readonly prometheus_port: number;
  readonly components_to_skip: readonly string[];
  readonly ffmpeg_path: string;
  readonly network_interface: string;
  readonly keep_blobs: boolean;
  readonly save_blobs: boolean;
  /** UDP port of the DHT node; 0 selects any free port. */
  readonly udp_port: number;
  readonly known_dht_nodes: readonly HostPortSetting[];
  /** Seconds. */
  readonly node_rpc_timeout: number;
  readonly split_buckets_under_index: number;
  readonly is_bootstrap_node: boolean;
  readonly announce_head_and_sd_only: boolean;
  /** Maximum number of blobs that are announced at the same time; 0 turns announcing off. */
  readonly concurrent_blob_announcers: number;
  readonly tracker_servers: readonly HostPortSetting[];
  readonly use_upnp: boolean;
  readonly tcp_port: number;
  /** Seconds. */
  readonly blob_download_timeout: number;
  /** Seconds. */
  readonly peer_connect_timeout: number;
  readonly max_connections_per_download: number;
  readonly fixed_peers: readonly HostPortSetting[];
  /** Seconds. */
  readonly fixed_peer_delay: number;
  /** `http://host:port`. */
  readonly http_blob_servers: readonly string[];
  readonly edge_token: string | null;
  readonly max_peer_connections: number;
  readonly max_peer_connections_per_address: number;
  /** 0: no limit. */
  readonly upload_bytes_per_second: number;
  /** 0: no limit. */
  readonly download_bytes_per_second: number;
  readonly track_bandwidth: boolean;
  readonly reflect_streams: boolean;
  readonly reflector_servers: readonly HostPortSetting[];
  readonly concurrent_reflector_uploads: number;
  readonly reflector_port: number;
  readonly reflector_peer_port: number;
  readonly reflector_http_port: number;
  /** Maximum size of the reflector's blobs in megabytes; 0: no limit. */
  readonly reflector_quota: number;
  /** Claim ids of claims and channels that the reflector refuses. */
  readonly reflector_blocked: readonly string[];
}

export interface Settings {
  get<Name extends keyof SettingValues>(name: Name): SettingValues[Name];
  /** Whether the setting has its default value, i.e. no call, argument, environment variable or file sets it. */
  isDefault(name: keyof SettingValues): boolean;
  /** All settings, as `settings_get` shows them. */
  all(): JsonOut;
  /** Checks the value, sets it, and writes the settings file. Resolves to the normalized value, as answers show it. */
  set(name: string, value: JsonValue): Promise<JsonOut>;
  /** Resets the setting. Resolves to the default value. */
  clear(name: string): Promise<JsonOut>;
  /** Calls the listener after `set` or `clear` changed the setting. */
  onChange(name: keyof SettingValues, listener: () => void): void;
  /** Names of all settings, sorted. */
  readonly names: readonly string[];
}
