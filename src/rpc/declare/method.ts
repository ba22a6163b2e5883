/**
 * The declaration of an RPC method. Derived from it are the help text, arity and type errors, named arguments, the command
 * line's conversion, the OpenRPC document, the method reference and the typed client.
 *
 * To add a method:
 * 1. Write `methods/<category>/<name>.ts` with `export const getBlockHash = defineMethod({ … })`.
 * 2. List it in `methodTable.ts`.
 * 3. If it needs something of the node that `RpcServices` lacks, add a part to `services.ts`; `run` reaches it as
 *    `ctx.services.<part>`, and the composition root fills it.
 * 4. Regenerate the documents: `node scripts/generateRpcDocs.mjs` (a test fails while they are stale).
 * 5. In its test, run it with `invokeMethod(method, ctx, [params])` and compare the answer with its declaration with
 *    `await checkResult(method.result, answer)` (an empty list is a pass).
 *
 *   export const getBlockHash = defineMethod({
 *     name: 'getblockhash',
 *     category: 'blockchain',
 *     summary: 'Returns hash of block in best-block-chain at height provided.',
 *     params: [{ name: 'height', type: 'integer', required: true, description: 'The height index' }],
 *     result: t.hash('the block hash'),
 *     examples: [['1000']],
 *     run(ctx, args) {
 *       const hash = ctx.services.chain.hashAt(args.height);           // args.height: number
 *       if (!hash) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Block height out of range');
 *       return hashToHex(hash);
 *     },
 *   });
 *
 * Parameters are in positional order. `args` has one key per parameter, by its first name (`verbosity` of
 * `verbosity|verbose`), read by its type (`paramTypes.ts`): `hash` is a 32-byte Buffer in wire order, `amount` a bigint
 * of satoshis, `object` a `JsonObject`. A parameter is undefined when it is absent and has no default. A JSON null
 * counts as absent unless `nullIsValue`.
 *
 * A result is any `JsonOut`: amounts by `coins(satoshis)`, 64-bit integers as bigint, long hex by `hexOf(bytes)`, long lists
 * by `jsonArray(asyncIterable)` (such a stream must not fail: check first, stream afterwards). To fail, throw
 * `rpcError(code, message)`. Any other exception returns -1 with its message, as in the reference; assertions and database
 * failures also stop the node.
 */
import type { JsonValue } from '../../util/json/json.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { ParamTypeName, ParamValue, CliConversion } from './paramTypes.js';
import type { Schema } from '../../schema/schema.js';
import type { RpcServices } from '../../interfaces/services.js';

/** Kind of client for which a result is formatted. The profile affects only the format. */
export type Profile = 'documented' | 'lbrycrd' | 'lbcd';
export const PROFILES: readonly Profile[] = ['documented', 'lbrycrd', 'lbcd'];

/** Groups of methods in `help`, in order of output. */
export const CATEGORIES = [
  'addressindex',
  'blockchain',
  'claimindex',
  'claimtrie',
  'control',
  'generating',
  'hidden',
  'hub',
  'mining',
  'network',
  'rawtransactions',
  'util',
  'wallet',
  'zmq',
] as const;
export type Category = (typeof CATEGORIES)[number];

/**
 * Data on which a result depends besides arguments and options. The result must not depend on anything else, such as the
 * clock or peers.
 */
export type AnswerSource = 'chain' | 'chainAndMempool';

export interface ParamDecl {
  /** Name of the parameter, or alternative names separated by `|`. The first name is the key in `args`. */
  readonly name: string;
  readonly type: ParamTypeName;
  readonly description: string;
  readonly required?: boolean;
  /** Value in `args` if the parameter is absent, already of the parsed type. Shown in help. */
  readonly default?: unknown;
  /** Text that the help shows instead of `default` if the default is computed, such as `the tip`. */
  readonly defaultText?: string;
  /** Allowed range of a number, both ends included. A value outside gives error -8 with the message `error`. */
  readonly range?: { readonly min: number; readonly max: number; readonly error?: string };
  /** Name of the parameter in error messages, if that differs from the name of the parameter in the reference. */
  readonly label?: string;
  /**
   * Checks the JSON type before any parameter is parsed. A wrong type gives error -3 `Expected type string, got number`
   * (`RPCTypeCheck`). With 'nullable', null is accepted.
   */
  readonly strict?: boolean | 'nullable';
  /** Whether null is passed to the parser of the type, which mostly rejects it, instead of counting as absent. */
  readonly nullIsValue?: boolean;
  /**
   * If true, `args` contains a function that parses the value or throws, instead of the value. Needed by methods that must
   * check something else before.
   */
  readonly late?: boolean;
  /** Conversion of the command-line word to a JSON value, if it differs from that of the type. */
  readonly cli?: CliConversion;
}

type FirstName<S extends string> = S extends `${infer Head}|${string}` ? Head : S;
type ArgValue<P extends ParamDecl> = P extends { readonly late: true } ? () => ReadValue<P> : ReadValue<P>;
type ReadValue<P extends ParamDecl> = P extends { readonly required: true }
  ? ParamValue<P['type']>
  : P extends { readonly default: infer D }
    ? D extends undefined
      ? ParamValue<P['type']> | undefined
      : ParamValue<P['type']>
    : ParamValue<P['type']> | undefined;

/** Type of the `args` that `run` receives for the declared parameters. */
export type ArgsOf<Params extends readonly ParamDecl[]> = {
  readonly [P in Params[number] as FirstName<P['name']>]: ArgValue<P>;
};

export type ParsedArgs = Readonly<Record<string, unknown>>;

/** Lookup of declared methods. Implemented by `MethodTable` in `table.ts`. */
export interface DeclaredMethods {
  readonly methods: readonly RpcMethod[];
  find(name: string, profile: Profile): RpcMethod | undefined;
  /** Returns the methods of a profile, sorted by category and name as in `help`. */
  list(profile: Profile): RpcMethod[];
}

/** Context of one call, passed to `run`. */
export interface RpcContext {
  readonly profile: Profile;
  readonly services: RpcServices;
  /** Aborted when the client disconnects or the node stops. Long waits must then end. */
  readonly signal: AbortSignal;
  /** Runs a wait that may take long, without occupying a call slot (`-rpcthreads`). */
  outOfTurn<T>(wait: () => Promise<T>): Promise<T>;
  /** Wallet name from the URL path `/wallet/<name>`, decoded; undefined for other paths. */
  readonly walletName: string | undefined;
  /** Table of all methods, for `help` and `rpc.discover`. */
  readonly table: DeclaredMethods;
  /** Whether the operator enabled a deprecated option with `-deprecatedrpc=<name>`. */
  isDeprecatedEnabled(name: string): boolean;
}

export interface MethodDecl<Params extends readonly ParamDecl[]> {
  readonly name: string;
  readonly category: Category;
  /** Description of the method in one or a few sentences. */
  readonly summary: string;
  readonly params: Params;
  readonly result: Schema;
  /** Example arguments. Each example is a list of command line words (`['"mindblown"', '1']`). */
  readonly examples?: readonly (readonly string[])[];
  /**
   * Profiles to which this declaration applies; default: all. Two declarations may share a name if their profiles do not
   * overlap.
   */
  readonly profiles?: readonly Profile[];
  /** Maximum number of positional arguments, if the reference accepts more arguments than it names. */
  readonly maxArgs?: number;
  /**
   * Maximum number of arguments in the lbrycrd and lbcd profiles, if the parameters after it have an effect only in the
   * documented profile. A call with more arguments fails there, because its result would differ from the requested one.
   */
  readonly maxArgsInReference?: number;
  /**
   * The method returns error -32 with `message` unless the operator set `-deprecatedrpc=<option>`. Applies only to the
   * listed profiles.
   */
  readonly deprecated?: {
    /** Whether the option is checked before the number of arguments, as the reference does for some methods. */
    readonly comesFirst?: boolean;
    readonly option: string;
    readonly message: string;
    readonly profiles?: readonly Profile[];
  };
  /** Whether invalid parameters give error -32600 `Invalid request` in the lbcd profile, as in lbcwallet. */
  readonly refusesBriefly?: boolean;
  /**
   * If present, the method does not exist on a node without wallets (`-disablewallet`). With `one`, a call that selects no
   * loaded wallet is rejected before its arguments are counted.
   */
  readonly needsWallet?: 'one' | 'any';
  /** Whether the method may be called during the warm-up. No method of the reference may. */
  readonly duringWarmup?: boolean;
  /** Data on which the result depends besides arguments and options. If set, the result may be cached (`answerCache.ts`). */
  readonly follows?: AnswerSource;
  /** Whether long results are cached too, because finding a result takes much longer than serializing it. Requires `follows`. */
  readonly keepsLong?: boolean;
  /**
   * Which callers in the web explorer (`-explorer`) may call the method. `page`: only the explorer's pages. `console`: also
   * visitors, in the console. If absent, the explorer may not call the method. Only for methods that read;
   * `test/lint/openMethods.test.ts` lists them.
   */
  readonly explorer?: 'page' | 'console';
  /**
   * How the method uses chain and mempool. This determines how a call behaves during a reorg (`onChain.ts`). `reads`: the
   * method only reads them, and is repeated if a reorg begins before it has its result. `none`: the method does not use
   * them, and runs during a reorg. Default: `reads` for a method with `follows`; any other method waits for the end of the
   * reorg and runs once.
   */
  readonly chainUse?: 'reads' | 'none';
  /** Runs the method. `positional` are the arguments as sent, unparsed. */
  run(ctx: RpcContext, args: ArgsOf<Params>, positional: readonly JsonValue[]): JsonOut | Promise<JsonOut>;
}

/** A declared method without the types of its parameters, in the form that method tables contain. */
export interface RpcMethod extends Omit<MethodDecl<readonly ParamDecl[]>, 'run'> {
  run(ctx: RpcContext, args: ParsedArgs, positional: readonly JsonValue[]): JsonOut | Promise<JsonOut>;
}

export function defineMethod<const Params extends readonly ParamDecl[]>(decl: MethodDecl<Params>): RpcMethod {
  return decl as unknown as RpcMethod;
}

/** Returns all names of a parameter. The first name is the key in `args`. */
export function paramNames(param: ParamDecl): string[] {
  return param.name.split('|');
}

/** Returns the key of a parameter in `args`. */
export function paramKey(param: ParamDecl): string {
  return paramNames(param)[0] ?? param.name;
}
