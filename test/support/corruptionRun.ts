/**
 * A stream whose blobs are corrupted, or whose daemon is killed, repeatedly, at positions and times that a seed chooses. The
 * run checks the bytes that are then played, saved and served.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/daemon/base/clock.js';
import { BlobThreads } from '../../src/daemon/blobs/blobThreads.js';
import { stampText } from '../../src/daemon/blobs/blobWork.js';
import { makeStream, type MadeStream } from '../../src/daemon/blobs/makeStream.js';
import { blobHashOf, isBlobHash, PIECE_BYTES } from '../../src/daemon/content/blobHash.js';
import { Bandwidth } from '../../src/daemon/exchange/bandwidth.js';
import { BlobServer } from '../../src/daemon/exchange/blobServer.js';
import { blobRequestBytes } from '../../src/daemon/exchange/messages.js';
import type { BlobFetcher } from '../../src/daemon/exchange/ports.js';
import { RateLimiter } from '../../src/daemon/exchange/rateLimiter.js';
import { FileManager } from '../../src/daemon/files/fileManager.js';
import { Playing } from '../../src/daemon/files/playing.js';
import { ContentFolder, NOW_SEC } from './contentFolder.js';
import { RawPeer } from './exchangePeers.js';

const KILLED = fileURLToPath(new URL('../functional/support/streamSaver.mjs', import.meta.url));
const SIZE_BYTES = 2 * PIECE_BYTES + 70_000;
const signal = new AbortController().signal;

/** Numbers from 0 to 1 from a seed (mulberry32). */
export function seededNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface CorruptionReport {
  flips: number;
  truncations: number;
  kills: number;
  flippedTables: number;
  /** Bytes that were played, saved or served and differ from the stream. */
  wrongBytes: number;
  /** Corruptions that were repaired by one fetch of the corrupt blob and no other; of the descriptor, without a fetch. */
  healed: number;
  /** Descriptions of other outcomes. */
  readonly faults: string[];
}

/** Number of bytes that differ from the expected ones. */
function differences(found: Uint8Array, expected: Uint8Array): number {
  let count = Math.max(0, found.length - expected.length);
  for (let at = 0; at < Math.min(found.length, expected.length); at++)
    if (found[at] !== expected[at]) count++;
  return count;
}

export class CorruptionRun {
  private readonly random: () => number;
  private readonly threads = new BlobThreads(2);
  private readonly bytes = randomBytes(SIZE_BYTES);
  /** All blobs as peers serve them. */
  private readonly network = new Map<string, Buffer>();
  private readonly folder = new ContentFolder(this.threads);
  private networkFolder = '';
  private made!: MadeStream;
  private fetched: string[] = [];
  private manager!: FileManager;
  private playing!: Playing;
  private server!: BlobServer;
  readonly report: CorruptionReport = {
    flips: 0,
    truncations: 0,
    kills: 0,
    flippedTables: 0,
    wrongBytes: 0,
    healed: 0,
    faults: [],
  };

  constructor(seed: number) {
    this.random = seededNumbers(seed);
  }

  private below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  /** Creates the stream and a folder that has it. */
  async open(): Promise<void> {
    const source = new ContentFolder(this.threads);
    await source.open();
    writeFileSync(join(source.path, 'film.bin'), this.bytes);
    this.made = await makeStream(join(source.path, 'film.bin'), source.making);
    this.networkFolder = join(this.folder.path, 'network');
    mkdirSync(this.networkFolder);
    for (const hash of readdirSync(source.blobFolder)) {
      this.network.set(hash, readFileSync(source.blobPath(hash)));
      writeFileSync(join(this.networkFolder, hash), this.network.get(hash)!);
    }
    await source.close();
    source.remove();
    const { descriptor, sdHash } = this.made;
    await this.folder.open();
    await this.folder.database.addStream({
      descriptor,
      sdHash,
      sdLengthBytes: this.network.get(sdHash)!.length,
      addedOn: NOW_SEC,
      isMine: false,
    });
    for (const [hash, blob] of this.network) await this.folder.store.write(hash, blob);
    await this.folder.database.addFile({
      streamHash: descriptor.streamHash,
      place: null,
      status: 'stopped',
      isSaved: false,
      contentFee: null,
      addedOn: NOW_SEC,
    });
    await this.folder.database.setStreamSize(descriptor.streamHash, SIZE_BYTES);
    await this.start();
  }

  /** As in the exchange, concurrent calls for one blob share the work. */
  private get fetcher(): BlobFetcher {
    const running = new Map<string, Promise<Uint8Array>>();
    const fetchBlob = async (hash: string): Promise<Uint8Array> => {
      const there = await this.folder.store.read(hash);
      if (there !== null) return there;
      const fetched = running.get(hash) ?? this.fetch(hash).finally(() => running.delete(hash));
      running.set(hash, fetched);
      return fetched;
    };
    return { fetchBlob, progressOf: () => null };
  }

  private async fetch(hash: string): Promise<Uint8Array> {
    this.fetched.push(hash);
    const blob = this.network.get(hash)!;
    if (!(await this.folder.store.receive(hash, blob))) this.report.faults.push(`${hash} was not taken`);
    return blob;
  }

  private async start(): Promise<void> {
    const { database, store, path } = this.folder;
    const fetcher = this.fetcher;
    const files = {
      database,
      blobs: store,
      fetcher: () => fetcher,
      reflector: () => null,
      clock: systemClock,
      log: { warn: () => undefined, info: () => undefined },
      settings: () => ({
        downloadDir: join(path, 'saved'),
        savesFiles: false,
        downloadTimeoutMs: 60_000,
        blobTimeoutMs: 60_000,
        cachedBlobs: 0,
      }),
    };
    this.manager = new FileManager(files);
    this.playing = new Playing({ manager: this.manager, files });
    await this.manager.start();
    this.server = new BlobServer({
      blobs: store,
      address: () => null,
      limits: () => ({ total: 20, perAddress: 20 }),
      rate: new RateLimiter(systemClock, () => 0),
      bandwidth: new Bandwidth(systemClock, () => false),
      clock: systemClock,
      // If a blob is found corrupt while it is sent, the connection ends.
      onFailure: () => undefined,
    });
    await this.server.listen(0, '127.0.0.1', { what: 'blob exchange', settings: 'tcp_port' });
  }

  private async stop(): Promise<void> {
    await this.server.close();
    await this.manager.close();
    await this.folder.close();
  }

  private async restart(): Promise<void> {
    await this.stop();
    await this.folder.open();
    await this.start();
  }

  /** One corruption or kill, and its outcome. */
  async round(): Promise<void> {
    if (this.random() < 0.25) return this.kill();
    const hashes = [...this.network.keys()];
    // A blob that was fetched in the last round may still be on its way to the disk.
    await Promise.all(hashes.map((hash) => this.folder.store.kept(hash)));
    const corrupted = hashes[this.below(hashes.length)]!;
    // Before the corruption the blob may be verified, a bit of a stored table flipped, and the daemon restarted.
    if (this.random() < 0.5) await this.folder.store.read(corrupted);
    if (this.random() < 0.3) await this.flipTable();
    if (this.random() < 0.3) await this.restart();
    this.fetched = [];
    const serving = this.random() < 0.3 ? this.servedDuring(corrupted) : null;
    await this.corrupt(corrupted);
    await serving?.();
    await this.use(corrupted);
    await this.expectHealed(corrupted);
  }

  /** Flips a bit in the stored table of a random blob's chunks, which may be the next blob to be corrupted. */
  private async flipTable(): Promise<void> {
    const { database } = this.folder;
    const hashes = [...this.network.keys()];
    const hash = hashes[this.below(hashes.length)]!;
    const check = await database.blobCheck(hash);
    if (check === null) return;
    const table = Buffer.from(check.table);
    table[this.below(table.length)]! ^= 1 << this.below(8);
    await database.noteChecked([{ ...check, table }]);
    this.report.flippedTables++;
  }

  private async corrupt(hash: string): Promise<void> {
    const path = this.folder.blobPath(hash);
    const { atime, mtime } = statSync(path);
    const blob = this.network.get(hash)!;
    if (this.random() < 0.4) {
      truncateSync(path, this.below(blob.length));
      this.report.truncations++;
    } else {
      const corrupt = Buffer.from(blob);
      corrupt[this.below(blob.length)]! ^= 1 << this.below(8);
      writeFileSync(path, corrupt);
      this.report.flips++;
    }
    // The corruption may keep the modification time.
    if (this.random() < 0.5) utimesSync(path, atime, mtime);
    if (this.random() < 0.5) return;
    // Records the new stamp of the file, so that the stamp does not reveal the corruption. A corruption by the disk does not
    // change the stamp either.
    const { database } = this.folder;
    const check = await database.blobCheck(hash);
    const stamp = stampText(statSync(path, { bigint: true }));
    if (check !== null) await database.noteChecked([{ ...check, stamp }]);
  }

  private count(found: Uint8Array, expected: Uint8Array, how: string): void {
    const wrong = differences(found, expected);
    this.report.wrongBytes += wrong;
    if (wrong > 0) this.report.faults.push(`${wrong} wrong bytes were ${how}`);
  }

  /** Plays and saves the stream and serves the blob. Which of the three is first is random. */
  private async use(corrupted: string): Promise<void> {
    const ways = [() => this.serve(corrupted), () => this.play(), () => this.save()];
    const first = this.below(ways.length);
    for (let n = 0; n < ways.length; n++) await ways[(first + n) % ways.length]!();
  }

  private async play(): Promise<void> {
    const [from, length] = [this.below(SIZE_BYTES), this.below(SIZE_BYTES)];
    const ranges = [
      [from, Math.min(SIZE_BYTES, from + length)],
      [0, SIZE_BYTES],
    ] as const;
    for (const [start, end] of ranges) {
      const stream = (await this.playing.open(this.made.sdHash, { mayDownload: true, signal }))!;
      let at = start;
      for await (const piece of stream.read(start, end, signal)) {
        this.count(piece, this.bytes.subarray(at, at + piece.length), 'played');
        at += piece.length;
      }
      if (at !== end) this.report.faults.push(`a range ended at ${at} instead of ${end}`);
    }
  }

  private async save(): Promise<void> {
    const file = (await this.manager.bySdHash(this.made.sdHash))!;
    await file.save({ fileName: 'saved.bin' });
    await file.settled();
    this.count(readFileSync(join(file.place!.directory, file.place!.fileName)), this.bytes, 'saved');
    if (!file.isCompleted) this.report.faults.push('a file was not saved whole');
    rmSync(file.place!.directory, { recursive: true });
  }

  /** Requests a blob as a peer does. The received bytes must be those of the blob, all or the first ones. */
  private async serve(hash: string): Promise<void> {
    await (
      await this.begin(hash)
    )();
  }

  /** Sends the request at once. The returned function receives and checks the answer. */
  private servedDuring(hash: string): () => Promise<void> {
    const begun = this.begin(hash);
    return async () => (await begun)();
  }

  private async begin(hash: string): Promise<() => Promise<void>> {
    const peer = new RawPeer(this.server.port!);
    if (this.random() < 0.5) await this.takeFast(peer, hash);
    peer.send(blobRequestBytes(hash));
    const answer = peer.takeJson().catch(() => null);
    return async () => {
      const { incoming_blob: incoming } = (await answer) ?? {};
      if (incoming !== undefined) {
        const { length } = incoming as { length: number };
        const bytes = await peer.take(length).catch(() => peer.untilClosed());
        this.count(bytes, this.network.get(hash)!, 'served');
      }
      peer.close();
    };
  }

  /** Takes two other blobs, so that the server reads the blob `next` before it is requested. */
  private async takeFast(peer: RawPeer, next: string): Promise<void> {
    for (const hash of [...this.network.keys()].filter((one) => one !== next).slice(0, 2)) {
      peer.send(blobRequestBytes(hash, [next]));
      const { incoming_blob: incoming } = await peer.takeJson();
      const { length } = incoming as { length: number };
      this.count(await peer.take(length), this.network.get(hash)!, 'served');
    }
  }

  private async expectHealed(corrupted: string): Promise<void> {
    const found = await this.folder.store.read(corrupted);
    const isSd = corrupted === this.made.sdHash;
    // The descriptor is rebuilt from its rows, without a fetch.
    const wanted = isSd ? [] : [corrupted];
    const isHealed =
      found !== null &&
      this.network.get(corrupted)!.equals(found) &&
      JSON.stringify(this.fetched) === JSON.stringify(wanted);
    if (isHealed) this.report.healed++;
    else this.report.faults.push(`${isSd ? 'the descriptor' : 'a blob'} took ${this.fetched.length} fetches`);
  }

  /** Kills a process that downloads and saves the stream, at a random time, and checks the files that it left. */
  private async kill(): Promise<void> {
    await this.server.close();
    await this.manager.close();
    const hashes = [...this.network.keys()].filter((hash) => hash !== this.made.sdHash);
    // Removes some blobs, so that they are downloaded again.
    const missing = hashes.filter(() => this.random() < 0.7);
    await this.folder.store.delete(missing);
    await this.folder.close();
    const child = spawn(process.execPath, [KILLED, this.folder.path, this.networkFolder, this.made.sdHash], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    for await (const line of createInterface({ input: child.stdout })) if (line === 'begun') break;
    await sleep(this.below(120));
    child.kill('SIGKILL');
    await exited;
    this.report.kills++;
    for (const name of readdirSync(this.folder.blobFolder).filter(isBlobHash))
      if (blobHashOf(readFileSync(this.folder.blobPath(name))) !== name)
        this.report.faults.push(`the kill left a part of ${name}`);
    this.fetched = [];
    await this.folder.open();
    await this.start();
    await (await this.manager.bySdHash(this.made.sdHash))!.settled();
    rmSync(join(this.folder.path, 'saved'), { recursive: true, force: true });
    for (const use of [() => this.play(), () => this.save(), () => this.serve(hashes[0]!)]) await use();
    if (this.fetched.length === new Set(this.fetched).size) this.report.healed++;
    else this.report.faults.push('a blob was fetched twice after a kill');
  }

  async close(): Promise<void> {
    await this.stop();
    await this.threads.close();
    this.folder.remove();
  }
}
