/**
 * Creates the web explorer from the options: addresses, permissions, and hints about options that would add content. Loaded
 * only with `-explorer`.
 */
import { Explorer, type ExplorerDeps } from '../../explorer/explorer.js';
import type { ExplorerStart, OpenMethod } from '../../explorer/messages.js';
import { isOpenTo } from '../../rpc/declare/explorerMethods.js';
import { methodHelp } from '../../rpc/reference/helpText.js';
import { paramKey, type RpcMethod } from '../../rpc/declare/method.js';
import { PARAM_TYPES } from '../../rpc/declare/paramTypes.js';
import { joinHostPort } from '../../util/network/hostPort.js';
import { OptionError } from '../options/optionArgs.js';
import type { LoadedOptions } from '../options/options.js';

/** Number that is added to the JSON-RPC port to get the explorer's default port. */
const PORT_OFFSET = 3;

/** Options that add content to the explorer's pages. */
const WANTED = ['txindex', 'spendindex', 'addressindex', 'claimindex', 'claimsearch'] as const;

/** Types of parameters that are hashes. */
const HASHES: ReadonlySet<string> = new Set(['hash', 'looseHash']);

/** Names of the methods of the documented profile that the console does not open. */
const closedMethods = (methods: readonly RpcMethod[]): string[] =>
  methods
    .filter((method) => !isOpenTo('console', method) && (method.profiles?.includes('documented') ?? true))
    .map(({ name }) => name);

function openMethods(methods: readonly RpcMethod[]): OpenMethod[] {
  return methods
    .filter((method) => isOpenTo('console', method) && (method.profiles?.includes('documented') ?? true))
    .map((method) => ({
      name: method.name,
      category: method.category,
      help: methodHelp(method),
      params: method.params.map((param) => ({
        name: paramKey(param),
        description: param.description,
        isRequired: param.required === true,
        cli: param.cli ?? PARAM_TYPES[param.type].cli,
        isHash: HASHES.has(param.type),
      })),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function startOf(
  { options, params }: LoadedOptions,
  methods: readonly RpcMethod[],
  command: string,
): ExplorerStart {
  return {
    command,
    host: options.explorerbind,
    port: options.explorerport ?? params.rpcPort + PORT_OFFSET,
    network: params.name,
    spacingSec: params.targetSpacingSec,
    hostNames: options.explorerhost,
    proxies: options.explorerproxy,
    showsImages: options.explorerimages,
    isIndexable: options.explorerindexable,
    showsPeers: options.explorerpeers,
    lacking: WANTED.filter((name) => !options[name]),
    methods: openMethods(methods),
    closedMethods: closedMethods(methods),
  };
}

/** Starts the explorer and opens its port. Rejects with `OptionError` if it cannot listen. */
export async function startExplorer(
  loaded: LoadedOptions,
  deps: ExplorerDeps & { readonly methods: readonly RpcMethod[]; readonly command: string },
): Promise<Explorer> {
  const start = startOf(loaded, deps.methods, deps.command);
  let explorer: Explorer;
  try {
    explorer = await Explorer.open(start, deps);
  } catch (error) {
    throw new OptionError((error as Error).message, 'explorerport');
  }
  const host = ['0.0.0.0', '::', '127.0.0.1'].includes(start.host) ? 'localhost' : start.host;
  deps.logger.info(`Explorer: open http://${joinHostPort({ host, port: explorer.port })}/ in a browser`);
  if (start.lacking.length > 0)
    deps.logger.info(
      'Explorer: parts of its pages are not available because these options are off: ' +
        `${start.lacking.map((name) => `-${name}`).join(', ')}`,
    );
  return explorer;
}
