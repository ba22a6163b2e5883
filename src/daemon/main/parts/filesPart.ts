/**
 * The component `file_manager`: the files of the daemon. It starts even if the wallet still waits for a hub. Source:
 * lbry-sdk lbry/extras/daemon/components.py `FileManagerComponent`.
 */
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { failureReason } from '../../../util/text/environmentError.js';
import type { Logger } from '../../../util/logging.js';
import type { Settings } from '../../api/settings.js';
import type { Clock, DaemonRandom, Timer } from '../../base/clock.js';
import { DaemonError } from '../../base/daemonError.js';
import type { LedgerParams } from '../../base/ledgerParams.js';
import { ResolveError } from '../../base/resolveError.js';
import type { Transfers } from '../../base/transfers.js';
import type { BlobFetcher } from '../../exchange/ports.js';
import { Downloads } from '../../files/download.js';
import { FileManager } from '../../files/fileManager.js';
import { Playing } from '../../files/playing.js';
import type { MediaSource } from '../../http/mediaPort.js';
import { LibraryRebuild, type ClaimFinder } from '../../files/libraryRebuild.js';
import type { FilesDeps, StreamReflector } from '../../files/ports.js';
import { Publishing } from '../../files/publishing.js';
import { probeBeside } from '../ffmpeg.js';
import type { WalletServices } from '../walletPart.js';
import type { Component } from '../components.js';
import type { ContentParts } from './contentParts.js';

export interface FilesPartDeps {
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock: Clock;
  readonly content: ContentParts;
  readonly random: DaemonRandom;
  readonly transfers: Transfers;
  /** Client that downloads blobs; null while no component downloads. */
  readonly fetcher: () => BlobFetcher | null;
  /** Reflector client; null while no component uploads to reflectors. */
  readonly reflector: () => StreamReflector | null;
  /** Returns the parameters of the wallet's chain. Called only while the wallet runs. */
  readonly ledgerParams: () => LedgerParams;
  /** Finds claims in order to rebuild lost rows of files; null while the wallet does not run. */
  readonly claimFinder: () => ClaimFinder | null;
  /** Searches ffmpeg. Resolves to its path; null if it is missing. */
  readonly findFfmpeg: () => Promise<string | null>;
}

/** The empty body for a stream that is only described. */
async function* noBytes(): AsyncGenerator<Uint8Array> {}

/** Milliseconds from the start of the component to the preparation for players, so that it does not delay the start. Arbitrary. */
const WARM_UP_MS = 500;

export class FilesPart implements Component {
  readonly name = 'file_manager';
  readonly dependsOn = ['database', 'blob_manager'] as const;
  readonly #deps: FilesPartDeps;
  #files: FilesDeps | null = null;
  #manager: FileManager | null = null;
  #publishing: Publishing | null = null;
  #playing: Playing | null = null;
  #warming: Timer | null = null;
  #library: LibraryRebuild | null = null;
  readonly #stopping = new AbortController();
  #downloads: { readonly of: WalletServices; readonly downloads: Downloads } | null = null;

  constructor(deps: FilesPartDeps) {
    this.#deps = deps;
  }

  /** The file manager; null while the component does not run. */
  get running(): FileManager | null {
    return this.#manager;
  }

  get manager(): FileManager {
    if (this.#manager === null) throw new Error('the component file_manager is not running');
    return this.#manager;
  }

  get publishing(): Publishing {
    if (this.#publishing === null) throw new Error('the component file_manager is not running');
    return this.#publishing;
  }

  get library(): LibraryRebuild {
    if (this.#library === null) throw new Error('the component file_manager is not running');
    return this.#library;
  }

  /** Returns the object for downloads that are paid from the wallets of `services`. The same services give the same object. */
  downloadsOf(services: WalletServices): Downloads {
    if (this.#downloads?.of !== services) {
      const { txBuilder, resolver } = services;
      const downloads = new Downloads({ manager: this.manager, files: this.#files!, txBuilder, resolver });
      this.#downloads = { of: services, downloads };
    }
    return this.#downloads.downloads;
  }

  /** Source of streams for the media server. `services` throws if the component `wallet` does not run. */
  mediaOf(services: () => WalletServices): MediaSource {
    const playing = this.#playing;
    if (playing === null) throw new Error('the component file_manager is not running');
    return {
      open: async (sdHash, options) => {
        const stream = await playing.open(sdHash, options);
        if (stream !== null || options.mayDownload) return stream;
        // After `HEAD /get/…` a client follows the redirect with HEAD, although nothing was downloaded.
        const described = this.#downloads?.downloads.described(sdHash) ?? null;
        return described && { ...described, read: noBytes };
      },
      find: async (url, { mayDownload }) => {
        const running = services();
        const wallet = running.wallets.default;
        const downloads = this.downloadsOf(running);
        const request = { url, wallet, accountIds: wallet.accountIds };
        try {
          return mayDownload ? (await downloads.get(request)).row.sdHash : await downloads.lookUp(request);
        } catch (error) {
          // Without a hub the error text of `get` is replaced, because lbry-sdk's text does not contain the reason.
          const isLate = error instanceof DaemonError && error.name === 'ResolveTimeoutError';
          if (!isLate || running.ledger.hub.isConnected) throw error;
          throw new ResolveError(
            'no hub',
            `${url}: no hub is connected. The daemon keeps trying the servers of the setting lbryum_servers`,
          );
        }
      },
    };
  }

  async start(): Promise<void> {
    const { settings, log, clock, content, fetcher, reflector } = this.#deps;
    const seconds = (name: 'download_timeout' | 'blob_download_timeout'): number => settings.get(name) * 1000;
    this.#files = {
      database: content.content,
      blobs: content.blobs,
      fetcher,
      reflector,
      transfers: this.#deps.transfers,
      clock,
      log,
      settings: () => ({
        downloadDir: settings.get('download_dir'),
        savesFiles: settings.get('save_files'),
        downloadTimeoutMs: seconds('download_timeout'),
        blobTimeoutMs: seconds('blob_download_timeout'),
        cachedBlobs: settings.get('blob_lru_cache_size'),
      }),
    };
    const manager = (this.#manager = new FileManager(this.#files));
    this.#playing = new Playing({ manager, files: this.#files });
    this.#publishing = this.#publishingOf(manager);
    await manager.start();
    if (this.#stopping.signal.aborted) return;
    this.#library = new LibraryRebuild({
      manager,
      files: this.#files,
      finder: this.#deps.claimFinder,
      signal: this.#stopping.signal,
    });
    void this.#library.start();
    this.#warming = clock.after(WARM_UP_MS, () => this.#warmUp());
  }

  #warmUp(): void {
    this.#playing?.warmUp().catch((error: unknown) => {
      if (this.#playing !== null) this.#deps.log.warn(failureReason(error));
    });
  }

  #publishingOf(manager: FileManager): Publishing {
    const { settings, log, clock, random, content, reflector, ledgerParams, findFfmpeg } = this.#deps;
    return new Publishing({
      manager,
      reflector,
      transfers: this.#deps.transfers,
      log,
      making: {
        store: content.blobs,
        threads: content.threads,
        database: content.content,
        clock,
        random,
        keepsBlobs: () => settings.get('keep_blobs'),
      },
      params: ledgerParams,
      findTools: async () => {
        const ffmpeg = await findFfmpeg();
        return ffmpeg === null ? null : { ffmpeg, ffprobe: probeBeside(ffmpeg) };
      },
      videoSettings: () => ({
        video_encoder: settings.get('video_encoder'),
        audio_encoder: settings.get('audio_encoder'),
        video_scaler: settings.get('video_scaler'),
        video_bitrate_maximum: settings.get('video_bitrate_maximum'),
        volume_analysis_time: settings.get('volume_analysis_time'),
        volume_filter: settings.get('volume_filter'),
      }),
    });
  }

  async stop(): Promise<void> {
    this.#warming?.cancel();
    this.#stopping.abort(new Error('the daemon is stopping'));
    await this.#publishing?.stop();
    await this.#library?.close();
    await this.#manager?.close();
    this.#library = null;
    this.#manager = null;
    this.#publishing = null;
    this.#playing = null;
  }

  status(): JsonOut {
    return { managed_files: this.#manager?.count ?? 0 };
  }
}
