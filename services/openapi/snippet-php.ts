import { bodyOf, type Step } from './snippet-step';

/** A text between PHP's single quotes. */
const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;

/** For PHP 8, with its standard library alone. A single call without files. */
export function phpSnippet(baseUrl: string, step: Step): string {
  const { method, target, headers: more = [] } = step;
  const body = bodyOf(step);
  const headers = [
    `'X-API-Key: ' . getenv('API_KEY')`,
    ...more.map(([name, value]) => quoted(`${name}: ${value}`)),
    ...(body ? [quoted(`Content-Type: ${body.type}`)] : []),
  ];
  const options = [
    `'method' => '${method}'`,
    `'header' => [${headers.join(', ')}]`,
    ...(body ? [`'content' => ${quoted(body.text)}`] : []),
    `'ignore_errors' => true`,
  ];
  return [
    '<?php',
    `$context = stream_context_create(['http' => [`,
    ...options.map((option) => `    ${option},`),
    ']]);',
    `$response = file_get_contents(${quoted(baseUrl + target)}, false, $context);`,
    `echo substr($http_response_header[0], 9, 3), ' ', $response, "\\n";`,
  ].join('\n');
}
