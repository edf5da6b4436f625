import { isApk, sessionQuery, type Step } from './snippet-step';

/** JSON is JavaScript; plain text reads better in its quotes. */
function literal(value: unknown): string {
  const json = JSON.stringify(value);
  return typeof value === 'string' && !/['\\]/.test(json) ? `'${value}'` : json;
}

function javascriptCall(baseUrl: string, step: Step, name: string): string {
  const { method, target, body, file, inSession } = step;
  const session = sessionQuery(step, '${sessionId}');
  const url = session === '' ? `'${baseUrl}${target}'` : `\`${baseUrl}${target}${session}\``;
  const headers = [`'X-API-Key': process.env.API_KEY`];
  const options = method === 'GET' ? [] : [`method: '${method}'`];
  if (body) {
    headers.push(`'Content-Type': 'application/json'`);
    const members = Object.entries(body).map(([member, value]) => `${member}: ${literal(value)}`);
    options.push(`body: JSON.stringify({ ${[...(inSession ? ['sessionId'] : []), ...members].join(', ')} })`);
  }
  if (file && isApk(step)) {
    headers.push(`'Content-Type': '${file.content_type}'`);
    options.push(`body: await readFile('${file.filename}')`);
  } else if (file) {
    headers.push(`'Content-Type': 'application/json'`);
    options.push(`body: JSON.stringify({ image_base64: await readFile('${file.filename}', 'base64') })`);
  }
  options.splice(method === 'GET' ? 0 : 1, 0, `headers: { ${headers.join(', ')} }`);
  return `const ${name} = await fetch(${url}, {\n  ${options.join(',\n  ')},\n});`;
}

/** For Node.js as a module, with its own fetch. */
export function javascriptSnippet(baseUrl: string, steps: readonly Step[]): string {
  const last = steps.length - 1;
  const { file, savedAs } = steps[last] ?? { file: undefined, savedAs: undefined };
  const needed = [...(file ? ['readFile'] : []), ...(savedAs === undefined ? [] : ['writeFile'])];
  const lines = needed.length === 0 ? [] : [`import { ${needed.join(', ')} } from 'node:fs/promises';`, ''];
  steps.forEach((step, index) => {
    const name = index === last ? 'response' : index === 0 ? 'started' : `step${index + 1}`;
    lines.push(javascriptCall(baseUrl, step, name));
    if (index === 0 && last > 0) lines.push('const { sessionId } = await started.json();');
    else if (index < last) lines.push(`if (!${name}.ok) throw new Error(await ${name}.text());`);
  });
  if (savedAs === undefined) lines.push('console.log(response.status, await response.json());');
  else lines.push(`await writeFile('${savedAs}', response.body);`, `console.log(response.status, '${savedAs}');`);
  return lines.join('\n');
}
