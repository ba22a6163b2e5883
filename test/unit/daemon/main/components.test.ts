import { describe, expect, it } from 'vitest';
import type { ComponentName } from '../../../../src/daemon/api/declaration.js';
import { Components, type Component } from '../../../../src/daemon/main/components.js';
import { EnvironmentError } from '../../../../src/util/text/environmentError.js';

const never = new AbortController().signal;

/** Components that note when they start and stop. */
class Parts {
  readonly events: string[] = [];
  readonly failures: string[] = [];

  part(
    name: ComponentName,
    dependsOn: readonly ComponentName[] = [],
    start: () => Promise<void> = () => Promise.resolve(),
  ): Component {
    return {
      name,
      dependsOn,
      start: () => {
        this.events.push(`start ${name}`);
        return start();
      },
      stop: () => {
        this.events.push(`stop ${name}`);
        return Promise.resolve();
      },
      status: () => null,
    };
  }

  readonly onFailure = (name: ComponentName, error: unknown): void => {
    this.failures.push(`${name}: ${(error as Error).message}`);
  };
}

const taken = () => Promise.reject(new EnvironmentError('The port is taken.'));

describe('Components', () => {
  it('starts each after its dependencies, and stops them in reverse order', async () => {
    const parts = new Parts();
    const components = new Components([
      parts.part('disk_space', ['blob_manager']),
      parts.part('blob_manager', ['database']),
      parts.part('database'),
    ]);
    expect(await components.start(never, parts.onFailure)).toBe(true);
    await components.stop(parts.onFailure);
    expect(parts.events).toEqual([
      'start database',
      'start blob_manager',
      'start disk_space',
      'stop disk_space',
      'stop blob_manager',
      'stop database',
    ]);
    expect(parts.failures).toEqual([]);
  });

  it('does not start those that depend on a failed one', async () => {
    const parts = new Parts();
    const components = new Components([
      parts.part('database'),
      parts.part('dht', ['database'], taken),
      parts.part('hash_announcer', ['dht', 'database']),
      parts.part('blob_manager', ['database']),
      parts.part('disk_space', ['blob_manager']),
    ]);
    expect(await components.start(never, parts.onFailure)).toBe(false);
    expect(components.startup()).toEqual({
      database: true,
      dht: false,
      hash_announcer: false,
      blob_manager: true,
      disk_space: true,
    });
    const needsDht = 'It needs the component dht, which did not start.';
    expect(parts.failures).toEqual(['dht: The port is taken.', `hash_announcer: ${needsDht}`]);
    expect(components.failures()).toMatchObject({ hash_announcer: needsDht });
    expect(components.failures()['dht']).toContain('The port is taken');
    expect(components.areAllRunning).toBe(false);
    expect(parts.events).not.toContain('start hash_announcer');
    expect(() => components.check(['blob_manager'])).not.toThrow();
    expect(() => components.check(['dht'])).toThrow(/^the component dht did not start: .*The port is taken/);
    await components.stop(parts.onFailure);
    // A component that failed may have started partly, so it is stopped.
    expect(parts.events).toContain('stop dht');
    expect(parts.events).not.toContain('stop hash_announcer');
  });

  it('does not wait for a slow one that is not needed', async () => {
    const parts = new Parts();
    let connect: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => (connect = resolve));
    const components = new Components([
      parts.part('database'),
      parts.part('wallet', ['database'], () => slow),
      parts.part('blob_manager', ['database']),
      parts.part('file_manager', ['blob_manager']),
    ]);
    const started = components.start(never, parts.onFailure);
    await expect.poll(() => components.isRunning('file_manager')).toBe(true);
    expect(() => components.check(['wallet'])).toThrow('have not yet started: ["wallet"]');
    connect();
    expect(await started).toBe(true);
  });

  it('starts nothing more after a stop', async () => {
    const parts = new Parts();
    const stopping = new AbortController();
    const components = new Components([
      parts.part('database', [], () => {
        stopping.abort();
        return Promise.resolve();
      }),
      parts.part('blob_manager', ['database']),
    ]);
    await components.start(stopping.signal, parts.onFailure);
    expect(parts.events).toEqual(['start database']);
    expect(parts.failures).toEqual([]);
  });

  it('stops a component again whose start ended after its stop', async () => {
    const parts = new Parts();
    const stopping = new AbortController();
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const components = new Components([
      parts.part('database'),
      parts.part('peer_protocol_server', ['database'], async () => {
        await opened;
        parts.events.push('opened peer_protocol_server');
      }),
    ]);
    const started = components.start(stopping.signal, parts.onFailure);
    await expect.poll(() => parts.events).toContain('start peer_protocol_server');
    stopping.abort();
    const stopped = components.stop(parts.onFailure);
    await expect.poll(() => parts.events).toContain('stop peer_protocol_server');
    open();
    await Promise.all([started, stopped]);
    expect(parts.events.slice(2)).toEqual([
      'stop peer_protocol_server',
      'opened peer_protocol_server',
      'stop peer_protocol_server',
      'stop database',
    ]);
    expect(parts.failures).toEqual([]);
  });

  it('reports a skipped component', () => {
    const components = new Components([new Parts().part('database')]);
    expect(() => components.check(['dht'])).toThrow('dht is not a known Component: it is skipped');
  });
});
