/**
 * Writes the cache file (image, `store/walletImage.ts`) of an open wallet in the background, when the wallet was loaded
 * without one or many rows changed. So a wallet opens fast after a kill, too. An image is written only from a state in which
 * memory and file agree. If the wallet changes meanwhile, the attempt is discarded and repeated later.
 */
import { inSlices } from '../scheduler/slices.js';
import type { EventQueue } from './eventQueue.js';
import type { NodePort } from './port.js';
import type { Scans } from './scan/scans.js';
import type { ImageMaker } from './store/walletFile.js';
import type { WalletParts } from './store/walletImage.js';
import { imageParts, isOtherRow, type ImagedWallet } from './walletImage.js';

/** Time in ms from the first change that makes an image due to the attempt, and between attempts that fail. Arbitrary. */
const DELAY_MS = 5000;
/** Minimum time in ms between two images. Arbitrary. */
const PAUSE_MS = 60_000;

/** The parts of an open wallet that show whether it is in use. */
interface OpenWallet extends ImagedWallet {
  readonly node: NodePort;
  readonly events: EventQueue;
  readonly scans: Scans;
  readonly isReconsidering: boolean;
  /** Name of the wallet for log lines. */
  readonly logName: string;
}

export class ImageKeeper {
  private readonly wallet: OpenWallet;
  private timer: NodeJS.Timeout | null = null;
  private isActive = false;
  private running: Promise<unknown> | null = null;
  /** Time of `performance.now()` before which no image is written. */
  private notBeforeMs = 0;

  constructor(wallet: OpenWallet) {
    this.wallet = wallet;
  }

  /** Starts writing images. The wallet must be loaded and follow the chain. */
  begin(): void {
    this.isActive = true;
    this.consider();
  }

  /** Schedules an image if one is due. */
  consider(): void {
    if (!this.isActive || this.timer !== null || this.running !== null || !this.wallet.file.needsImage)
      return;
    const waitMs = Math.max(DELAY_MS, this.notBeforeMs - performance.now());
    this.timer = setTimeout(() => {
      this.timer = null;
      this.running = this.refresh().finally(() => {
        this.running = null;
        this.consider();
      });
    }, waitMs);
    // The timer must not keep the process running.
    this.timer.unref();
  }

  /** Writes an image now. Resolves to false if the wallet is in use, if it changes during the write, or on an error. Never rejects. */
  async refresh(): Promise<boolean> {
    try {
      const isWritten = await this.wallet.file.refreshImage(this.maker(0));
      if (isWritten) this.notBeforeMs = performance.now() + PAUSE_MS;
      return isWritten;
    } catch (error) {
      this.noteFailure(error);
      return false;
    }
  }

  /**
   * Writes a backup of the wallet. Unless calls other than the caller's use the wallet, the backup contains an image, so that it
   * opens fast. Rejects with `EnvironmentError`.
   */
  backup(path: string): Promise<void> {
    return this.wallet.file.backup(path, this.maker(1));
  }

  /** `users`: maximum number of tasks that may use the wallet while the image is made. */
  private maker(users: number): ImageMaker {
    const { wallet } = this;
    const { events, scans, keyring, keypool } = wallet;
    const counts = (): number[] => [events.startedCount, keyring.revision, keypool.reservedCount];
    const before = counts();
    return {
      makeParts: () => imageParts(wallet),
      isOther: isOtherRow,
      isStill: () =>
        events.isIdleBeside(users) &&
        scans.progress === null &&
        !wallet.isReconsidering &&
        counts().every((count, at) => count === before[at]),
    };
  }

  /** Ends background work. Resolves when no attempt is running. */
  async stop(): Promise<void> {
    this.isActive = false;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    await this.running;
  }

  /**
   * Data of a wallet that is being closed, for its image. Null if the existing image is still valid, or if no image can be
   * written.
   */
  async finalParts(): Promise<WalletParts | null> {
    const { file } = this.wallet;
    await file.settled();
    if (file.hasImage) return null;
    try {
      return await inSlices(imageParts(this.wallet));
    } catch (error) {
      this.noteFailure(error);
      return null;
    }
  }

  /** Logs an error. Without an image the next start reads all rows. */
  private noteFailure(error: unknown): void {
    const { node, logName } = this.wallet;
    node.log.debug('db', `${logName} The cached image of the wallet could not be written: ${String(error)}`);
  }
}
