import { type CatalogueRoute } from '../../plugins/core/catalogue/catalogue';
import { EXAMPLE_OF, STEP_FIELDS, STEPS_BEFORE } from '../products/own-routes/examples';
import { type SandboxExample } from '../sandbox/sandbox-upstream';
import { createSandboxUpstreams } from '../sandbox/sandbox-upstreams';

/** One call of a route that succeeds with a test key. */
export interface RouteExample {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A file among an example's input, as the sandbox documents it. */
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

/** What is documented: a path that takes each of two methods for something else has an example for each. */
export interface ExampleOf {
  readonly path: string;
  readonly method: CatalogueRoute['method'];
}

/** The sandbox's first documented success of a route; undefined when it has none. */
export function findExample({ path, method: taken }: ExampleOf): RouteExample | undefined {
  const of = EXAMPLE_OF[path] ?? path;
  const example = successes().find(({ route, method }) => route === of && (taken === 'ANY' || taken === method));
  return example && { method: example.method, path, input: example.input };
}

function ownInput({ path, input }: RouteExample): Record<string, unknown> {
  const fields = STEP_FIELDS[path];
  return Object.fromEntries(Object.entries(input).filter(([name]) => !fields || fields.includes(name)));
}

/** The calls of a route's example, its own last; all but the first also send the session that the first opened. */
export function exampleCalls(of: ExampleOf): readonly RouteExample[] {
  const before = (STEPS_BEFORE[of.path] ?? []).map((path) => ({ path, method: 'ANY' as const }));
  return [...before, of].flatMap((each) => {
    const example = findExample(each);
    return example ? [{ ...example, input: ownInput(example) }] : [];
  });
}

/** The file in an example's input, if it has one: uploads are shown with a file's name, not with its bytes. */
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
