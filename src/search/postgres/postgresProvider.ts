/**
 * Connections to PostgreSQL with the optional package `pg`. A connection uses one schema and UTF-8, and is not reused after
 * an error of the connection itself. Messages never contain passwords of the URL.
 */
import type * as Postgres from 'pg';
import { EnvironmentError } from '../../util/text/environmentError.js';
import type { SqlValue } from '../../sqlite/sqliteProvider.js';

export interface PostgresTarget {
  /** `postgres://user:password@host:port/database?sslmode=…` */
  readonly url: string;
  /** Name of the schema that contains the tables. */
  readonly schema: string;
}

export type PostgresRow = Readonly<Record<string, unknown>>;
export type PostgresValue = SqlValue | readonly SqlValue[];

/** Minimum server version. Older servers cannot end a statement when its client has disconnected. */
const LEAST_VERSION = 140_000;
const CONNECT_MS = 10_000;
const PACKAGE = 'pg';
/** PostgreSQL's type number of 64-bit integers. */
const INT8 = 20;

/** Settings of all connections. They are set explicitly, because a server may have other defaults. */
const SETTINGS = `
  SET jit = off; SET bytea_output = 'hex'; SET extra_float_digits = 1; SET standard_conforming_strings = on;
  SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0;
  SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3`;

const ROLE_SETTINGS = {
  // Commits of the writer need not wait for the disk: the index position is written with the rows, so rows lost in a crash
  // of the server are written again.
  writer: `SET synchronous_commit = off; SET maintenance_work_mem = '256MB'; SET work_mem = '64MB'`,
  reader: `SET default_transaction_read_only = on; SET work_mem = '32MB'; SET client_connection_check_interval = '2s'`,
} as const;

export type PostgresRole = keyof typeof ROLE_SETTINGS;

/** Matches SQLSTATE codes of permanent errors. Source: PostgreSQL's documentation, appendix A. */
const LASTING = /^(?:28|3D000|42501|0A000)/;

/** Error: the server is not reachable or the connection was lost. A retry may succeed. */
export class PostgresAwayError extends Error {
  override readonly name = 'PostgresAwayError';
}

/** Loads the package `pg`. Throws `EnvironmentError` with installation instructions if it is missing. */
async function loadPostgres(): Promise<typeof Postgres> {
  try {
    return await import('pg');
  } catch (error) {
    throw new EnvironmentError(
      `A search index in PostgreSQL needs the package ${PACKAGE}, which is not installed ` +
        `(${(error as Error).message.split('\n')[0]}). Install it next to lbcnode (npm install ${PACKAGE}, ` +
        'with -g if lbcnode was installed with -g), or start without -claimsearchurl',
    );
  }
}

/** Returns an identifier quoted for SQL. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export class PostgresConnection {
  private readonly client: Postgres.Client;
  private failure: Error | null = null;
  /** Version of the server. */
  readonly version: string;
  readonly schema: string;

  private constructor(client: Postgres.Client, schema: string, version: string) {
    this.client = client;
    this.schema = schema;
    this.version = version;
  }

  /**
   * Opens a connection. Throws `PostgresAwayError` if the server does not respond. Throws `EnvironmentError` if the server
   * rejects the connection permanently, because of its version, its encoding, the user, the password or the database.
   */
  static async open({ url, schema }: PostgresTarget, role: PostgresRole): Promise<PostgresConnection> {
    const { Client: PostgresClient, types } = await loadPostgres();
    let client: Postgres.Client;
    try {
      client = new PostgresClient({
        connectionString: url,
        application_name: `lbcnode ${role} ${schema}`,
        connectionTimeoutMillis: CONNECT_MS,
        keepAlive: true,
        types: {
          getTypeParser: (type: number, format?: 'text' | 'binary') =>
            type === INT8 ? Number : (types.getTypeParser(type, format) as (value: string) => unknown),
        },
      });
    } catch {
      // The parser's error text is omitted, because it may contain the password.
      throw new EnvironmentError('-claimsearchurl is not a valid URL of a PostgreSQL server');
    }
    const place = `PostgreSQL at ${client.host}:${client.port}, database ${client.database ?? ''}`;
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ number: string; version: string; encoding: string }>(
        `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version,
          current_setting('server_encoding') AS encoding`,
      );
      const [{ number, version, encoding }] = rows as [(typeof rows)[0]];
      if (Number(number) < LEAST_VERSION)
        throw new EnvironmentError(
          `${place}: version ${version} is too old; the search index needs version 14 or later`,
        );
      if (encoding !== 'UTF8')
        throw new EnvironmentError(
          `${place}: the database has the encoding ${encoding}; the search index needs UTF8`,
        );
      await client.query(`${SETTINGS}; ${ROLE_SETTINGS[role]}; SET search_path = ${quoteName(schema)}`);
      const connection = new PostgresConnection(client, schema, version.split(' ')[0]!);
      client.on('error', (error) => (connection.failure ??= error));
      client.on('end', () => (connection.failure ??= new Error('the connection was closed')));
      return connection;
    } catch (error) {
      client.end().catch(() => undefined);
      if (error instanceof EnvironmentError) throw error;
      const { message } = error as Error;
      if (LASTING.test(sqlState(error) ?? '')) throw new EnvironmentError(`${place}: ${message}`);
      throw new PostgresAwayError(`${place} cannot be reached: ${message}`);
    }
  }

  get isOpen(): boolean {
    return this.failure === null;
  }

  /**
   * Runs a statement and returns its rows. 64-bit integers are returned as `number`, because those in the index never exceed
   * 2^53.
   */
  query(sql: string, values: readonly PostgresValue[] = []): Promise<PostgresRow[]> {
    return this.guarded(async () => (await this.client.query<PostgresRow>(sql, values as unknown[])).rows);
  }

  /** Runs several statements in one message. Returns the rows of each statement. */
  script(sql: string): Promise<PostgresRow[][]> {
    return this.guarded(async () => {
      const answer: unknown = await this.client.query(sql);
      const results = (Array.isArray(answer) ? answer : [answer]) as { readonly rows: PostgresRow[] }[];
      return results.map(({ rows }) => rows);
    });
  }

  async close(): Promise<void> {
    this.failure ??= new Error('the connection was closed');
    await this.client.end().catch(() => undefined);
  }

  /**
   * Closes the connection immediately, even during a statement. The server ends the statement when it notices the
   * disconnection.
   */
  destroy(): void {
    this.failure ??= new Error('the connection was closed');
    (this.client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  }

  /**
   * Runs a call. An error that the server did not report, or with which the server closes the connection, is treated as a
   * connection error.
   */
  private async guarded<T>(call: () => Promise<T>): Promise<T> {
    if (this.failure !== null) throw this.away(this.failure);
    try {
      return await call();
    } catch (error) {
      if (sqlState(error) !== undefined && !/^(?:08|57P)/.test(sqlState(error)!)) throw error;
      this.failure ??= error as Error;
      throw this.away(error as Error);
    }
  }

  private away(error: Error): PostgresAwayError {
    return new PostgresAwayError(`PostgreSQL at ${this.client.host}:${this.client.port}: ${error.message}`);
  }
}

/** Returns the SQLSTATE code of an error that the PostgreSQL server reported; undefined for other errors. */
export function sqlState(error: unknown): string | undefined {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined;
}
