/** Errors of the file system in answers of a running daemon. */
import { expect, it } from 'vitest';
import type { DaemonServices } from '../../../../src/daemon/api/context.js';
import { fileMethods } from '../../../../src/daemon/api/methods/file.js';
import { mediaFailure } from '../../../../src/daemon/http/mediaErrors.js';
import { environmentError } from '../../../../src/util/text/environmentError.js';
import { callMethod } from '../../../support/daemonMethods.js';

const readOnly = (): Error =>
  environmentError(Object.assign(new Error('read-only'), { code: 'EROFS' }), '/films/film.mp4') as Error;
const TEXT = '/films/film.mp4: its disk is read-only (EROFS). Make the disk writable and repeat the call.';

it('do not advise to start the daemon: get', async () => {
  const services = {
    wallets: { get: () => ({ accountIds: [] }) },
    downloads: { get: () => Promise.reject(readOnly()) },
  } as unknown as Partial<DaemonServices>;
  expect(await callMethod(fileMethods, services, 'get', { uri: 'film' })).toEqual({
    result: { error: TEXT },
  });
});

it('do not advise to start the daemon: the media server', () => {
  expect(mediaFailure(readOnly())).toEqual({ status: 500, text: TEXT, isPassing: false });
});
