/** Services for a running method, filled by the composition root. */
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { Clock, RandomSource } from '../base/clock.js';
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
import type { Ledger } from '../ledger/ledger.js';
import type { TxBuilder } from '../txBuilding/txBuilder.js';
import type { Resolver } from '../resolve/resolver.js';
import type { Wallets } from '../wallet/wallets.js';
import type { Settings } from './settings.js';

/** The daemon as a whole: what `status`, `version` and `stop` speak of. */
export interface DaemonControl {
  status(): Promise<JsonOut>;
  version(): JsonOut;
  ffmpegStatus(): Promise<JsonOut>;
  /** Address of the media server. */
  mediaAddress(): readonly [host: string, port: number];
  /** Begins to stop once the answer is sent. */
  stop(): void;
}

export interface DaemonServices {
  readonly control: DaemonControl;
  readonly settings: Settings;
  /** Runs while the component `wallet` does. */
  readonly ledger: Ledger;
  /** The wallets that are open, while the component `wallet` runs. */
  readonly wallets: Wallets;
  /** The same; null before they run, and where the component `wallet` is skipped. */
  readonly runningWallets: Wallets | null;
  /** Makes transactions; runs while the component `wallet` does. */
  readonly txBuilder: TxBuilder;
  /** What the claim index is asked; runs while the component `wallet` does. */
  readonly resolver: Resolver;
  /** What an amount of a currency (LBC, BTC, USD) is worth. */
  readonly exchange: { toDewies(currency: string, amount: string): bigint };
  /** Runs while the component `database` does. */
  readonly content: ContentDatabase;
  /** Runs while the component `blob_manager` does. */
  readonly blobs: BlobStore;
  /** Runs while the component `disk_space` does. */
  readonly diskSpace: DiskSpace;
  /** Downloads blobs; null while the component `blob_manager` does not run. */
  readonly fetcher: BlobFetcher | null;
  /** Sends streams to reflectors; runs while the component `blob_manager` does. */
  readonly reflecting: Reflecting;
  /** Runs while the component `dht` does. */
  readonly dht: DhtNode;
  /** Finds peers by DHT and trackers, whichever run; null if neither does. */
  readonly peerFinder: PeerFinder | null;
  /** Runs while the component `file_manager` does. */
  readonly files: FileManager;
  /** Finds files again whose rows were lost; runs while the component `file_manager` does. */
  readonly library: Pick<LibraryRebuild, 'run'>;
  /** Runs while the components `file_manager` and `wallet` do. */
  readonly downloads: Downloads;
  readonly clock: Clock;
  readonly random: RandomSource;
}

export interface DaemonContext {
  readonly services: DaemonServices;
  /** Whether outputs are shown with the bytes of their values (`include_protobuf`). */
  readonly withProtobuf: boolean;
}
