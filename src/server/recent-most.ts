/**
 * The largest buffers that a client of this thread has had in the last seconds, one look a second,
 * as INFO shows them. Redis keeps as many seconds.
 */
const SECONDS = 8;

export type Buffers = { readonly inputBytes: number; readonly outputBytes: number };

export class RecentMost {
  private readonly input: Float64Array = new Float64Array(SECONDS);
  private readonly output: Float64Array = new Float64Array(SECONDS);
  private second = 0;

  /** Once a second. */
  look(clients: Iterable<Buffers>): void {
    this.second = (this.second + 1) % SECONDS;
    let input = 0;
    let output = 0;
    for (const { inputBytes, outputBytes } of clients) {
      input = Math.max(input, inputBytes);
      output = Math.max(output, outputBytes);
    }
    this.input[this.second] = input;
    this.output[this.second] = output;
  }

  get inputBytes(): number {
    return Math.max(...this.input);
  }

  get outputBytes(): number {
    return Math.max(...this.output);
  }
}
