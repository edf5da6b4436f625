import { isApk, sessionQuery, type Step } from './snippet-step';

function pythonRequest(baseUrl: string, step: Step): string {
  const { method, target, headers: more = [], body, form, file, inSession } = step;
  const session = sessionQuery(step, '{session_id}');
  const parts = [session === '' ? JSON.stringify(baseUrl + target) : `f"${baseUrl}${target}${session}"`];
  const headers = more.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  if (body !== undefined) {
    headers.push('"Content-Type": "application/json"');
    const value = pythonValue(body);
    parts.push(`data=json.dumps(${inSession ? value.replace('{', '{"sessionId": session_id, ').replace(', }', '}') : value}).encode()`);
  } else if (form)
    parts.push(
      `data=urllib.parse.urlencode([${form.map(([name, value]) => `(${JSON.stringify(name)}, ${JSON.stringify(value)})`).join(', ')}]).encode()`,
    );
  else if (file && isApk(step)) {
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

/** JSON in Python's spelling. */
function pythonValue(value: unknown): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null) return 'None';
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${pythonValue(each)}`).join(', ')}}`; // prettier-ignore
}

/** Python raises for a status of 400 and above, which would hide the code from its reader. */
const SEND = [
  'def send(request):',
  '    try:',
  '        return urllib.request.urlopen(request)',
  '    except urllib.error.HTTPError as refusal:',
  '        return refusal',
];

/** For Python 3, with its standard library alone, which has no multipart forms. */
export function pythonSnippet(baseUrl: string, steps: readonly Step[]): string {
  const last = steps.length - 1;
  const final = steps[last];
  const needsBase64 = final?.file !== undefined && !isApk(final);
  const isText = final?.answersText === true;
  const needsJson = (final?.savedAs === undefined && !isText) || steps.some(({ body }) => body !== undefined);
  const needsExit = last > 0 || final?.savedAs !== undefined;
  const modules = [
    ...(needsBase64 ? ['base64'] : []),
    ...(needsJson ? ['json'] : []),
    'os',
    ...(needsExit ? ['sys'] : []),
    'urllib.error',
    ...(final?.form ? ['urllib.parse'] : []),
    'urllib.request',
  ];
  const lines = [...modules.map((name) => `import ${name}`), '', 'KEY = {"X-API-Key": os.environ["API_KEY"]}', '', '', ...SEND, '', ''];
  steps.forEach((step, index) => {
    lines.push(`request = ${pythonRequest(baseUrl, step)}`, 'with send(request) as response:');
    if (index < last || step.savedAs !== undefined)
      lines.push('    if response.status >= 400:', '        sys.exit(response.read().decode())');
    if (index < last) lines.push(index === 0 ? '    session_id = json.load(response)["sessionId"]' : '    response.read()');
    else if (step.savedAs !== undefined)
      lines.push(`    open("${step.savedAs}", "wb").write(response.read())`, `    print(response.status, "${step.savedAs}")`);
    else lines.push(`    print(response.status, ${isText ? 'response.read().decode()' : 'json.load(response)'})`);
  });
  return lines.join('\n');
}
