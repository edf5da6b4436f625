import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';

const PROGRAM = join(resolve(__dirname, '../..'), 'dist', 'bench', 'neighbours', 'bystander-program.js');

/** A call that a paying customer makes regularly. */
export interface BystanderCall {
  /** For example `/ip`. */
  readonly name: string;
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** Base64. */
  readonly body?: string;
  readonly everyMs: number;
  /** True if the product allows few concurrent requests. */
  readonly isHeavy: boolean;
}

export interface BystanderAnswer {
  readonly name: string;
  /** Milliseconds since 1970, not rounded. */
  readonly sentAt: number;
  readonly tookMs: number;
  /** 0: the connection broke. */
  readonly status: number;
  /** Requests left today, according to the response. Every charged response has a different number. */
  readonly left: number | null;
  /** The beginning of the response. */
  readonly text: string;
}

export type BystanderCommand = { readonly kind: 'watch'; readonly calls: readonly BystanderCall[] } | { readonly kind: 'stop' };

/** Another customer's calls, sent and timed by a process of its own. */
export interface Bystander {
  watch(calls: readonly BystanderCall[]): void;
  /** Waits for calls that are under way. */
  stop(): Promise<readonly BystanderAnswer[]>;
  close(): void;
}

/** The program must have been built. */
export function startBystander(): Bystander {
  const child = fork(PROGRAM, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  return {
    watch: (calls) => void child.send({ kind: 'watch', calls } satisfies BystanderCommand),
    async stop() {
      const answered = once(child, 'message') as Promise<[BystanderAnswer[]]>;
      child.send({ kind: 'stop' } satisfies BystanderCommand);
      return (await answered)[0];
    },
    close: () => child.disconnect(),
  };
}
