/** Content components that are stopped before their start has ended. An unhandled rejection fails the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock, systemRandom } from '../../../../src/daemon/base/clock.js';
import { Transfers } from '../../../../src/daemon/base/transfers.js';
import type { Component } from '../../../../src/daemon/main/components.js';
import { ContentParts } from '../../../../src/daemon/main/parts/contentParts.js';
import { FilesPart } from '../../../../src/daemon/main/parts/filesPart.js';
import { DaemonSettings } from '../../../../src/daemon/main/settings/daemonSettings.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { keepDatabaseThread } from '../../../support/databaseThread.js';

keepDatabaseThread();

let folder: string;
let events: string[];
let content: ContentParts;
let files: FilesPart;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-stop-'));
  events = [];
  const settings = new DaemonSettings({
    given: new Map([['data_dir', folder]]),
    machine: { platform: 'linux', home: folder, environment: {} },
    warn: (text) => events.push(text),
  });
  const base = { settings, log: SILENT_LOGGER, clock: systemClock };
  content = new ContentParts({
    ...base,
    beside: {
      start: () => void events.push('start'),
      stop: () => Promise.resolve(void events.push('stop')),
      connections: () => null,
    },
  });
  files = new FilesPart({
    ...base,
    random: systemRandom,
    content,
    transfers: new Transfers(systemClock),
    fetcher: () => null,
    reflector: () => null,
    ledgerParams: () => {
      throw new Error('no wallet');
    },
    claimFinder: () => null,
    findFfmpeg: () => Promise.resolve(null),
  });
});

afterEach(() => rmSync(folder, { recursive: true }));

const part = (name: string): Component => content.components.find((one) => one.name === name)!;

/** Stops a component while it starts. */
async function stopWhileStarting(component: Component): Promise<void> {
  const started = component.start();
  await component.stop();
  await started;
}

it('blob_manager neither checks published files nor starts exchange and uploads', async () => {
  await part('database').start();
  await stopWhileStarting(part('blob_manager'));
  expect(events).toEqual(['stop']);
  await part('database').stop();
});

it('file_manager starts no rebuild of the library', async () => {
  await part('database').start();
  await part('blob_manager').start();
  await stopWhileStarting(files);
  expect(() => files.library).toThrow('the component file_manager is not running');
  await part('blob_manager').stop();
  await part('database').stop();
});
