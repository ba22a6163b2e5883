/**
 * Components of the daemon. They start in the order of their dependencies and stop in reverse order. Source: lbry-sdk
 * lbry/extras/daemon/componentmanager.py `ComponentManager`.
 */
import { EnvironmentError, failureReason } from '../../util/text/environmentError.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { ComponentName } from '../api/declaration.js';
import type { ComponentGate } from '../api/dispatch.js';
import { DaemonError, skippedComponent } from '../base/daemonError.js';

export interface Component {
  readonly name: ComponentName;
  readonly dependsOn: readonly ComponentName[];
  start(): Promise<void>;
  /**
   * Ends what `start` began. It may be called while `start` has not ended yet. In this case it ends waits of `start`, and it is
   * called again after `start` has ended.
   */
  stop(): Promise<void>;
  /** Value of the component's member in the result of `status`; null for a component without a member. */
  status(): JsonOut;
}

interface Part {
  readonly component: Component;
  isRunning: boolean;
  /** Resolves when the running call of `start` has ended; null if none is running. */
  starting: Promise<void> | null;
  /** Reason why the component did not start; null if it did not fail. */
  failure: string | null;
}

/**
 * Called when a component fails to start, with its error. If a component needs a component that did not start, its error
 * says so.
 */
export type OnStartFailure = (name: ComponentName, error: unknown) => void;

export class Components implements ComponentGate {
  readonly #parts: readonly Part[];
  #begun: Part[] = [];

  /** Stores the components. Throws if a component depends on one that is not in the list. */
  constructor(components: readonly Component[]) {
    this.#parts = components.map((component) => ({
      component,
      isRunning: false,
      starting: null,
      failure: null,
    }));
    const names = new Set(components.map(({ name }) => name));
    for (const { name, dependsOn } of components) {
      const missing = dependsOn.find((needed) => !names.has(needed));
      if (missing)
        throw new DaemonError(
          'ComponentStartConditionNotMetError',
          `The component ${name} needs ${missing}, which is skipped. Skip both or neither.`,
        );
    }
  }

  /**
   * Starts each component as soon as its dependencies run. A failed component blocks only its dependents. After all have
   * started or failed, it resolves to whether all run. No component starts after `stopping` aborts. QUIRK (not copied):
   * after a failure in lbry-sdk, components that have not started stay in the state "starting".
   */
  async start(stopping: AbortSignal, onFailure: OnStartFailure): Promise<boolean> {
    const started = new Map<ComponentName, Promise<boolean>>();
    for (const part of this.#inOrder()) {
      const { name, dependsOn } = part.component;
      const needed = dependsOn.map(async (other) => [other, await started.get(other)!] as const);
      started.set(name, this.#startOne(part, Promise.all(needed), stopping, onFailure));
    }
    const all = await Promise.all(started.values());
    return all.every((isRunning) => isRunning);
  }

  async #startOne(
    part: Part,
    needed: Promise<readonly (readonly [name: ComponentName, isRunning: boolean])[]>,
    stopping: AbortSignal,
    onFailure: OnStartFailure,
  ): Promise<boolean> {
    const { component } = part;
    const lacking = (await needed).find(([, isRunning]) => !isRunning);
    if (stopping.aborted) return false;
    try {
      if (lacking) throw new EnvironmentError(`It needs the component ${lacking[0]}, which did not start.`);
      this.#begun.push(part);
      const start = component.start();
      part.starting = start.catch(() => undefined);
      await start;
      part.isRunning = !stopping.aborted;
    } catch (error) {
      part.failure = failureReason(error);
      onFailure(component.name, error);
    }
    part.starting = null;
    return part.isRunning;
  }

  /**
   * Stops the started components in reverse order. A component that is still starting is stopped again after its start has
   * ended, because the start may have opened something meanwhile. An error is reported, and the remaining components are
   * stopped.
   */
  async stop(onFailure: (name: ComponentName, error: unknown) => void): Promise<void> {
    const begun = this.#begun.toReversed();
    this.#begun = [];
    for (const part of begun) {
      part.isRunning = false;
      const { starting } = part;
      try {
        await part.component.stop();
        if (starting === null) continue;
        await starting;
        await part.component.stop();
      } catch (error) {
        onFailure(part.component.name, error);
      }
    }
  }

  check(needs: readonly ComponentName[]): void {
    for (const name of needs) {
      const part = this.#parts.find(({ component }) => component.name === name);
      if (part === undefined) throw skippedComponent(name);
      if (part.failure !== null)
        throw new DaemonError(
          'ComponentsNotStartedError',
          `the component ${name} did not start: ${part.failure}`,
        );
      if (!part.isRunning)
        throw new DaemonError(
          'ComponentsNotStartedError',
          `the following required components have not yet started: ${JSON.stringify(needs)}`,
        );
    }
  }

  isRunning(name: ComponentName): boolean {
    return this.#parts.some((part) => part.component.name === name && part.isRunning);
  }

  get areAllRunning(): boolean {
    return this.#parts.every(({ isRunning }) => isRunning);
  }

  /** Returns for each component, by name, whether it runs. */
  startup(): Record<string, boolean> {
    return Object.fromEntries(this.#parts.map(({ component, isRunning }) => [component.name, isRunning]));
  }

  /** Returns the reasons for failed starts, by component. */
  failures(): Record<string, string> {
    const failed = this.#parts.map(({ component, failure }) => [component.name, failure] as const);
    return Object.fromEntries(failed.filter((one): one is [ComponentName, string] => one[1] !== null));
  }

  /** Returns the status of each component, by name. */
  statuses(): Record<string, JsonOut> {
    const shown = this.#parts.map(({ component }) => [component.name, component.status()] as const);
    return Object.fromEntries(shown.filter(([, status]) => status !== null));
  }

  /** Returns the components in the order of their dependencies: a component comes after those that it needs. */
  #inOrder(): Part[] {
    const ordered: Part[] = [];
    const placed = new Set<ComponentName>();
    let waiting = [...this.#parts];
    while (waiting.length > 0) {
      const next = waiting.filter(({ component }) => component.dependsOn.every((name) => placed.has(name)));
      if (next.length === 0) throw new Error('components depend on each other in a cycle');
      ordered.push(...next);
      for (const { component } of next) placed.add(component.name);
      waiting = waiting.filter((part) => !next.includes(part));
    }
    return ordered;
  }
}
