/**
 * The component `background_downloader`. Without the component `dht` it runs and finds nothing to download.
 * Source: lbry-sdk lbry/extras/daemon/components.py `BackgroundDownloaderComponent`.
 */
import type { Logger } from '../../../util/logging.js';
import type { Settings } from '../../api/settings.js';
import type { Clock } from '../../base/clock.js';
import type { DhtNode } from '../../dht/node.js';
import type { BlobFetcher } from '../../exchange/ports.js';
import { BackgroundDownloader } from '../../files/backgroundDownloader.js';
import type { Component } from '../components.js';
import type { ContentParts } from './contentParts.js';

export interface BackgroundPartDeps {
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock: Clock;
  readonly content: ContentParts;
  /** Returns the DHT node; null while it does not run. */
  readonly dht: () => DhtNode | null;
  /** Client that downloads blobs; null while no component downloads. */
  readonly fetcher: () => BlobFetcher | null;
}

export function backgroundPart(deps: BackgroundPartDeps): Component {
  const { settings, log, clock, content, dht, fetcher } = deps;
  let downloader: BackgroundDownloader | null = null;
  return {
    name: 'background_downloader',
    dependsOn: ['database', 'blob_manager', 'disk_space'],
    start: () => {
      downloader = new BackgroundDownloader({
        dht,
        fetcher,
        blobs: content.blobs,
        database: content.content,
        space: content.diskSpace,
        savesBlobs: () => settings.get('save_blobs'),
        blobTimeoutMs: () => settings.get('blob_download_timeout') * 1000,
        clock,
        log,
      });
      downloader.start();
      return Promise.resolve();
    },
    stop: async () => {
      await downloader?.stop();
      downloader = null;
    },
    status: () =>
      downloader?.status() ?? { running: false, available_free_space_mb: null, ongoing_download: false },
  };
}
