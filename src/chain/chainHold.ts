/** Blocks chain changes while another thread reads. The other thread calls `begin` and later `end`. */
export class ChainHold {
  private readonly exclusively: (task: () => Promise<void>) => Promise<void>;
  private release: (() => void) | null = null;
  private isClosed = false;

  constructor(exclusively: (task: () => Promise<void>) => Promise<void>) {
    this.exclusively = exclusively;
  }

  /** Resolves when chain changes are blocked. They stay blocked until `end` is called. */
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

  /** Ends the current hold and refuses later ones. */
  close(): void {
    this.isClosed = true;
    this.end();
  }
}
