/**
 * The declaration of an RPC method. Everything else about a method is derived from it: help text, arity and type errors,
 * named arguments, the command line's conversion, the OpenRPC document, the method reference and the typed client.
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

/** The clients for which a result is formatted. Affects only presentation. */
export type Profile = 'documented' | 'lbrycrd' | 'lbcd';
export const PROFILES: readonly Profile[] = ['documented', 'lbrycrd', 'lbcd'];

/** Groups of `help`, in its order. */
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
 * The data that a result depends on, besides arguments and options: it must depend on nothing else, such as the clock or
 * peers.
 */
export type AnswerSource = 'chain' | 'chainAndMempool';

export interface ParamDecl {
  /** The name, or alternatives separated by `|`; the first is the key in `args`. */
  readonly name: string;
  readonly type: ParamTypeName;
  readonly description: string;
  readonly required?: boolean;
  /** The value in `args` when the parameter is absent (already of the parsed type); shown in help. */
  readonly default?: unknown;
  /** Shown instead of `default` if that is computed: `the tip`. */
  readonly defaultText?: string;
  /** Allowed range of a number, both ends included; a value outside gives error -8 `rangeError`. */
  readonly range?: { readonly min: number; readonly max: number; readonly error?: string };
  /** Name of the parameter in error messages, if it differs from the reference's parameter name. */
  readonly label?: string;
  /**
   * The JSON type is checked before any parameter is read, with error -3 `Expected type string, got number`
   * (`RPCTypeCheck`); with 'nullable' a null passes.
   */
  readonly strict?: boolean | 'nullable';
  /** A null is parsed by the type (and mostly rejected) instead of counting as absent. */
  readonly nullIsValue?: boolean;
  /** `run` gets a function that parses the value or rejects it: for methods that check something else first. */
  readonly late?: boolean;
  /** Overrides how the command line parses the word. */
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

/** The type of the arguments that `run` gets for the declared parameters. */
export type ArgsOf<Params extends readonly ParamDecl[]> = {
  readonly [P in Params[number] as FirstName<P['name']>]: ArgValue<P>;
};

export type ParsedArgs = Readonly<Record<string, unknown>>;

/** The declared methods; implemented by `MethodTable` of `table.ts`. */
export interface DeclaredMethods {
  readonly methods: readonly RpcMethod[];
  find(name: string, profile: Profile): RpcMethod | undefined;
  /** The methods of a profile, sorted by category and name as `help` lists them. */
  list(profile: Profile): RpcMethod[];
}

/** The context of one call. */
export interface RpcContext {
  readonly profile: Profile;
  readonly services: RpcServices;
  /** Aborted when the client has disconnected or the node is stopping: long waits must end then. */
  readonly signal: AbortSignal;
  /** Waits for something that may take long, without occupying a slot for calls (`-rpcthreads`). */
  outOfTurn<T>(wait: () => Promise<T>): Promise<T>;
  /** The wallet name in the path `/wallet/<name>`, decoded. */
  readonly walletName: string | undefined;
  /** The methods, for `help` and `rpc.discover`. */
  readonly table: DeclaredMethods;
  /** Whether `-deprecatedrpc=<name>` was given. */
  isDeprecatedEnabled(name: string): boolean;
}

export interface MethodDecl<Params extends readonly ParamDecl[]> {
  readonly name: string;
  readonly category: Category;
  /** Description of the method: one or a few sentences. */
  readonly summary: string;
  readonly params: Params;
  readonly result: Schema;
  /** Arguments of examples, each as the words of a command line (`['"mindblown"', '1']`). */
  readonly examples?: readonly (readonly string[])[];
  /** Profiles in which this declaration is used; default: all. Two declarations may share a name over disjoint profiles. */
  readonly profiles?: readonly Profile[];
  /** Maximum number of positional arguments, if the reference accepts more than it names. */
  readonly maxArgs?: number;
  /** Returns error -32 with `message` unless `-deprecatedrpc=<option>`; in the named profiles only. */
  readonly deprecated?: {
    /** Checked before arguments are counted, if the reference checks its option first. */
    readonly comesFirst?: boolean;
    readonly option: string;
    readonly message: string;
    readonly profiles?: readonly Profile[];
  };
  /** Returns -32600 `Invalid request` for invalid parameters in the lbcd profile, like lbcwallet. */
  readonly refusesBriefly?: boolean;
  /**
   * The method does not exist if the node runs without wallets (`-disablewallet`). With `one`, a call without a usable
   * wallet is rejected before its arguments are counted.
   */
  readonly needsWallet?: 'one' | 'any';
  /** Available during warm-up too (none of the reference's methods is). */
  readonly duringWarmup?: boolean;
  /** The data that the result depends on, besides arguments and options: if set, the result may be cached (`answerCache.ts`). */
  readonly follows?: AnswerSource;
  /** With `follows`: finding the answer takes much longer than writing it, so that long answers are kept too. */
  readonly keepsLong?: boolean;
  /**
   * Callers allowed in the web explorer (`-explorer`): `page`: only its pages; `console`: also visitors, in the console.
   * Without it the explorer never calls the method. Only for methods that read: `test/lint/openMethods.test.ts` lists them.
   */
  readonly explorer?: 'page' | 'console';
  /**
   * How the method uses chain and mempool, for calls during a reorg (`onChain.ts`). `reads`: it only reads them, and is
   * repeated if a reorg begins before it has its result. `none`: it does not use them, and runs during a reorg. Default: a
   * method that `follows` them reads; any other waits for the end and runs once.
   */
  readonly chainUse?: 'reads' | 'none';
  /** `positional` are the arguments as sent, not parsed. */
  run(ctx: RpcContext, args: ArgsOf<Params>, positional: readonly JsonValue[]): JsonOut | Promise<JsonOut>;
}

/** A declared method with its parameter types erased, as stored in tables. */
export interface RpcMethod extends Omit<MethodDecl<readonly ParamDecl[]>, 'run'> {
  run(ctx: RpcContext, args: ParsedArgs, positional: readonly JsonValue[]): JsonOut | Promise<JsonOut>;
}

export function defineMethod<const Params extends readonly ParamDecl[]>(decl: MethodDecl<Params>): RpcMethod {
  return decl as unknown as RpcMethod;
}

/** All names of a parameter, the key of `args` first. */
export function paramNames(param: ParamDecl): string[] {
  return param.name.split('|');
}

/** The key of `args`. */
export function paramKey(param: ParamDecl): string {
  return paramNames(param)[0] ?? param.name;
}
