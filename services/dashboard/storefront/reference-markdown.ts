import { type CatalogueProduct, refusesTestKeys } from '../../../plugins/core/catalogue/catalogue';
import { describeLimits, describePlan, formatPrice } from '../brand/wording';
import { FREE_PLAN } from '../reference/plan-name';
import { type FieldRow } from '../reference/schema-fields';
import { groupsOf } from './operation-groups';
import { answerTable, type FieldTable, inputTables, sampleCaption } from './operation-tables';
import { type Operation, successOf } from './operations';
import { MAX_TOGETHER, type OperationEntry, type ShownApi } from './shown-api';

/** Text on one line, because a line end would end a heading or a list's entry. */
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Code between fences that are longer than any fence in it. */
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

interface Addresses {
  /** The dashboard's own. */
  readonly url: string;
  readonly gatewayUrl: string;
}

function introduce(product: CatalogueProduct, { url, gatewayUrl }: Addresses): readonly string[] {
  const { title, description, base, plans } = product;
  const limits = [
    ...(base ? [`- ${FREE_PLAN}: ${describeLimits(base)}`] : []),
    ...plans.map((plan) => `- ${plan.name}, ${formatPrice(plan)} a month: ${describePlan(plan)}`),
  ];
  const calling = `The base URL is ${gatewayUrl}. Send the key as \`Authorization: Bearer <key>\` or \`X-API-Key: <key>\`.${
    refusesTestKeys(product) ? ' There is no sandbox: use a live key.' : ''
  } Each error has a page entry: ${url}/reference/errors`;
  return [`# ${title}`, `> ${oneLine(description)}`, ...(limits.length > 0 ? [limits.join('\n')] : []), calling];
}

/**
 * The reference of a product as Markdown, for programs that read. It says what the page says. If there are many operations, it is a list of
 * links, and each has a file of its own.
 */
export function writeReference(product: CatalogueProduct, api: ShownApi, addresses: Addresses): string {
  const isList = api.entriesOf(product.id).length > MAX_TOGETHER;
  const groups = groupsOf(api, product.id).flatMap(({ name, description: words, operations }) => [
    ...(name === undefined ? [] : [`## ${oneLine(name)}`]),
    ...(words === undefined ? [] : [words.trim()]),
    ...(isList
      ? [operations.map((operation) => linkTo(product, operation, addresses)).join('\n')]
      : operations.map((operation) => describeOperation(api.read(operation), name === undefined ? '##' : '###'))),
  ]);
  return `${[...introduce(product, addresses), ...groups].join('\n\n')}\n`;
}

function linkTo({ id }: CatalogueProduct, { operationId, method, path, summary }: OperationEntry, { url }: Addresses): string {
  return `- [${method} ${path}](${url}/reference/${id}/${operationId}.md): ${oneLine(summary)}`;
}

/** One operation of a product in the same way. */
export function writeOperation(product: CatalogueProduct, operation: Operation, addresses: Addresses): string {
  return `${[...introduce(product, addresses), describeOperation(operation, '##')].join('\n\n')}\n`;
}
