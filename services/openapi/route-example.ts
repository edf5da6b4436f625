import { type ExampleStep } from '../kit/service/route-description';
import { type SandboxExample } from '../sandbox/sandbox-upstream';
import { createSandboxUpstreams } from '../sandbox/sandbox-upstreams';

/** One call of a route that succeeds with a test key. */
export interface RouteExample {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A file in an example's input, as the sandbox documents it. */
export interface ExampleFile {
  readonly filename: string;
  readonly content_type: string;
  readonly base64: string;
}

let known: readonly SandboxExample[] | undefined;

function successes(): readonly SandboxExample[] {
  known ??= createSandboxUpstreams()
    .flatMap(({ examples }) => examples)
    .filter(({ outcome }) => outcome === 'success');
  return known;
}

/** The sandbox's first documented success of a route; undefined if there is none. */
function findExample({ path, method: taken, example: { of = path, sends } = {} }: ExampleStep): RouteExample | undefined {
  const found = successes().find(({ route, method }) => route === of && (taken === 'ANY' || taken === method));
  if (!found) return undefined;
  const input = Object.fromEntries(Object.entries(found.input).filter(([name]) => !sends || sends.includes(name)));
  return { method: found.method, path, input };
}

/** The calls of a route's example, ending with its own. All but the first also send the session that the first opened. */
export function exampleCalls(route: ExampleStep): readonly RouteExample[] {
  return [...(route.example?.after ?? []), route].flatMap((each) => findExample(each) ?? []);
}

/** The file in an example's input, if there is one. Uploads are shown by a file's name, not by its bytes. */
export function fileOf({ path, input }: RouteExample): ExampleFile | undefined {
  const { file, image_base64: image } = input;
  if (typeof image === 'string') return { filename: 'photo.png', content_type: 'image/png', base64: image };
  if (typeof file !== 'object' || file === null) return undefined;
  const { filename, content_type, base64 } = file as Record<string, unknown>;
  if (typeof filename !== 'string' || typeof content_type !== 'string' || typeof base64 !== 'string') {
    throw new Error(`the example of ${path} has a file without a name, type or content`);
  }
  return { filename, content_type, base64 };
}
