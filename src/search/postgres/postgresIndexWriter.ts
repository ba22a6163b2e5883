/**
 * PostgreSQL index writer of the follower: builds documents from claims and passes them to `PostgresWriter`. Opens a
 * connection on demand and reconnects after an error, so the follower's next attempt succeeds when the server is back. Only
 * the node whose connection holds the lock of the index may write. `state` acquires the lock; after a lost connection
 * nothing is written until `state` is called again.
 */
import { createHash } from 'node:crypto';
import type { AddressPrefixes } from '../../script/address.js';
import { SerialQueue } from '../../scheduler/serialQueue.js';
import type { ClaimDocument } from '../document/document.js';
import { statesOf, type ClaimSources } from '../document/documentSource.js';
import type {
  BlockId,
  BlockNote,
  BlockScores,
  BlockStep,
  IndexState,
  IndexWriter,
} from '../follow/indexChange.js';
import { PostgresAwayError, PostgresConnection, type PostgresTarget } from './postgresProvider.js';
import { createIndexTables, schemaContent } from './postgresSchema.js';
import { PostgresWriter, readIndexState, readNotes, readReposts } from './postgresWriter.js';

/** Number of documents in one transaction of a first build: about 10 MB of memory. */
export const BULK_DOCUMENTS = 5000;

export interface PostgresIndexOptions extends PostgresTarget {
  /** Hash of the chain's genesis block, which identifies the chain. */
  readonly chain: string;
  readonly prefixes: AddressPrefixes;
}

/**
 * Returns the number of the advisory lock for a schema. Advisory locks are shared by all users of the database, so the
 * number is derived from a hash.
 */
function lockNumber(schema: string): string {
  return String(createHash('sha256').update(`lbcnode search index ${schema}`).digest().readBigInt64BE(0));
}

export class PostgresIndexWriter implements IndexWriter {
  private readonly options: PostgresIndexOptions;
  private readonly queue = new SerialQueue();
  private connection: PostgresConnection | null = null;
  /** Writer with a cached state. Null if this node does not hold the advisory lock, or if the cached state is not valid. */
  private writer: PostgresWriter | null = null;
  private hasLock = false;
  private waiting: ClaimDocument[] = [];
  private waitingHidden = new Set<string>();
  private after: string | null = null;

  constructor(options: PostgresIndexOptions) {
    this.options = options;
  }

  state(): Promise<IndexState> {
    return this.run(async (connection) => {
      // Removes documents of a failed build that were not written. The build continues from the written state.
      this.waiting = [];
      this.waitingHidden = new Set();
      this.after = null;
      if (await this.lock(connection)) return { ...(await readIndexState(connection)), isShared: true };
      const content = await schemaContent(connection, this.options.chain);
      if (content !== 'index') return { tip: null, build: null, documents: 0, isKeptByOther: true };
      return { ...(await readIndexState(connection)), isKeptByOther: true };
    });
  }

  notes(): Promise<readonly BlockNote[]> {
    return this.run(readNotes);
  }

  note(blocks: readonly BlockNote[]): Promise<void> {
    return this.write((writer) => writer.note(blocks));
  }

  repostsOf(claimIds: readonly string[]): Promise<readonly string[]> {
    return this.run((connection) => readReposts(connection, claimIds));
  }

  applyBlocks(steps: readonly BlockStep[], claims: ClaimSources): Promise<number> {
    return this.write((writer) => writer.applyBlocks(steps, this.states(claims)));
  }

  rewind(tip: BlockId, abandoned: readonly BlockId[], claims: ClaimSources): Promise<void> {
    return this.write((writer) => writer.rewind(tip, abandoned, this.states(claims)));
  }

  refresh(abandoned: readonly BlockId[], claims: ClaimSources): Promise<void> {
    return this.write((writer) => writer.refresh(abandoned, this.states(claims)));
  }

  startBuild(base: BlockId): Promise<void> {
    return this.write(async (writer) => {
      await writer.startBuild(base);
      this.writer = null;
    });
  }

  addClaims(claims: ClaimSources): Promise<void> {
    return this.write(async (writer) => {
      const { documents, hidden, gone } = this.states(claims);
      for (const document of documents) this.waiting.push(document);
      for (const id of [...hidden, ...gone]) this.waitingHidden.add(id);
      const last = claims.sources.at(-1);
      if (last !== undefined) this.after = last.claimId;
      if (this.waiting.length >= BULK_DOCUMENTS) await this.writeWaiting(writer);
    });
  }

  endClaims(): Promise<void> {
    return this.write(async (writer) => {
      await this.writeWaiting(writer);
      await writer.endDocuments();
    });
  }

  addScores(blocks: readonly BlockScores[]): Promise<void> {
    return this.write((writer) => writer.addScores(blocks));
  }

  endBuild(): Promise<void> {
    return this.write(async (writer) => {
      await writer.endBuild();
      this.writer = null;
    });
  }

  close(): Promise<void> {
    return this.queue.run(() => this.disconnect());
  }

  private states(claims: ClaimSources) {
    return statesOf(claims, this.options.prefixes);
  }

  private async writeWaiting(writer: PostgresWriter): Promise<void> {
    const { waiting, waitingHidden, after } = this;
    this.waiting = [];
    this.waitingHidden = new Set();
    await writer.addDocuments(waiting, [...waitingHidden], after);
  }

  private async disconnect(): Promise<void> {
    const { connection } = this;
    this.connection = null;
    this.writer = null;
    this.hasLock = false;
    await connection?.close();
  }

  /** Acquires the lock if possible, and creates the tables if this node holds it. Returns whether this node may write. */
  private async lock(connection: PostgresConnection): Promise<boolean> {
    if (this.hasLock) return true;
    const number = lockNumber(connection.schema);
    const [row] = await connection.query('SELECT pg_try_advisory_lock($1) AS locked', [number]);
    if (row!['locked'] !== true) return false;
    const { chain } = this.options;
    if ((await schemaContent(connection, chain)) !== 'index') await createIndexTables(connection, chain);
    this.hasLock = true;
    return true;
  }

  private write<T>(call: (writer: PostgresWriter) => Promise<T>): Promise<T> {
    return this.run(async (connection) => {
      // Another node may have taken the lock and written since the state was read.
      if (!this.hasLock) throw new PostgresAwayError('The connection to PostgreSQL was lost');
      this.writer ??= await PostgresWriter.on(connection);
      return call(this.writer);
    });
  }

  /** Runs calls one after the other. After an error the connection is closed. */
  private run<T>(call: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    return this.queue.run(async () => {
      try {
        if (this.connection?.isOpen === false) await this.disconnect();
        this.connection ??= await PostgresConnection.open(this.options, 'writer');
        return await call(this.connection);
      } catch (error) {
        await this.disconnect();
        throw error;
      }
    });
  }
}
