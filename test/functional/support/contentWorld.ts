/** A regtest node with a hub, and daemons with coins that publish and download, in one temporary folder. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDaemon, type DaemonOptions, type TestDaemon } from './daemon.js';
import { until } from './network.js';
import { freePort, startRegtest, type RegtestNode } from './node.js';

/** Components that need a network or that start downloads. */
export const OFFLINE = [
  'dht',
  'hash_announcer',
  'upnp',
  'tracker_announcer_component',
  'background_downloader',
];
/** Settings of a daemon that uses only the peers that a test adds. */
export const CONTENT_SETTINGS = {
  components_to_skip: OFFLINE,
  fixed_peers: [],
  http_blob_servers: [],
  reflector_servers: [],
  reflect_streams: false,
};

export interface ListedFile {
  readonly sd_hash: string;
  readonly stream_hash: string;
  readonly claim_id: string | null;
  readonly claim_name: string | null;
  readonly status: string;
  readonly completed: boolean;
  readonly download_path: string | null;
  readonly file_name: string | null;
  readonly streaming_url: string;
  readonly blobs_completed: number;
  readonly blobs_in_stream: number;
  readonly original_file: string | null;
  readonly error?: string;
}

export class ContentWorld {
  readonly folder: string;
  readonly hubPort: number;
  readonly node: RegtestNode;

  private constructor(folder: string, hubPort: number, node: RegtestNode) {
    this.folder = folder;
    this.hubPort = hubPort;
    this.node = node;
  }

  static async start(): Promise<ContentWorld> {
    const hubPort = await freePort();
    const node = await startRegtest({ args: ['-hub', `-hubport=${hubPort}`] });
    await node.rpc('generate', [130]);
    return new ContentWorld(mkdtempSync(join(tmpdir(), 'lbcnet-content-')), hubPort, node);
  }

  /**
   * Starts a daemon in the folder with this name, which remains when the daemon ends. The first start writes the settings;
   * later starts keep what `settings_set` wrote.
   */
  daemon(name: string, { settings, ...options }: Partial<DaemonOptions> = {}): Promise<TestDaemon> {
    const folder = options.folder ?? join(this.folder, name);
    const isNew = !existsSync(join(folder, 'conf.yml'));
    return startDaemon({
      hubPorts: [this.hubPort],
      folder,
      ...options,
      ...(isNew ? { settings: { ...CONTENT_SETTINGS, ...settings } } : {}),
    });
  }

  /** Pays coins of 0.1 LBC each to the wallet of the daemon. */
  async pay(daemon: TestDaemon, coins = 40): Promise<void> {
    const address = await daemon.call<string>('address_unused');
    for (let n = 0; n < coins; n++) await this.node.rpc('sendtoaddress', [address, 0.1]);
    await this.mine(daemon);
    await until('the wallet is paid', async () => {
      const { available } = await daemon.call<{ available: string }>('account_balance');
      return Number(available) >= coins / 10;
    });
  }

  /** Mines a block, and waits until the daemons have it. */
  async mine(...daemons: readonly TestDaemon[]): Promise<void> {
    await this.node.rpc('generate', [1]);
    const tip = await this.node.rpc<number>('getblockcount');
    for (const daemon of daemons)
      await until(`the daemon is at ${tip}`, async () => {
        const { wallet } = await daemon.call<{ wallet: { blocks: number } }>('status');
        return wallet.blocks === tip;
      });
  }

  async stop(): Promise<void> {
    await this.node.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function filesOf(daemon: TestDaemon, filter: object = {}): Promise<readonly ListedFile[]> {
  return (await daemon.call<{ items: readonly ListedFile[] }>('file_list', filter)).items;
}
