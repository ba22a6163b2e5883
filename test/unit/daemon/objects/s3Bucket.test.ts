/** Requests to an object store: their signatures, and the error for each failure. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { S3Bucket, type ObjectStoreError } from '../../../../src/daemon/objects/s3Bucket.js';
import { offsitePlaceOf } from '../../../../src/daemon/main/parts/offsitePlace.js';
import type { Settings } from '../../../../src/daemon/api/settings.js';
import { freePort } from '../../../functional/support/node.js';
import { FakeClock } from '../../../support/fakeClock.js';
import { ACCESS_KEY, BUCKET, S3StandIn, SECRET_KEY } from '../../../support/s3StandIn.js';

const SD_HASH = 'ab'.repeat(48);

const clock = new FakeClock();
const store = new S3StandIn(() => clock.nowSec());
let stopping: AbortController;

const bucketOf = (credentials = {}, place = {}, ticking = clock): S3Bucket =>
  new S3Bucket({
    place: { endpoint: store.endpoint, region: 'eu-west-1', bucket: BUCKET, prefix: 'a.b/c-d/', ...place },
    credentials: { accessKey: ACCESS_KEY, secretKey: SECRET_KEY, sessionToken: null, ...credentials },
    clock: ticking,
    stopping: stopping.signal,
  });

const problem = (task: Promise<unknown>): Promise<ObjectStoreError> =>
  task.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error as ObjectStoreError,
  );

beforeAll(() => store.start());
afterAll(() => store.stop());
beforeEach(() => {
  store.objects.clear();
  store.requests.length = 0;
  store.fault = () => null;
  store.sessionToken = null;
  stopping = new AbortController();
});

describe('a bucket', () => {
  it('stores an object and returns it with its stream', async () => {
    const bucket = bucketOf();
    const bytes = randomBytes(100_000);
    await bucket.put('name', bytes, SD_HASH);
    expect([...store.objects.keys()]).toEqual(['a.b/c-d/name']);
    expect(await bucket.head('name')).toEqual({ lengthBytes: 100_000, sdHash: SD_HASH });
    expect(bytes.equals((await bucket.get('name'))!)).toBe(true);
    expect([await bucket.head('none'), await bucket.get('none')]).toEqual([null, null]);
  });

  it('reports an object of another program as one without a stream', async () => {
    store.objects.set('a.b/c-d/name', { bytes: Buffer.from('x'), meta: {} });
    expect(await bucketOf().head('name')).toEqual({ lengthBytes: 1, sdHash: null });
  });

  it('signs the token of temporary keys', async () => {
    store.sessionToken = 'a/token==';
    await bucketOf({ sessionToken: 'a/token==' }).put('name', randomBytes(5), SD_HASH);
    expect((await problem(bucketOf().head('name'))).message).toBe('it answered with the HTTP status 403');
  });

  it('signs with the date of the request', async () => {
    const bucket = bucketOf();
    for (let day = 0; day < 4; day++) {
      expect(await bucket.head('none')).toBeNull();
      await clock.advance(86_400_000);
    }
  });

  it.each([
    ['an unknown key', { accessKey: 'OTHER' }, {}, 'InvalidAccessKeyId'],
    ['a wrong key', { secretKey: 'wrong' }, {}, 'SignatureDoesNotMatch'],
    ['a bucket that is missing', {}, { bucket: 'another' }, 'NoSuchBucket'],
  ])('reports the reason of a refusal: %s', async (_what, credentials, place, code) => {
    const bucket = bucketOf(credentials, place);
    const error = await problem(bucket.get('name'));
    expect(error.message).toMatch(new RegExp(`^it answered with the HTTP status 40[34] \\(${code}\\)$`));
    expect(error.message).not.toContain(SECRET_KEY);
    expect((await problem(bucket.put('name', randomBytes(5), SD_HASH))).message).toContain(code);
  });

  it('reports a wrong clock', async () => {
    const late = new FakeClock(clock.nowSec() - 3600);
    const error = await problem(bucketOf({}, {}, late).get('name'));
    expect(error.message).toContain('RequestTimeTooSkewed');
  });

  it('reports when the store can be asked again', async () => {
    store.fault = () => ({ status: 503, code: 'SlowDown', headers: { 'retry-after': '7' } });
    const error = await problem(bucketOf().put('name', randomBytes(5), SD_HASH));
    expect([error.message, error.retryAfterMs]).toEqual([
      'it answered with the HTTP status 503 (SlowDown)',
      7000,
    ]);
  });

  it('does not follow a redirect to another region', async () => {
    store.fault = () => ({
      status: 307,
      code: 'TemporaryRedirect',
      headers: { location: 'http://127.0.0.1:1/' },
    });
    expect((await problem(bucketOf().get('name'))).message).toBe(
      'it answered with the HTTP status 307 (TemporaryRedirect); the bucket is in another region',
    );
  });

  it('aborts a request at its time limit', async () => {
    store.fault = () => 'hang';
    const put = problem(bucketOf().put('name', randomBytes(5), SD_HASH));
    const head = problem(bucketOf().head('name'));
    await expect.poll(() => store.requests.length, { timeout: 60_000 }).toBe(2);
    await clock.advance(60_000);
    expect((await put).message).toBe('it did not answer within 60 seconds');
    expect((await head).message).toBe('it did not answer within 10 seconds');
  });

  it('ends requests when the reflector stops', async () => {
    store.fault = () => 'hang';
    const put = problem(bucketOf().put('name', randomBytes(5), SD_HASH));
    await expect.poll(() => store.requests.length, { timeout: 60_000 }).toBe(1);
    stopping.abort();
    expect((await put).name).toBe('ObjectStoreError');
  });

  it('treats a truncated or oversized object as a failure', async () => {
    store.objects.set('a.b/c-d/name', { bytes: randomBytes(1_000_000), meta: {} });
    store.objects.set('a.b/c-d/large', { bytes: randomBytes(2 * 1024 * 1024 + 1), meta: {} });
    expect((await problem(bucketOf().get('large'))).message).toBe('it sent more bytes than a blob can have');
    store.fault = () => 'truncate';
    expect((await problem(bucketOf().get('name'))).name).toBe('ObjectStoreError');
  });

  it('reports the system error if the port is closed', async () => {
    const error = await problem(
      bucketOf({}, { endpoint: `http://127.0.0.1:${await freePort()}` }).get('name'),
    );
    expect(error.message).toMatch(/ECONNREFUSED/);
  });
});

describe('the place of an object store', () => {
  const placeOf = (values: Record<string, string | null>, environment = {}) =>
    offsitePlaceOf(
      {
        get: (name: string) => values[name] ?? (name.endsWith('_key') ? null : ''),
      } as unknown as Settings,
      environment,
    );
  const KEYS = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };

  it('does not exist without the setting', () => {
    expect(placeOf({}, KEYS)).toBeNull();
  });

  it('is read from the settings before the environment', () => {
    const environment = {
      ...KEYS,
      AWS_REGION: 'eu-central-1',
      AWS_SESSION_TOKEN: 'token',
      AWS_ENDPOINT_URL: 'http://other',
    };
    expect(placeOf({ blob_store: 's3://my.bucket/a/b/' }, environment)).toEqual({
      name: 's3://my.bucket/a/b',
      place: { endpoint: 'http://other', region: 'eu-central-1', bucket: 'my.bucket', prefix: 'a/b/' },
      credentials: { accessKey: 'id', secretKey: 'secret', sessionToken: 'token' },
    });
    const named = {
      blob_store: 's3://bucket',
      blob_store_endpoint: 'https://s3.example/base/',
      blob_store_region: 'here',
      blob_store_access_key: 'mine',
      blob_store_secret_key: 'hidden',
    };
    expect(placeOf(named, environment)).toEqual({
      name: 's3://bucket',
      place: { endpoint: 'https://s3.example/base', region: 'here', bucket: 'bucket', prefix: '' },
      credentials: { accessKey: 'mine', secretKey: 'hidden', sessionToken: null },
    });
    expect(placeOf({ blob_store: 's3://bucket' }, KEYS)!.place.endpoint).toBe(
      'https://s3.us-east-1.amazonaws.com',
    );
  });

  it('reports a missing part', () => {
    expect(() => placeOf({ blob_store: 's3://bucket' })).toThrow(
      /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/,
    );
  });
});
