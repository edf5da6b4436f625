import { isApk, sessionQuery, type Step } from './snippet-step';

function pythonRequest(baseUrl: string, step: Step): string {
  const { method, target, body, file, inSession } = step;
  const session = sessionQuery(step, '{session_id}');
  const parts = [session === '' ? JSON.stringify(baseUrl + target) : `f"${baseUrl}${target}${session}"`];
  const headers: string[] = [];
  if (body) {
    headers.push('"Content-Type": "application/json"');
    const members = Object.entries(body).map(([member, value]) => `"${member}": ${pythonValue(value)}`);
    parts.push(`data=json.dumps({${[...(inSession ? ['"sessionId": session_id'] : []), ...members].join(', ')}}).encode()`);
  } else if (file && isApk(step)) {
    headers.push(`"Content-Type": "${file.content_type}"`);
    parts.push(`data=open("${file.filename}", "rb").read()`);
  } else if (file) {
    headers.push('"Content-Type": "application/json"');
    parts.push(`data=json.dumps({"image_base64": base64.b64encode(open("${file.filename}", "rb").read()).decode()}).encode()`);
  }
  parts.push(headers.length === 0 ? 'headers=KEY' : `headers={**KEY, ${headers.join(', ')}}`);
  if (method !== 'GET') parts.push(`method="${method}"`);
  return `urllib.request.Request(\n    ${parts.join(',\n    ')},\n)`;
}

/** JSON, spelled as Python spells it. */
function pythonValue(value: unknown): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null) return 'None';
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${pythonValue(each)}`).join(', ')}}`; // prettier-ignore
}

/** For Python 3, with its standard library alone. */
export function pythonSnippet(baseUrl: string, steps: readonly Step[]): string {
  const last = steps.length - 1;
  const final = steps[last];
  const needsBase64 = final?.file !== undefined && !isApk(final);
  const needsJson = final?.savedAs === undefined || steps.some(({ body }) => body !== undefined);
  const modules = [...(needsBase64 ? ['base64'] : []), ...(needsJson ? ['json'] : []), 'os', 'urllib.request'];
  const lines = [...modules.map((name) => `import ${name}`), '', 'KEY = {"X-API-Key": os.environ["API_KEY"]}'];
  steps.forEach((step, index) => {
    lines.push(`request = ${pythonRequest(baseUrl, step)}`, 'with urllib.request.urlopen(request) as response:');
    if (index < last) lines.push(index === 0 ? '    session_id = json.load(response)["sessionId"]' : '    response.read()');
    else if (step.savedAs === undefined) lines.push('    print(response.status, json.load(response))');
    else lines.push(`    open("${step.savedAs}", "wb").write(response.read())`, `    print(response.status, "${step.savedAs}")`);
  });
  return lines.join('\n');
}
