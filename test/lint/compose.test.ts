/** The Compose file, compared with the programs that it starts: their options and ports, the image, and the health checks. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { parseCommandLine as parseDaemonLine } from '../../src/daemon/main/commandLine.js';
import { DaemonSettings } from '../../src/daemon/main/settings/daemonSettings.js';
import { HUB_PORT } from '../../src/hub/protocol/hubPeers.js';
import { parseCommandLine } from '../../src/node/options/options.js';
import { mainParams } from '../../src/params/main.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly entrypoint?: readonly string[];
  readonly command: readonly string[];
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly stop_grace_period: string;
}
const file = parse(readFileSync(`${ROOT}/compose.yaml`, 'utf8')) as {
  services: { node: Service; lbcnet: Service };
  volumes: Record<string, unknown>;
};
const { node, lbcnet } = file.services;
const dockerfile = readFileSync(`${ROOT}/Dockerfile`, 'utf8');
const imageEntry = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)![1]!) as string[];
const imageCheck = JSON.parse(/HEALTHCHECK[^\n]*\\\n\s*CMD (.*)$/m.exec(dockerfile)![1]!) as string[];

/** Ports inside the container, with `/udp` for those of UDP. */
const inside = ({ ports }: Service): string[] =>
  ports.map((port) => port.replace(/^.*:(\d+(\/udp)?)$/, '$1')).sort();

/** Runs a health check against a server with this answer. Returns the exit code. */
async function checked(
  [program, ...args]: readonly string[],
  variable: string,
  status: number,
  body: string,
): Promise<number | null> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(status).end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  expect(program).toBe('node');
  const child = spawn(process.execPath, args, {
    env: { ...process.env, [variable]: String(port) },
    stdio: 'inherit',
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  server.close();
  return code;
}

describe('the Compose file', () => {
  it('starts the node with existing options, on ports that it publishes', () => {
    const command = parseCommandLine([...imageEntry.slice(1), ...node.command]);
    if (command.action !== 'run') throw new Error('not a run');
    expect(command.warnings).toEqual([]);
    expect(inside(node)).toEqual([String(HUB_PORT), `${HUB_PORT}/udp`, String(mainParams.p2pPort)]);
    // Wallets on other machines reach the hub only if it listens on more than the loopback interface of the container.
    expect(node.command).toContain('-hubbind=0.0.0.0');
  });

  it('starts the daemon with existing settings, on ports that it publishes', () => {
    const command = parseDaemonLine(lbcnet.command);
    if (command.kind !== 'start') throw new Error('not a start');
    const warnings: string[] = [];
    const settings = new DaemonSettings({ given: command.given, warn: (text) => void warnings.push(text) });
    expect(warnings).toEqual([]);
    expect(settings.get('lbryum_servers')).toEqual([['node', HUB_PORT]]);
    const ports = [settings.get('tcp_port'), `${settings.get('udp_port') as number}/udp`];
    const endpoints = ['api', 'streaming_server'].map((name) =>
      String(settings.get(name as 'api')).replace(/^.*:/, ''),
    );
    expect(inside(lbcnet)).toEqual([...ports, ...endpoints].map(String).sort());
    for (const name of ['data_dir', 'wallet_dir', 'download_dir'] as const)
      expect(settings.get(name)).toMatch(/^\/data\//);
  });

  it('publishes ports without a password on the local machine only', () => {
    for (const port of [...node.ports, ...lbcnet.ports])
      if (/:(5279|5280|50001)(\/udp)?$/.test(port)) expect(port).toMatch(/^127\.0\.0\.1:/);
    expect([...node.ports, ...lbcnet.ports].join()).not.toContain(String(mainParams.rpcPort));
  });

  it('stores all data in its own volumes, and gives both time to stop', () => {
    expect([node, lbcnet].flatMap(({ volumes }) => volumes.map((volume) => volume.split(':')[0]))).toEqual(
      Object.keys(file.volumes),
    );
    for (const { volumes } of [node, lbcnet]) expect(volumes[0]).toMatch(/:\/data$/);
    expect(node.stop_grace_period).toBe('10m');
    expect(node.build).toBe('.');
    expect(lbcnet.image).toBe(node.image);
    expect(lbcnet.entrypoint).toEqual(['lbcnet']);
    expect(lbcnet.depends_on).toEqual({ node: { condition: 'service_healthy' } });
  });

  it('checks the health of both by their answers', async () => {
    const [kind, ...check] = lbcnet.healthcheck!.test;
    expect(kind).toBe('CMD');
    expect(Object.keys(lbcnet.environment!)).toEqual(['API_PORT']);
    const answer = (isRunning: boolean): string => JSON.stringify({ result: { is_running: isRunning } });
    const codes = await Promise.all([
      checked(imageCheck, 'RPC_PORT', 200, '{}'),
      checked(imageCheck, 'RPC_PORT', 503, '{}'),
      checked(check, 'API_PORT', 200, answer(true)),
      checked(check, 'API_PORT', 200, answer(false)),
      checked(check, 'API_PORT', 500, 'no JSON'),
    ]);
    expect(codes).toEqual([0, 1, 0, 1, 1]);
  });
});
