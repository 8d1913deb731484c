/**
 * A channel to all other threads of the process that have the same name open. It can be read at
 * once, without an event loop; what nobody reads so arrives as an event. Shared buffers pass. It
 * does not keep the process alive.
 */
import { BroadcastChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";

export type StoreChannel<Message> = {
  post(message: Message): void;
  /** Next message from another thread, or null. */
  take(): Message | null;
  close(): void;
};

/** `arrived` is called with messages that were not taken, from the event loop. */
export function openChannel<Message>(
  name: string,
  arrived: (message: Message) => void,
): StoreChannel<Message> {
  const channel = new BroadcastChannel(name);
  const port = channel as unknown as MessagePort;
  channel.onmessage = (event) => arrived((event as { data: Message }).data);
  // Setting the handler made it hold the process.
  port.unref();
  return {
    post: (message) => channel.postMessage(message),
    take: () => (receiveMessageOnPort(port)?.message as Message | undefined) ?? null,
    close: () => channel.close(),
  };
}
