/**
 * Result of `version` with data about program and machine. Source: lbry-sdk lbry/extras/system_info.py `get_platform`;
 * lbry/extras/daemon/daemon.py `jsonrpc_version`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { arch, release, type } from 'node:os';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { programVersion, projectFile } from '../../util/project.js';

/** Version of lbrynet with which this daemon is compatible. */
export const COMPATIBLE_VERSION = '0.113.0';
const OS_RELEASE_FILES: readonly string[] = ['/etc/os-release', '/usr/lib/os-release'];

/** Names of processor architectures in Python's `platform` module, by Node's names. */
const PROCESSORS: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64', ia32: 'i686' };

/** Parses the fields of an `os-release` file. Source: os-release(5). */
function parseOsRelease(text: string): ReadonlyMap<string, string> {
  const members = text
    .split('\n')
    .map((line) => /^([A-Z_0-9]+)=(?:"(.*)"|'(.*)'|(.*))$/.exec(line.trim()))
    .filter((match) => match !== null);
  return new Map(members.map(([, key, double, single, plain]) => [key!, double ?? single ?? plain ?? '']));
}

function distribution(): JsonOut {
  const path = OS_RELEASE_FILES.find((file) => existsSync(file));
  const members = path === undefined ? new Map<string, string>() : parseOsRelease(readFileSync(path, 'utf8'));
  const version = members.get('VERSION_ID') ?? '';
  const [major = '', minor = '', build_number = ''] = version.split('.');
  return {
    id: members.get('ID') ?? '',
    version,
    version_parts: { major, minor, build_number },
    like: members.get('ID_LIKE') ?? '',
    codename: members.get('VERSION_CODENAME') ?? '',
  };
}

/** A checkout of the repository has the folder `src`; an installed package does not. */
const buildKind = (): string => (existsSync(projectFile('src')) ? 'dev' : 'release');

export function versionAnswer(): Record<string, JsonOut> {
  const processor = PROCESSORS[arch()] ?? arch();
  const answer: Record<string, JsonOut> = {
    lbcnet_version: programVersion(),
    lbrynet_version: COMPATIBLE_VERSION,
    version: COMPATIBLE_VERSION,
    build: buildKind(),
    processor,
    python_version: `Node.js ${process.versions.node}`,
    platform: `${type()}-${release()}-${processor}`,
    os_release: release(),
    os_system: type(),
  };
  if (process.platform !== 'linux') return answer;
  return {
    ...answer,
    distro: distribution(),
    desktop: process.env['XDG_CURRENT_DESKTOP'] ?? 'Unknown',
  };
}
