import { notConfigured } from '../../kit/errors';
import { hasLiveSource, sourcesOf } from '../live-sources';
import { type IdentityCall } from './gst-handlers';
import { type IdentityWorkerSettings } from './settings';

type Handlers = Readonly<Record<string, (request: never, call: IdentityCall) => Promise<unknown>>>;

/**
 * Handlers that refuse every step of a session as they refuse its start while the source is not set that keys of the call's mode need: no
 * session can have begun, and its absence is nothing that the caller did.
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
