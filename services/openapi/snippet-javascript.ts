import { isApk, sessionQuery, type Step } from './snippet-step';

/** JSON is valid JavaScript. Plain text reads better in single quotes. */
function literal(value: unknown): string {
  const json = JSON.stringify(value);
  return typeof value === 'string' && !/['\\]/.test(json) ? `'${value}'` : json;
}

/** An object with plain member names, as people write it; anything else as JSON. */
function valueOf(body: unknown, inSession: boolean): string {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return literal(body);
  const members = Object.entries(body).map(
    ([member, value]) => `${/^[A-Za-z_]\w*$/.test(member) ? member : JSON.stringify(member)}: ${literal(value)}`,
  );
  const all = [...(inSession ? ['sessionId'] : []), ...members];
  return all.length === 0 ? '{}' : `{ ${all.join(', ')} }`;
}

/** The lines that make a multipart form. */
function formLines({ fields, files }: NonNullable<Step['upload']>): string[] {
  return [
    'const form = new FormData();',
    ...fields.map(([name, value]) => `form.set(${literal(name)}, ${literal(value)});`),
    ...files.map((name) => `form.set(${literal(name)}, new Blob([await readFile(${literal(name)})]), ${literal(name)});`),
  ];
}

function javascriptCall(baseUrl: string, step: Step, name: string): string {
  const { method, target, headers: more = [], body, form, upload, file, inSession } = step;
  const session = sessionQuery(step, '${sessionId}');
  const url = session === '' ? `'${baseUrl}${target}'` : `\`${baseUrl}${target}${session}\``;
  const headers = [`'X-API-Key': process.env.API_KEY`, ...more.map(([member, value]) => `${literal(member)}: ${literal(value)}`)];
  const options = method === 'GET' ? [] : [`method: '${method}'`];
  if (body !== undefined) {
    headers.push(`'Content-Type': 'application/json'`);
    options.push(`body: JSON.stringify(${valueOf(body, inSession)})`);
  }
  if (form) options.push(`body: new URLSearchParams(${JSON.stringify(form)})`);
  if (upload) options.push('body: form');
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
  const { file, upload, savedAs, answersText } = steps[last] ?? {};
  const needed = [...(file || upload?.files.length ? ['readFile'] : []), ...(savedAs === undefined ? [] : ['writeFile'])];
  const lines = needed.length === 0 ? [] : [`import { ${needed.join(', ')} } from 'node:fs/promises';`, ''];
  if (upload) lines.push(...formLines(upload));
  steps.forEach((step, index) => {
    const name = index === last ? 'response' : index === 0 ? 'started' : `step${index + 1}`;
    lines.push(javascriptCall(baseUrl, step, name));
    if (index < last || savedAs !== undefined) lines.push(`if (!${name}.ok) throw new Error(await ${name}.text());`);
    if (index === 0 && last > 0) lines.push('const { sessionId } = await started.json();');
  });
  if (savedAs === undefined) lines.push(`console.log(response.status, await response.${answersText === true ? 'text' : 'json'}());`);
  else lines.push(`await writeFile('${savedAs}', response.body);`, `console.log(response.status, '${savedAs}');`);
  return lines.join('\n');
}
