import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
/** The instructions of each stage, continued lines joined. */
const stages = readFileSync(join(root, 'Dockerfile'), 'utf8')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, '')
  .split(/^(?=FROM )/m)
  .filter((stage) => stage.startsWith('FROM '));
const [build, final] = stages as [string, string];

describe('the image', () => {
  it('has two stages, and copies only existing files', () => {
    expect(stages.length).toBe(2);
    const sources = [...build.matchAll(/^COPY (.*) \S+$/gm)].flatMap(([, names]) => names!.split(' '));
    expect(sources.length).toBeGreaterThan(5);
    for (const name of sources) expect(existsSync(join(root, name)), name).toBe(true);
  });

  it('contains no build tools, and runs as its own user, with both programs in the path', () => {
    expect(final).not.toMatch(/apt-get|g\+\+|npm (?:ci|install|run)/);
    expect(final).toMatch(/rm -rf .*\/npm/);
    for (const name of ['lbcnode', 'lbcnode-cli'])
      expect(final).toContain(`ln -s /app/dist/bin/${name}.js /usr/local/bin/${name}`);
    const user = /^USER (\S+)$/m.exec(final)?.[1];
    expect(user).toBe('lbcnode');
    expect(final.indexOf('\nUSER ')).toBeGreaterThan(final.lastIndexOf('\nRUN '));
    expect(final).toMatch(/^VOLUME \/data$/m);
    expect(final).toMatch(/^HEALTHCHECK .*CMD \["node", "-e", ".*\/health/m);
    expect(final).toMatch(/^ENTRYPOINT \["lbcnode", /m);
  });
});
