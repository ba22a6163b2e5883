/** Reason why a URL does not lead to a stream that can be downloaded. Source: lbry-sdk lbry/error/__init__.py `ResolveError`. */
import { DaemonError } from './daemonError.js';

export type ResolveProblem =
  /** There is no such claim. */
  | 'not found'
  /** The claim has no file. */
  | 'no file'
  /** The hub does not give it. */
  | 'blocked'
  /** The hub answered an error, or what cannot be, or its connection ended. */
  | 'hub failed'
  /** No hub is connected. */
  | 'no hub'
  /** Another claim has the same stream, and that one is here. */
  | 'collision';

export class ResolveError extends DaemonError {
  readonly problem: ResolveProblem;

  constructor(problem: ResolveProblem, text: string) {
    super('ResolveError', `Failed to resolve '${text}'.`);
    this.problem = problem;
  }
}
