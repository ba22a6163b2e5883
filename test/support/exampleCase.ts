/** Types and helpers with which the lists of sample calls are written. */
import type { Profile } from '../../src/rpc/declare/method.js';

export interface ExampleNode {
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>;
}

export interface ExampleCase {
  readonly method: string;
  readonly params: readonly unknown[];
  /**
   * Profiles in which the method is called; default: all. A method that changes something is called once, in the documented
   * profile.
   */
  readonly profiles?: readonly Profile[];
}

/** A call that changes something; it is made once. */
export const once = (method: string, ...params: unknown[]): ExampleCase => ({
  method,
  params,
  profiles: ['documented'],
});
export const call = (method: string, ...params: unknown[]): ExampleCase => ({ method, params });
/** It has other parameters in lbcd's profile. */
export const lbrycrd = (method: string, ...params: unknown[]): ExampleCase => ({
  method,
  params,
  profiles: ['documented', 'lbrycrd'],
});
/** A call of lbcd's profile only. */
export const lbcd = (method: string, ...params: unknown[]): ExampleCase => ({
  method,
  params,
  profiles: ['lbcd'],
});

/** A call of the documented profile only. */
export const documented = (method: string, ...params: unknown[]): ExampleCase => ({
  method,
  params,
  profiles: ['documented'],
});
