import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What the provider knows the dashboard by; see oidc-process.mjs. */
export const OIDC_CLIENT = { id: 'tollgate', secret: 'a-secret-of-this-client-alone' };

export interface OidcServer {
  readonly issuer: string;
  /** Until then it answers 503. */
  leadBackTo(redirectUri: string): Promise<void>;
  stop(): Promise<void>;
}

/** A provider of OpenID Connect as others run it. */
export async function startOidcServer(): Promise<OidcServer> {
  const child = fork(join(__dirname, 'oidc-process.mjs'), { stdio: 'ignore', execArgv: [] });
  const [{ issuer }] = (await once(child, 'message')) as [{ issuer: string }];
  return {
    issuer,
    async leadBackTo(redirectUri) {
      const isReady = once(child, 'message');
      child.send({ redirectUri });
      await isReady;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const isOver = once(child, 'exit');
      child.kill();
      await isOver;
    },
  };
}
