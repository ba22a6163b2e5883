/** Reason why a URL does not lead to a stream that can be downloaded. Source: lbry-sdk lbry/error/__init__.py `ResolveError`. */
import { DaemonError } from './daemonError.js';

export type ResolveProblem =
  /** The claim does not exist. */
  | 'not found'
  /** The claim has no file. */
  | 'no file'
  /** The hub blocks the claim. */
  | 'blocked'
  /** The hub returned an error or an invalid answer, or its connection ended. */
  | 'hub failed'
  /** No hub is connected. */
  | 'no hub'
  /** The file of another claim with the same stream exists in this daemon. */
  | 'collision';

export class ResolveError extends DaemonError {
  readonly problem: ResolveProblem;

  constructor(problem: ResolveProblem, text: string) {
    super('ResolveError', `Failed to resolve '${text}'.`);
    this.problem = problem;
  }
}
