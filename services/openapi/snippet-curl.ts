import { isApk, sessionQuery, type Step } from './snippet-step';

function curlLine(baseUrl: string, step: Step): string {
  const { target, body, file, inSession, savedAs } = step;
  const session = sessionQuery(step, '$SESSION_ID');
  const parts = [`curl -sS "${baseUrl}${target}${session}"`, '-H "X-API-Key: $API_KEY"'];
  if (file) parts.push(isApk(step) ? `-F "file=@${file.filename}"` : `-F "image=@${file.filename}"`);
  if (body) {
    // The session's id is spliced into the single-quoted text: '…"sessionId":"'"$SESSION_ID"'"…'
    const json = JSON.stringify(inSession ? { sessionId: `'"$SESSION_ID"'`, ...body } : body).replaceAll(
      `'\\"$SESSION_ID\\"'`,
      `'"$SESSION_ID"'`,
    );
    parts.push('-H "Content-Type: application/json"', `-d '${json}'`);
  }
  if (savedAs !== undefined) parts.push(`-o ${savedAs}`);
  return parts.join(' \\\n  ');
}

/** Fishes the session out of a JSON answer with nothing but sed. */
const FIND_SESSION = `sed -E 's/.*"sessionId":"([^"]+)".*/\\1/'`;

/** For a POSIX shell, with nothing but curl and sed. */
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
