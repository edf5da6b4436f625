import { notConfigured } from '../../kit/errors';
import { hasLiveSource, sourcesOf } from '../live-sources';
import { type IdentityCall } from './gst-handlers';
import { type IdentityWorkerSettings } from './settings';

type Handlers = Readonly<Record<string, (request: never, call: IdentityCall) => Promise<unknown>>>;

/**
 * While the source for keys of the call's mode is not configured, refuses every step of a session in the same way as its start: no session
 * can have begun, and the caller did not cause it.
 */
export function requireSource<Given extends object>(product: string, handlers: Given, settings: IdentityWorkerSettings): Given {
  const missing = {
    live: hasLiveSource(product, settings) ? [] : sourcesOf(product).map((source) => source.join(' with ')),
    test: settings.SANDBOX_URL === undefined ? ['SANDBOX_URL'] : [],
  };
  const required = Object.entries(handlers as Handlers).map(([name, handle]) => {
    const checked = (request: never, call: IdentityCall): Promise<unknown> => {
      const settingsOfMode = missing[call.mode];
      return settingsOfMode.length === 0 ? handle(request, call) : Promise.reject(notConfigured(settingsOfMode, call.mode));
    };
    return [name, checked];
  });
  return Object.fromEntries(required) as Given;
}
