/**
 * The parts of the daemon: started in stages by what they depend on, stopped the other way round, asked whether they run.
 * Source: lbry-sdk lbry/extras/daemon/componentmanager.py `ComponentManager`; sdk-facts 1.7.
 */
import type { JsonOut } from '../../util/jsonWrite.js';
import type { ComponentName } from '../api/declaration.js';
import type { ComponentGate } from '../api/dispatch.js';
import { DaemonError, skippedComponent } from '../base/daemonError.js';

export interface Component {
  readonly name: ComponentName;
  readonly dependsOn: readonly ComponentName[];
  start(): Promise<void>;
  stop(): Promise<void>;
  /** What `status` shows under the name; nothing where that is null. */
  status(): JsonOut;
}

interface Part {
  readonly component: Component;
  isRunning: boolean;
}

export class Components implements ComponentGate {
  private readonly parts: readonly Part[];
  private begun: Part[] = [];

  /** Throws where one depends on another that is not there. */
  constructor(components: readonly Component[]) {
    this.parts = components.map((component) => ({ component, isRunning: false }));
    const names = new Set(components.map(({ name }) => name));
    for (const { name, dependsOn } of components) {
      const missing = dependsOn.find((needed) => !names.has(needed));
      if (missing)
        throw new DaemonError(
          'ComponentStartConditionNotMetError',
          `The component ${name} needs ${missing}, which is skipped. Skip ${name} too, or neither.`,
        );
    }
  }

  /** Resolves when all run; rejects with the first failure. What is `stopping` meanwhile starts no further stage. */
  async start(stopping: AbortSignal): Promise<void> {
    for (const stage of this.stages()) {
      if (stopping.aborted) return;
      this.begun.push(...stage);
      await Promise.all(
        stage.map(async (part) => {
          await part.component.start();
          part.isRunning = true;
        }),
      );
    }
  }

  /** Stops what was begun, the last first; a failure is told and keeps nothing from being stopped. */
  async stop(onFailure: (name: ComponentName, error: unknown) => void): Promise<void> {
    const begun = this.begun.toReversed();
    this.begun = [];
    for (const part of begun) {
      part.isRunning = false;
      try {
        await part.component.stop();
      } catch (error) {
        onFailure(part.component.name, error);
      }
    }
  }

  check(needs: readonly ComponentName[]): void {
    for (const name of needs) {
      const part = this.parts.find(({ component }) => component.name === name);
      if (part === undefined) throw skippedComponent(name);
      if (!part.isRunning)
        throw new DaemonError(
          'ComponentsNotStartedError',
          `the following required components have not yet started: ${JSON.stringify(needs)}`,
        );
    }
  }

  isRunning(name: ComponentName): boolean {
    return this.parts.some((part) => part.component.name === name && part.isRunning);
  }

  get areAllRunning(): boolean {
    return this.parts.every(({ isRunning }) => isRunning);
  }

  /** Whether each runs, by name. */
  startup(): Record<string, boolean> {
    return Object.fromEntries(this.parts.map(({ component, isRunning }) => [component.name, isRunning]));
  }

  /** What each shows of itself, by name. */
  statuses(): Record<string, JsonOut> {
    const shown = this.parts.map(({ component }) => [component.name, component.status()] as const);
    return Object.fromEntries(shown.filter(([, status]) => status !== null));
  }

  private stages(): Part[][] {
    const stages: Part[][] = [];
    const staged = new Set<ComponentName>();
    let waiting = [...this.parts];
    while (waiting.length > 0) {
      const stage = waiting.filter(({ component }) => component.dependsOn.every((name) => staged.has(name)));
      if (stage.length === 0) throw new Error('components depend on each other in a circle');
      stages.push(stage);
      for (const { component } of stage) staged.add(component.name);
      waiting = waiting.filter((part) => !stage.includes(part));
    }
    return stages;
  }
}
