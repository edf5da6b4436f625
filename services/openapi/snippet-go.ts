import { wellFormed } from './parameter-style';
import { bodyOf, type Step } from './snippet-step';

/** Go reads the escapes of JSON. A text with quotes is easier to read between backquotes, which cannot contain a backquote or a CR. */
function literal(text: string): string {
  const whole = wellFormed(text);
  return /["\\]/.test(whole) && !/[`\r\0]/.test(whole) ? `\`${whole}\`` : JSON.stringify(whole);
}

/** For Go, with its standard library alone. A single call without files. */
export function goSnippet(baseUrl: string, step: Step): string {
  const { method, target, headers: more = [] } = step;
  const body = bodyOf(step);
  const headers = [...more, ...(body ? [['Content-Type', body.type] as const] : [])];
  return [
    'package main',
    '',
    'import (',
    ...['fmt', 'io', 'net/http', 'os', ...(body ? ['strings'] : [])].map((name) => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    `\trequest, _ := http.NewRequest("${method}", ${literal(baseUrl + target)}, ${body ? `strings.NewReader(${literal(body.text)})` : 'nil'})`,
    '\trequest.Header.Set("X-API-Key", os.Getenv("API_KEY"))',
    ...headers.map(([name, value]) => `\trequest.Header.Set(${literal(name)}, ${literal(value)})`),
    '\tresponse, err := http.DefaultClient.Do(request)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    '\tdefer response.Body.Close()',
    '\tbody, _ := io.ReadAll(response.Body)',
    '\tfmt.Println(response.StatusCode, string(body))',
    '}',
  ].join('\n');
}
