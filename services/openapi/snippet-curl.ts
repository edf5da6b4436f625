import { isApk, sessionQuery, type Step } from './snippet-step';

/** A text between a POSIX shell's single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`).replaceAll('\0', '')}'`;

/** The `-X` option. Without it, curl sends GET, or POST if there is a body. */
function methodOf({ method, body, form, upload, file }: Step): string {
  const hasBody = body !== undefined || form !== undefined || upload !== undefined || file !== undefined;
  return method === (hasBody ? 'POST' : 'GET') ? '' : ` -X ${method}`;
}

function formParts({ headers = [], form = [], upload }: Step): string[] {
  return [
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...form.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`),
    ...(upload?.fields ?? []).map(([name, value]) => `--form-string ${quoted(`${name}=${value}`)}`),
    ...(upload?.files ?? []).map((name) => `-F ${quoted(`${name}=@${name}`)}`),
  ];
}

function curlLine(baseUrl: string, step: Step): string {
  const { target, body, file, inSession, savedAs } = step;
  const session = sessionQuery(step, '$SESSION_ID');
  const parts = [`curl -sS${methodOf(step)} "${baseUrl}${target}${session}"`, '-H "X-API-Key: $API_KEY"', ...formParts(step)];
  if (file) parts.push(isApk(step) ? `-F "file=@${file.filename}"` : `-F "image=@${file.filename}"`);
  if (body !== undefined) {
    const json = quoted(JSON.stringify(inSession ? { sessionId: '$SESSION_ID', ...(body as object) } : body));
    // The session's id is in double quotes inside the single ones: '…"sessionId":"'"$SESSION_ID"'"…'
    parts.push('-H "Content-Type: application/json"', `-d ${inSession ? json.replace('$SESSION_ID', `'"$&"'`) : json}`);
  }
  if (savedAs !== undefined) parts.push(`-o ${savedAs}`);
  return parts.join(' \\\n  ');
}

/** Extracts the session from a JSON response with sed alone. */
const FIND_SESSION = `sed -E 's/.*"sessionId":"([^"]+)".*/\\1/'`;

/** For a POSIX shell, with curl and sed alone. */
export function curlSnippet(baseUrl: string, steps: readonly Step[]): string {
  const last = steps.length - 1;
  return steps
    .map((step, index) => {
      const line = curlLine(baseUrl, step);
      if (index === last) return line;
      return index === 0 ? `SESSION_ID=$(${line} | ${FIND_SESSION})` : `${line} > /dev/null`;
    })
    .join('\n');
}
