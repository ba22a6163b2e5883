/** The node's idea of the time: the system's, unless a test pretends another (`-mocktime`, `setmocktime`). */
export class AdjustedClock {
  private mockSec: number;

  constructor(mockSec: number) {
    this.mockSec = mockSec;
  }

  nowSec(): number {
    return this.mockSec > 0 ? this.mockSec : Math.floor(Date.now() / 1000);
  }

  /** 0 goes back to the system's clock. */
  setMock(sec: number): void {
    this.mockSec = sec;
  }
}
