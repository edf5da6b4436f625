import { type ReadOn } from '../plugins/core/problems';

/** A problem in a gateway's files, up to its code, with the request id in the gateway's language. */
const PROBLEM = /"type":"about:blank"((?:(?!"type":)[^])*?)"code":"(\w+)","request_id":"([^"]*)"\}/g;

/** Kong's template of a problem, into which Kong fills a message and the request id, once each. */
const KONG_PROBLEM = /"type": "about:blank"([^]*?)"code": "(\w+)",/;
const KONG_PAGE = '<p class="quiet">request_id: %s</p>';

/** Characters without a special meaning between quotes in any gateway's language. */
const PLAIN = /^[\w:/.~#?=[\]-]+$/;

/** Requests with these responses are not recorded, so there is nothing to explain. */
const UNRECORDED: ReadonlySet<string> = new Set(['ambiguous_path']);

function plain(address: string | undefined): string | undefined {
  return address !== undefined && PLAIN.test(address) ? address : undefined;
}

/** Adds the addresses of explaining pages to the problems that a gateway sends by itself. Without addresses the text stays as it is. */
export function addReadOn(text: string, readOn: ReadOn = {}): string {
  const [errors, explain] = [plain(readOn.errors), plain(readOn.explain)];
  return text.replace(PROBLEM, (_problem, between: string, code: string, id: string) => {
    const help = explain === undefined || UNRECORDED.has(code) ? '' : `,"help":"${explain}${id}"`;
    return `"type":"${errors === undefined ? 'about:blank' : errors + code}"${between}"code":"${code}","request_id":"${id}"${help}}`;
  });
}

/**
 * The same for a Kong template. Kong fills it by `string.format` with a message and the request id, and LuaJIT cannot use an argument
 * twice. So `request_id` keeps its place, and the page to which `help` leads asks for the id.
 */
export function addReadOnForKong(template: string, readOn: ReadOn): string {
  const [errors, page] = [plain(readOn.errors), plain(readOn.explain)?.split('?')[0]];
  const json = template.replace(KONG_PROBLEM, (_problem, between: string, code: string) => {
    const help = page === undefined ? '' : `\n  "help": "${page}",`;
    return `"type": "${errors === undefined ? 'about:blank' : errors + code}"${between}"code": "${code}",${help}`;
  });
  return page === undefined
    ? json
    : json.replace(KONG_PAGE, (line) => `${line}\n      <p><a href="${page}">What happened to this request</a></p>`);
}
