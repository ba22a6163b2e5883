/** Compiles the programs of a bundle by Zig, which has a C library and a linker for each system, and signs those for macOS. */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BuildError, run } from '../native/compile.mjs';
import { ROOT } from '../native/sources.mjs';

const SOURCES = join(ROOT, 'launcher');

/**
 * Compiles the small launcher without a payload, and `lbrynet` with the payload.
 * @param {{ command: string, env: NodeJS.ProcessEnv }} zig
 * @param {import('./platforms.mjs').Platform} platform
 * @param {Uint8Array} payload
 * @param {string} folder a folder of its own
 * @returns {Promise<{ small: Buffer, lbrynet: Buffer }>}
 */
export async function buildLaunchers(zig, platform, payload, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const source = platform.name.startsWith('windows') ? 'windows.c' : 'posix.c';
  for (const name of [source, 'payload.h', 'payload.S'])
    copyFileSync(join(SOURCES, name), join(folder, name));
  // Zig caches objects by their source text, which contains the name of this file but not its contents.
  const name = `${createHash('sha256').update(payload).digest('hex').slice(0, 16)}.bin`;
  writeFileSync(join(folder, name), payload);
  // Objects are as large as the payload, so they are kept out of the shared cache.
  const env = { ...zig.env, ZIG_LOCAL_CACHE_DIR: join(folder, 'cache') };
  const flags = ['cc', '-target', platform.zig, '-Os', '-g0', '-s', '-std=c11', '-Wall', '-Wextra'];
  const compile = async (program, args) => {
    const output = join(folder, `${program}${platform.suffix}`);
    try {
      await run(zig.command, [...flags, ...args, '-o', output], { cwd: folder, env, maxBuffer: 1 << 26 });
    } catch (error) {
      throw new BuildError(
        `the launcher for ${platform.name} cannot be built:\n${error.stderr ?? error.message}`,
      );
    }
    return readFileSync(output);
  };
  const small = await compile('launcher', [source]);
  const lbrynet = await compile('lbrynet', ['-DLBC_PAYLOAD', `-DLBC_FILE="${name}"`, source, 'payload.S']);
  rmSync(folder, { recursive: true, force: true });
  return { small, lbrynet };
}
