/** Tests that only concern the PostgreSQL backend: refusals, a single writer, broken connections, and time limits. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { regtestParams } from '../../../src/params/regtest.js';
import { addressPrefixesOf } from '../../../src/script/address.js';
import { parseConstraints } from '../../../src/search/query/constraints.js';
import { SearchFollower } from '../../../src/search/follow/follower.js';
import { probePostgres } from '../../../src/search/postgres/postgresBackend.js';
import { PostgresIndexWriter } from '../../../src/search/postgres/postgresIndexWriter.js';
import { PostgresConnection } from '../../../src/search/postgres/postgresProvider.js';
import { PostgresReader } from '../../../src/search/postgres/postgresReader.js';
import { createIndexTables } from '../../../src/search/postgres/postgresSchema.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import { Random } from '../../support/claimSearchModel.js';
import { FakeClaimIndex } from '../../support/fakeClaimIndex.js';
import { newPostgresTarget, postgresUrl, searchBackends } from '../../support/searchBackends.js';
import { Wire } from '../../support/wire.js';

const prefixes = addressPrefixesOf(regtestParams);
const lists = { blocking: [], filtering: [] };
const EVERYTHING = parseConstraints({ order_by: 'height' });

type Target = Awaited<ReturnType<typeof newPostgresTarget>>;

describe.skipIf(postgresUrl() === null)('the search index in PostgreSQL', () => {
  let target: Target;
  let admin: PostgresConnection;
  const closers: (() => Promise<void>)[] = [];
  const backend = searchBackends.find(({ name }) => name === 'PostgreSQL')!;

  beforeAll(async () => {
    target = await newPostgresTarget();
    admin = await PostgresConnection.open(target, 'writer');
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    await admin.query(`DROP SCHEMA IF EXISTS ${target.schema} CASCADE`);
  });
  afterAll(() => admin.close());

  const newWriter = (chain = 'chain') => {
    const writer = new PostgresIndexWriter({ ...target, chain, prefixes });
    closers.push(() => writer.close());
    return writer;
  };
  const newReader = (url = target.url) => {
    const reader = new PostgresReader({ ...target, url, chain: 'chain', lists });
    closers.push(() => reader.close());
    return reader;
  };
  const follow = (index: FakeClaimIndex, writer: PostgresIndexWriter) =>
    new SearchFollower(index, index, writer, SILENT_LOGGER, { keptBlocks: 10 });
  const newIndex = (blocks: number) => {
    const index = new FakeClaimIndex(4);
    for (let n = 0; n < blocks; n++) index.mine(10);
    return index;
  };
  const open = (changes: object = {}) => probePostgres({ ...target, chain: 'chain', ...changes });
  /** The message with which a start is refused. */
  const refusal = async (changes: object = {}): Promise<string> => {
    const error: unknown = await open(changes).then(
      () => new Error('nothing was refused'),
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ name: 'EnvironmentError' });
    return (error as Error).message;
  };
  /** Ends the connections of the writer. */
  const breakWriter = () =>
    admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lbcnode writer ${target.schema}' AND pid <> pg_backend_pid()`,
    );

  it('refuses tables of another chain or a later version, or other tables, and does not change them', async () => {
    await createIndexTables(admin, 'other');
    expect(await refusal()).toContain('contains the search index of another chain');
    await expect(newWriter().state()).rejects.toThrow('another chain');
    await admin.query(`UPDATE state SET value = '999' WHERE key = 'version'`);
    expect(await refusal({ chain: 'other' })).toContain('of a later version of lbcnode');
    expect(await admin.query('SELECT key FROM state')).toHaveLength(2);
    await admin.query('DROP TABLE state');
    expect(await refusal()).toContain('contains tables that do not belong to a search index');
    await expect(newWriter().state()).rejects.toThrow('contains tables that do not belong to a search index');
  });

  it('rebuilds the tables of an older version', async () => {
    await createIndexTables(admin, 'chain');
    await admin.query(`UPDATE state SET value = '0' WHERE key = 'version'`);
    await admin.query(`INSERT INTO state VALUES ('tip', '{"height":5,"hash":"aa"}')`);
    await expect(newReader().search(EVERYTHING, 10_000)).rejects.toThrow('is being built');
    expect(await newWriter().state()).toEqual({ tip: null, build: null, documents: 0, isShared: true });
  });

  it('reports why a server refuses it, without the password', async () => {
    const url = new URL(target.url);
    url.password = 'wrong-password';
    const message = await refusal({ url: url.href });
    expect(message).toContain('authentication failed');
    expect(message).not.toContain('wrong-password');
    expect(await refusal({ url: `${target.url}-none` })).toContain('does not exist');
    expect(await refusal({ url: 'postgres://me:secret-word@[:5' })).not.toContain('secret-word');
  });

  it('is written by one node at a time; another reads, and takes over', async () => {
    const index = newIndex(20);
    const [first, second] = [newWriter(), newWriter()];
    const leader = follow(index, first);
    await leader.sync();
    const other = follow(index, second);
    await other.sync();
    expect(other.status).toMatchObject({ tip: leader.status.tip, documents: leader.status.documents });
    index.mine(10);
    await other.sync();
    expect(other.status.tip!.height).toBe(19);
    await expect(second.note([])).rejects.toThrow('connection to PostgreSQL was lost');
    await first.close();
    await other.sync();
    expect(other.status.tip!.height).toBe(20);
    await leader.sync();
    expect(await first.state()).toMatchObject({ isKeptByOther: true, tip: other.status.tip });
  });

  it('writes nothing on a new connection before it has read the state again', async () => {
    const writer = newWriter();
    await writer.state();
    await breakWriter();
    await expect(writer.note([{ height: 1, hash: 'aa', claimIds: [] }])).rejects.toThrow();
    await expect(writer.note([{ height: 1, hash: 'aa', claimIds: [] }])).rejects.toThrow('was lost');
    await writer.state();
    await writer.note([{ height: 1, hash: 'aa', claimIds: [] }]);
    expect(await writer.notes()).toEqual([{ height: 1, hash: 'aa', claimIds: [] }]);
  });

  it('is complete after connections that broke at any time', async () => {
    const random = new Random(8);
    const index = newIndex(25);
    const follower = follow(index, newWriter());
    // The connection breaks at one of the next statements, either before the statement runs or before its answer arrives.
    let statements = Infinity;
    const query = PostgresConnection.prototype.query;
    vi.spyOn(PostgresConnection.prototype, 'query').mockImplementation(async function (
      this: PostgresConnection,
      ...args
    ) {
      const breaks = this !== admin && --statements === 0;
      if (breaks && random.chance(0.5)) await breakWriter();
      const answer = await query.apply(this, args);
      if (!breaks) return answer;
      await breakWriter();
      throw new Error('the connection broke');
    });
    let breaks = 0;
    for (let round = 0; round < 15; round++) {
      if (random.chance(0.4)) index.takeBack(1 + random.below(3));
      for (let n = random.below(3); n >= 0; n--) index.mine(8);
      statements = 1 + random.below(60);
      await follower.sync().catch(() => breaks++);
      statements = Infinity;
      await follower.sync();
      expect(follower.status.tip).toEqual({ height: index.height, hash: index.hashAt(index.height) });
    }
    vi.restoreAllMocks();
    expect(breaks).toBeGreaterThan(3);
    const fresh = await backend.make();
    const freshWriter = await fresh.openWriter();
    await new SearchFollower(index, index, freshWriter, SILENT_LOGGER).sync();
    await freshWriter.close();
    const scores = await admin.query('SELECT claim_id, trending_score FROM claim ORDER BY claim_id');
    const expected = (await fresh.contents())['rows'] as Record<string, unknown>[];
    const byId = (a: Record<string, unknown>, b: Record<string, unknown>) =>
      Buffer.compare(a['claim_id'] as Buffer, b['claim_id'] as Buffer);
    expect(scores).toEqual(
      expected.sort(byId).map(({ claim_id, trending_score }) => ({ claim_id, trending_score })),
    );
    await fresh.remove();
  });

  it('ends statements at the time limit, and continues with others', async () => {
    await follow(newIndex(10), newWriter()).sync();
    const reader = newReader();
    await admin.query('BEGIN');
    await admin.query('LOCK TABLE claim IN ACCESS EXCLUSIVE MODE');
    const late = reader.search(EVERYTHING, 300);
    await expect(late).rejects.toMatchObject({
      name: 'SearchError',
      kind: 'timeout',
      message: 'query timed out',
    });
    const running = await admin.query(
      `SELECT 1 FROM pg_stat_activity WHERE application_name = 'lbcnode reader ${target.schema}' AND state = 'active'`,
    );
    expect(running).toEqual([]);
    await admin.query('ROLLBACK');
    expect((await reader.search(EVERYTHING, 10_000)).total).toBeGreaterThan(0);
  });

  it('reports a clear error while the server is away or silent, and reconnects', async () => {
    await follow(newIndex(10), newWriter()).sync();
    const url = new URL(target.url);
    let wire = new Wire(url.hostname, Number(url.port));
    const port = await wire.open();
    const through = new URL(target.url);
    through.port = String(port);
    const reader = newReader(through.href);
    const { total } = await reader.search(EVERYTHING, 10_000);
    wire.isSilent = true;
    await expect(reader.search(EVERYTHING, 100)).rejects.toMatchObject({ kind: 'timeout' });
    await wire.cut();
    await expect(reader.search(EVERYTHING, 10_000)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('The search index cannot be queried') as string,
    });
    expect((await open({ url: through.href })).away).toContain('cannot be reached');
    wire = new Wire(url.hostname, Number(url.port));
    await wire.open(port);
    expect((await reader.search(EVERYTHING, 10_000)).total).toBe(total);
    await wire.cut();
  });
});
