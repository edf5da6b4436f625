import { type HttpExchange } from './http-exchange';

type ReadVariable = (exchange: HttpExchange) => string | undefined;

/** The variables of nginx that a Tollgate plugin may read. */
const BUILT_IN = new Map<string, ReadVariable>([
  ['request_id', (exchange) => exchange.nginxRequestId],
  ['kong_request_id', (exchange) => exchange.id],
  ['remote_addr', (exchange) => exchange.caller.ip],
  ['realip_remote_addr', (exchange) => exchange.peer.ip],
  ['request_method', (exchange) => exchange.method],
  ['request_length', (exchange) => String(exchange.headBytes)],
  ['host', (exchange) => exchange.host],
  ['scheme', () => 'http'],
  ['args', (exchange) => exchange.rawQuery],
  ['request_uri', (exchange) => exchange.rawPath + (exchange.hasQuery ? `?${exchange.rawQuery}` : '')],
]);

/** `$http_x_api_key`: nginx treats a hyphen as an underscore, and joins repeated headers. */
function headerVariable(name: string): ReadVariable | undefined {
  const header = /^http_([a-z0-9_]+)$/.exec(name)?.[1];
  return header === undefined ? undefined : (exchange) => exchange.headers.variable(header);
}

const findVariable = (name: string): ReadVariable | undefined => BUILT_IN.get(name) ?? headerVariable(name);

/** Names with this prefix are ours. The configuration may or may not define them; if not, nginx has an empty value. */
const OWN = /^tollgate_/;

/** nginx's variables, with those that the configuration defines. */
export class NginxVariables {
  private readonly set = new Map<string, ReadVariable>();

  /**
   * @param template a text between double quotes in nginx's configuration, with `$variables` and `\\n`
   * @throws Error for a variable that is not implemented
   */
  define(name: string, template: string): void {
    const parts: ReadVariable[] = [];
    for (const [, reference, text] of template.matchAll(/\$\{?([a-z0-9_]+)\}?|((?:[^$\\]|\\.)+)/gs)) {
      const read = reference === undefined ? constant(text ?? '') : findVariable(reference);
      if (read === undefined) throw new Error(`the local gateway does not implement the nginx variable "${reference ?? ''}"`);
      parts.push(read);
    }
    this.set.set(name, (exchange) => {
      let value = '';
      for (const part of parts) value += part(exchange) ?? '';
      return value;
    });
  }

  /** Undefined for a variable that is not implemented. */
  read(exchange: HttpExchange, name: string): string | undefined {
    const read = this.set.get(name) ?? findVariable(name);
    return read === undefined ? (OWN.test(name) ? '' : undefined) : (read(exchange) ?? '');
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

function constant(text: string): ReadVariable {
  const value = text.replace(/\\(.)/gs, (_, character: string) => ESCAPES[character] ?? character);
  return () => value;
}
