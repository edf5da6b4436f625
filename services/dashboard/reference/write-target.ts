import { type ParameterStyle, readValue, writeParameter } from '../../openapi/parameter-style';
import { fieldName, type TriedParameter, type TryCall } from './try-call';

/** The target of a call, and what is sent with it besides the key and a body. */
export interface CallTarget {
  readonly path: string;
  /** The query as it stands behind the `?`. */
  readonly query: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The parameter of a field; undefined for a field of the body. */
function parameterOf(field: string, parameters: readonly TriedParameter[]): TriedParameter | undefined {
  return parameters.find((each) => fieldName(each) === field) ?? (field.startsWith(':') ? undefined : { name: field, in: 'query' });
}

/**
 * The parameters of a form as the call sends them. Empty fields are not sent.
 * @param fields names and values; anything but a text counts as empty
 */
export function writeTarget(
  { path, parameters = [] }: Pick<TryCall, 'path' | 'parameters'>,
  fields: Iterable<readonly [string, unknown]>,
): CallTarget {
  const written = [...fields].flatMap(([field, text]) => {
    const parameter = parameterOf(field, parameters);
    if (!parameter || typeof text !== 'string' || text === '') return [];
    return [{ name: parameter.name, in: parameter.in, text: writeParameter(parameter, readValue(text, parameter.kind)) }];
  });
  const pairsIn = (place: ParameterStyle['in']): (readonly [string, string])[] =>
    written.flatMap((each) => (each.in === place ? [[each.name, each.text] as const] : []));
  const textsIn = (place: ParameterStyle['in']): string[] => pairsIn(place).map(([, text]) => text);
  const inPath = new Map(pairsIn('path'));
  const cookies = textsIn('cookie');
  const headers = [...pairsIn('header'), ...(cookies.length > 0 ? [['Cookie', cookies.join('; ')] as const] : [])];
  return {
    path: path.replaceAll(/\{([^{}]*)\}/g, (part, name: string) => inPath.get(name) ?? part),
    query: textsIn('query').join('&'),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
  };
}
