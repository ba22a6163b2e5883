import { describe, expect, it } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNotifications, zmqNotifiers } from '../../../../src/node/services/notifications.js';
import { loadOptions, parseCommandLine, type LoadedOptions } from '../../../../src/node/options/options.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';

function load(...words: string[]): LoadedOptions {
  const home = mkdtempSync(join(tmpdir(), 'lbcnode-options-'));
  try {
    const command = parseCommandLine([`-datadir=${home}`, '-regtest', ...words]);
    if (command.action !== 'run') throw new Error('the words ask for help');
    return loadOptions(command.args, home);
  } finally {
    rmSync(home, { recursive: true });
  }
}

describe('the options of notifications', () => {
  it('select what ZeroMQ publishes, in the order of the reference', () => {
    const options = [
      '-zmqpubclaim=tcp://127.0.0.1:1',
      '-zmqpubrawtx=tcp://127.0.0.1:1',
      '-zmqpubrawtxhwm=7',
      '-zmqpubhashtx=tcp://127.0.0.1:2',
      '-zmqpubhashtx=tcp://127.0.0.1:1',
      '-zmqpubhashtx=tcp://127.0.0.1:2',
      '-zmqpubhashblock=ipc:///x',
      '-zmqpubclaimhwm=0',
    ];
    expect(zmqNotifiers(load(...options))).toEqual([
      { type: 'pubhashblock', address: 'ipc:///x', highWaterMark: 1000 },
      { type: 'pubhashtx', address: 'tcp://127.0.0.1:2', highWaterMark: 1000 },
      { type: 'pubhashtx', address: 'tcp://127.0.0.1:1', highWaterMark: 1000 },
      { type: 'pubrawtx', address: 'tcp://127.0.0.1:1', highWaterMark: 7 },
      { type: 'pubclaim', address: 'tcp://127.0.0.1:1', highWaterMark: 0 },
    ]);
    expect(zmqNotifiers(load('-zmqpubhashtx=tcp://127.0.0.1:1', '-nozmqpubhashtx'))).toEqual([]);
  });

  it('enable nothing by default', async () => {
    const off = await startNotifications(load(), SILENT_LOGGER);
    expect([off.upgrades, off.zmqNotifiers()]).toEqual([null, []]);
    const chain = { describesDisconnected: false };
    // The object does not subscribe to chain or mempool. They would be called here.
    off.follow({ chain, mempool: {} } as unknown as Parameters<typeof off.follow>[0]);
    expect(chain.describesDisconnected).toBe(false);

    const warnings: string[] = [];
    const log = { ...SILENT_LOGGER, warn: (message: string) => void warnings.push(message) };
    expect((await startNotifications(load('-ws', '-server=0'), log)).upgrades).toBeNull();
    expect(warnings).toEqual(['-ws has no effect without -server']);
    for (const word of ['-ws', '-compat=lbcd']) {
      const on = await startNotifications(load(word), SILENT_LOGGER);
      expect(on.upgrades).not.toBeNull();
      await on.upgrades!.close();
    }
  });
});
