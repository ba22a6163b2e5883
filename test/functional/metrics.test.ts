/**
 * Compares the metrics page of a node with its readers: Prometheus (its own checker, if it is installed), the dashboard and the
 * alerting rules in contrib/, and the list in docs/metrics.md.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../support/installed.js';
import { ADDRESS, freePort, startRegtest, type RegtestNode } from './support/node.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
}

let node: RegtestNode;
let page = '';
let families: Family[] = [];

beforeAll(async () => {
  node = await startRegtest({
    args: [
      '-metrics',
      '-listen=1',
      '-rest',
      '-txindex',
      '-addressindex',
      '-blockfilterindex',
      '-claimsearch',
      '-ws',
      '-hub',
      `-hubport=${await freePort()}`,
      '-explorer',
      `-explorerport=${await freePort()}`,
    ],
  });
  await node.rpc('generatetoaddress', [2, ADDRESS]);
  await node.rpc('getblockhash', [99]).catch(() => undefined);
  page = await (await fetch(`http://127.0.0.1:${node.rpcPort}/metrics`)).text();
  families = [...page.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm)].map(([, name, help, type]) => ({
    name: name!,
    help: help!,
    type: type!,
  }));
});
afterAll(() => node.stop());

/** The metric names that occur in a query, without the suffixes of histograms. */
function namesIn(text: string): Set<string> {
  return new Set([...text.matchAll(/lbcnode_[a-z0-9_]+/g)].map(([name]) => name));
}

/** All series names of a metric. */
function seriesOf({ name, type }: Family): string[] {
  return type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}

describe('the metrics page', () => {
  it('keeps the naming rules of Prometheus', () => {
    expect(families.length).toBeGreaterThan(60);
    for (const { name, type, help } of families) {
      expect(name).toMatch(/^lbcnode_[a-z][a-z0-9_]*$/);
      expect(help, name).not.toBe('');
      expect(name.endsWith('_total'), `${name} is a ${type}`).toBe(type === 'counter');
      // Base units, and no name of a type or of a label in the name.
      expect(name).not.toMatch(/_(?:ms|milliseconds|minutes|kb|kilobytes|megabytes|percent)(?:_|$)/);
      expect(name).not.toMatch(/_(?:gauge|counter|histogram|summary)(?:_|$)/);
      if (type !== 'histogram') expect(name).not.toMatch(/_(?:sum|count|bucket)$/);
    }
    expect(new Set(families.map(({ name }) => name)).size).toBe(families.length);
  });

  it.skipIf(!isInstalled('promtool'))('has nothing that promtool finds wrong', () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: page,
      encoding: 'utf8',
    });
    expect(stdout + stderr).toBe('');
    expect(status).toBe(0);
  });

  it('is described in docs/metrics.md, name by name', () => {
    const described = read('docs/metrics.md');
    const own = families.filter(({ name }) => !/^lbcnode_(?:process|nodejs)_/.test(name));
    expect(own.filter(({ name }) => !described.includes(`\`${name}\``)).map(({ name }) => name)).toEqual([]);
    const rows = [...described.matchAll(/^\| `(lbcnode_\w+)` +\| (\w+)/gm)];
    expect(rows.length).toBeGreaterThan(40);
    for (const [, name, type] of rows) {
      expect(families.find((family) => family.name === name)?.type, name).toBe(type);
    }
  });
});

describe('what is made for operators', () => {
  it('the dashboard uses only existing metrics', () => {
    const dashboard = JSON.parse(read('contrib/grafana/lbcnode.json')) as {
      panels: {
        id: number;
        title: string;
        gridPos: { x: number; w: number };
        targets?: { expr: string }[];
      }[];
    };
    const known = new Set(families.flatMap(seriesOf));
    const panels = dashboard.panels.filter(({ targets }) => targets !== undefined);
    expect(panels.length).toBeGreaterThan(20);
    for (const { title, targets, gridPos } of panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      for (const { expr } of targets!) {
        const asked = namesIn(expr);
        expect(asked.size, `${title}: ${expr}`).toBeGreaterThan(0);
        expect(
          [...asked].filter((name) => !known.has(name)),
          title,
        ).toEqual([]);
      }
    }
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });

  it('the alerting rules use only existing metrics', () => {
    const rules = read('contrib/prometheus/alerts.yml');
    const asked = [...namesIn(rules)];
    expect(asked.length).toBeGreaterThan(4);
    expect(asked.filter((name) => !families.some((family) => family.name === name))).toEqual([]);
  });

  it.skipIf(!isInstalled('promtool'))('promtool finds nothing wrong with the rules', () => {
    const { status, stderr } = spawnSync(
      'promtool',
      ['check', 'rules', join(root, 'contrib/prometheus/alerts.yml')],
      {
        encoding: 'utf8',
      },
    );
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  it.skipIf(!isInstalled('promtool'))('promtool reads the queries of the dashboard', () => {
    const { panels } = JSON.parse(read('contrib/grafana/lbcnode.json')) as {
      panels: { targets?: { expr: string }[] }[];
    };
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const rules = queries.map(
      (expr, index) =>
        `      - record: query:${index}\n        expr: ${JSON.stringify(expr.replaceAll('$__rate_interval', '5m'))}\n`,
    );
    const file = `groups:\n  - name: queries\n    rules:\n${rules.join('')}`;
    const folder = mkdtempSync(join(tmpdir(), 'lbcnode-queries-'));
    writeFileSync(join(folder, 'queries.yml'), file);
    const { status, stderr } = spawnSync('promtool', ['check', 'rules', join(folder, 'queries.yml')], {
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });
});
