/** Blocks chain changes for another thread, from a call of it until it says that they may continue. */
export class ChainHold {
  private readonly exclusively: (task: () => Promise<void>) => Promise<void>;
  private release: (() => void) | null = null;
  private isClosed = false;

  constructor(exclusively: (task: () => Promise<void>) => Promise<void>) {
    this.exclusively = exclusively;
  }

  /** Resolves when chain changes are blocked, until `end`. */
  begin(): Promise<void> {
    return new Promise((resolve, reject) => {
      const held = this.exclusively(
        () =>
          new Promise<void>((release) => {
            if (this.isClosed) return release();
            this.release = release;
            resolve();
          }),
      );
      held.catch(reject);
    });
  }

  end(): void {
    this.release?.();
    this.release = null;
  }

  /** Ends the present hold, and lets no other one begin. */
  close(): void {
    this.isClosed = true;
    this.end();
  }
}
