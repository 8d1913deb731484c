/**
 * One thread's end of the control log: changes of what is not keys, which all threads apply in one
 * order. A change is posted to every thread and only then is the serial in shared memory raised; a
 * thread whose own serial is behind takes what was posted, at once and without its event loop.
 *
 * So what was published before a request was sent is applied before the request is run, on whatever
 * connection it comes.
 */
import { H_CONTROL_SERIAL } from "../memory/layout.ts";

export type ControlChannel<Entry> = {
  /** Runs something while no other thread can append to the control log. */
  ordered(run: () => void): void;
  /** Appends to the control log, for all threads but this one; within `ordered`. */
  postControl(entry: Entry): void;
  /** Entries of the control log that this thread has not taken yet, in order. */
  takeControl(): Entry[];
};

export class ControlLog<Entry> {
  private readonly control: Int32Array;
  private readonly channel: ControlChannel<Entry>;
  private readonly apply: (entry: Entry) => void;
  /** From the first on: a thread that starts late finds what it has missed in its channel. */
  private serial = 0;

  constructor(control: Int32Array, channel: ControlChannel<Entry>, apply: (entry: Entry) => void) {
    this.control = control;
    this.channel = channel;
    this.apply = apply;
  }

  isBehind(): boolean {
    // A plain read: the request that must see an entry came by way of the system, after it.
    return this.control[H_CONTROL_SERIAL] !== this.serial;
  }

  /** Applies what other threads have published. */
  take(): void {
    const serial = Atomics.load(this.control, H_CONTROL_SERIAL);
    for (const entry of this.channel.takeControl()) this.apply(entry);
    this.serial = serial;
  }

  publish(entry: Entry): void {
    this.channel.ordered(() => {
      // Whoever publishes has taken all that was published before: one order for all.
      if (this.isBehind()) this.take();
      this.channel.postControl(entry);
      this.serial = Atomics.add(this.control, H_CONTROL_SERIAL, 1) + 1;
    });
    this.apply(entry);
  }
}
