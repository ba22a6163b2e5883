/** Services of the daemon that a running method can use. The composition root (`daemon/main`) fills the object. */
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { Clock, DaemonRandom } from '../base/clock.js';
import type { BlobStore } from '../blobs/blobStore.js';
import type { DiskSpace } from '../blobs/diskSpace.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { BlobFetcher } from '../exchange/ports.js';
import type { Reflecting } from '../exchange/reflecting.js';
import type { DhtNode } from '../dht/node.js';
import type { PeerFinder } from '../dht/peerFinder.js';
import type { Downloads } from '../files/download.js';
import type { FileManager } from '../files/fileManager.js';
import type { LibraryRebuild } from '../files/libraryRebuild.js';
import type { DaemonLedger } from '../ledger/ledger.js';
import type { TxBuilder } from '../txBuilding/txBuilder.js';
import type { Resolver } from '../resolve/resolver.js';
import type { DaemonWallets } from '../wallet/wallets.js';
import type { Settings } from './settings.js';

/** The daemon as a whole, for `status`, `version` and `stop`. */
export interface DaemonControl {
  status(): Promise<JsonOut>;
  version(): JsonOut;
  ffmpegStatus(): Promise<JsonOut>;
  /** Host and port at which the media server listens. */
  mediaAddress(): readonly [host: string, port: number];
  /** Stops the daemon after the answer is sent. */
  stop(): void;
}

export interface DaemonServices {
  readonly control: DaemonControl;
  readonly settings: Settings;
  /** The wallet's ledger. Available while the component `wallet` runs. */
  readonly ledger: DaemonLedger;
  /** The wallets that are open, while the component `wallet` runs. */
  readonly wallets: DaemonWallets;
  /** The open wallets; null while the component `wallet` does not run, e.g. because it is skipped. */
  readonly runningWallets: DaemonWallets | null;
  /** Builds transactions; available while the component `wallet` runs. */
  readonly txBuilder: TxBuilder;
  /** Client of the claim index; available while the component `wallet` runs. */
  readonly resolver: Resolver;
  /** Converts amounts of a currency (LBC, BTC, USD). */
  readonly exchange: { toDewies(currency: string, amount: string): bigint };
  /** The content database. Available while the component `database` runs. */
  readonly content: ContentDatabase;
  /** The blob store. Available while the component `blob_manager` runs. */
  readonly blobs: BlobStore;
  /** Limits and cleaning of disk space. Available while the component `disk_space` runs. */
  readonly diskSpace: DiskSpace;
  /** Downloads blobs; null while the component `blob_manager` does not run. */
  readonly fetcher: BlobFetcher | null;
  /** Sends streams to reflectors; available while the component `blob_manager` runs. */
  readonly reflecting: Reflecting;
  /** The DHT node. Available while the component `dht` runs. */
  readonly dht: DhtNode;
  /** Finds peers by the DHT and the trackers that run; null if none runs. */
  readonly peerFinder: PeerFinder | null;
  /** The file manager. Available while the component `file_manager` runs. */
  readonly files: FileManager;
  /** The file manager; null while the component `file_manager` does not run. */
  readonly runningFiles: FileManager | null;
  /** Rebuilds lost rows of files; available while the component `file_manager` runs. */
  readonly library: Pick<LibraryRebuild, 'run'>;
  /** Downloads of files. Available while the components `file_manager` and `wallet` run. */
  readonly downloads: Downloads;
  readonly clock: Clock;
  readonly random: DaemonRandom;
}

export interface DaemonContext {
  readonly services: DaemonServices;
  /** Whether outputs are shown with the serialized bytes of their claim values (`include_protobuf`). */
  readonly withProtobuf: boolean;
}
