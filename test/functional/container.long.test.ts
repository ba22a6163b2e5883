/** The steps of the Dockerfile without Docker: the copied files can be built, and the files of the image can run. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const [build, final] = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
  .replace(/\\\n\s*/g, '')
  .split(/^(?=FROM )/m)
  .filter((stage) => stage.startsWith('FROM ')) as [string, string];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-container-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('is built from the files that it copies, and runs with the files in the image', async () => {
  const app = join(folder, 'build');
  mkdirSync(app);
  for (const [, words] of build.matchAll(/^COPY (.*)$/gm)) {
    const names = words!.split(' ');
    const target = join(app, names.pop()!);
    for (const name of names)
      cpSync(join(ROOT, name), names.length > 1 ? join(target, basename(name)) : target, { recursive: true });
  }
  // A link replaces the packages that `npm ci` would install.
  expect(build).toContain('npm ci --ignore-scripts && npm run build');
  symlinkSync(join(ROOT, 'node_modules'), join(app, 'node_modules'));
  await run('npm', ['run', 'build'], { cwd: app, maxBuffer: 1 << 26 });

  const image = join(folder, 'image');
  const copied = [...final.matchAll(/^COPY --from=build \/app\/(\S+) \.\/(\S*)$/gm)];
  expect(copied.map(([, from]) => from)).toContain('build/lbcnode.node');
  for (const [, from, to] of copied) {
    const target = to === '' ? join(image, from!) : join(image, to!);
    mkdirSync(dirname(target), { recursive: true });
    if (from === 'node_modules') symlinkSync(join(ROOT, 'node_modules'), target);
    else cpSync(join(app, from!), target, { recursive: true });
  }
  for (const [, program, name] of final.matchAll(
    /ln -s \/app\/(dist\/bin\/(\S+)\.js) \/usr\/local\/bin\//g,
  )) {
    expect(existsSync(join(image, program!)), name).toBe(true);
    const option = name === 'lbcnet' ? '--version' : '-version';
    const { stdout } = await run(process.execPath, [join(image, program!), option], { cwd: image });
    expect(stdout).toContain('0.1.0');
  }
  const addon = `require(${JSON.stringify(join(image, 'build', 'lbcnode.node'))}).abi > 0`;
  expect((await run(process.execPath, ['-p', addon])).stdout).toBe('true\n');
});
