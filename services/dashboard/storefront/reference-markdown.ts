import { type CatalogueProduct, refusesTestKeys } from '../../../plugins/core/catalogue/catalogue';
import { describeLimits, describePlan, formatPrice } from '../brand/wording';
import { type ApiDocument } from '../contract/api-document';
import { FREE_PLAN } from '../reference/plan-name';
import { type FieldRow } from '../reference/schema-fields';
import { groupsOf } from './operation-groups';
import { answerTable, type FieldTable, inputTables, sampleCaption } from './operation-tables';
import { type Operation, successOf } from './operations';

/** Text on one line: a heading or an entry of a list ends with it. */
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Code between fences that are longer than any in it. */
function fenced(code: string, language: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${code}\n${fence}`;
}

function listOf(caption: string, rows: readonly FieldRow[], isAnswer: boolean): string {
  const entries = rows.map(({ name, type, isRequired, notes, text }) => {
    const kind = isAnswer || !isRequired ? type : `${type}, required`;
    return `- \`${name}\`: ${oneLine(`${kind}. ${notes} ${text}`)}`;
  });
  return [`**${caption}**`, ...(entries.length > 0 ? [entries.join('\n')] : [])].join('\n\n');
}

function describeTable({ caption, rows, variants }: FieldTable, isAnswer = false): string {
  const each = variants.map((variant) => listOf(`${caption}: ${oneLine(variant.value)}`, variant.rows, isAnswer));
  return [...(rows.length > 0 || each.length === 0 ? [listOf(caption, rows, isAnswer)] : []), ...each].join('\n\n');
}

function describeAnswers({ responses }: Operation): string {
  const entries = Object.entries(responses).map(([status, { description }]) => `- ${status}: ${oneLine(description)}`);
  return `**Status codes**\n\n${entries.join('\n')}`;
}

function describeOperation(operation: Operation, level: string): string {
  const { method, path, summary, deprecated, description } = operation;
  const curl = operation['x-codeSamples'].find(({ lang }) => lang === 'curl');
  const answer = answerTable(operation);
  const sample = successOf(operation)?.sample;
  const parts = [
    `${level} ${oneLine(summary)}`,
    `\`${method} ${path}\`${deprecated === true ? ' (deprecated)' : ''}`,
    ...(description === undefined ? [] : [description.trim()]),
    ...inputTables(operation).map((table) => describeTable(table)),
    ...(curl ? [fenced(curl.source, 'sh')] : []),
    ...(answer ? [describeTable(answer, true)] : []),
    ...(sample ? [sampleCaption(operation), fenced(JSON.stringify(sample.value, null, 2), 'json')] : []),
    describeAnswers(operation),
  ];
  return parts.join('\n\n');
}

/** The reference of a product for readers that are programs: what its page says, as Markdown. */
export function writeReference(
  product: CatalogueProduct,
  document: ApiDocument,
  { url, gatewayUrl }: { url: string; gatewayUrl: string },
): string {
  const { id, title, description, base, plans } = product;
  const limits = [
    ...(base ? [`- ${FREE_PLAN}: ${describeLimits(base)}`] : []),
    ...plans.map((plan) => `- ${plan.name}, ${formatPrice(plan)} a month: ${describePlan(plan)}`),
  ];
  const groups = groupsOf(document, id).flatMap(({ name, description: words, operations }) => [
    ...(name === undefined ? [] : [`## ${oneLine(name)}`]),
    ...(words === undefined ? [] : [words.trim()]),
    ...operations.map((operation) => describeOperation(operation, name === undefined ? '##' : '###')),
  ]);
  const calling = `The base URL is ${gatewayUrl}. Send the key as \`Authorization: Bearer <key>\` or \`X-API-Key: <key>\`.${
    refusesTestKeys(product) ? ' There is no sandbox: use a live key.' : ''
  } Each error has a page entry: ${url}/reference/errors`;
  return `${[`# ${title}`, `> ${oneLine(description)}`, ...(limits.length > 0 ? [limits.join('\n')] : []), calling, ...groups].join('\n\n')}\n`;
}
