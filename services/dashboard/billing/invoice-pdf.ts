import type PDFDocument from 'pdfkit';
import { type InvoiceView as Shown } from '../contract/billing';
import { type Given } from '../contract/endpoint';

type InvoiceView = Given<Shown>;

type Doc = InstanceType<typeof PDFDocument>;

/** Embedded, so that readers need not have the fonts and the text can be searched. */
const FONTS = {
  plain: require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
  bold: require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'),
} as const;

/** Points on A4. */
const PAGE = { left: 50, right: 545, bottom: 770, margin: 50 } as const;
const COLUMNS = { title: 50, days: 240, price: 295, surcharge: 382, amount: 455 } as const;
const ROW = 16;

/** Removes invisible characters that turn, hide or end the text beside them. */
const visible = (text: string): string => text.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim();

interface Cell {
  readonly text: string;
  readonly x: number;
  readonly width: number;
  readonly isRight?: boolean;
}

/** Cells of one row, each of which may wrap. A row that does not fit begins a page. */
function row(doc: Doc, given: readonly Cell[], font: keyof typeof FONTS = 'plain'): void {
  doc.font(FONTS[font]);
  const cells = given.map((cell) => ({ ...cell, text: visible(cell.text) }));
  const height = Math.max(...cells.map(({ text, width }) => doc.heightOfString(text, { width })));
  if (doc.y + height > PAGE.bottom) doc.addPage();
  const { y } = doc;
  for (const { text, x, width, isRight } of cells) doc.text(text, x, y, { width, align: isRight ? 'right' : 'left' });
  doc.y = y + Math.max(height + 4, ROW);
}

function block(doc: Doc, lines: readonly (string | null)[], x: number): number {
  const { y } = doc;
  const shown = lines.flatMap((line) => (line === null || line === '' ? [] : [visible(line)]));
  doc.font(FONTS.plain).text(shown.join('\n'), x, y, { width: 235 });
  const end = doc.y;
  doc.y = y;
  return end;
}

function partyLines({ name, address, country, taxId, email }: InvoiceView['seller'], taxName: string): (string | null)[] {
  return [name, ...address, country, taxId === null ? null : `${taxName}: ${taxId}`, email];
}

function head(doc: Doc, invoice: InvoiceView): void {
  const { number, kind, issuedOn, dueOn, month, credit, seller, buyerDetails, placeOfSupply, serviceCode, paidThrough } = invoice;
  const isCredit = kind === 'credit_note';
  doc
    .font(FONTS.bold)
    .fontSize(18)
    .text(`${isCredit ? 'Credit note' : 'Invoice'} ${number}`, PAGE.left, PAGE.margin);
  doc.fontSize(9).moveDown(0.8);
  const facts = [
    `Date: ${issuedOn}`,
    isCredit ? `${paidThrough === null ? 'Cancels' : 'Refund of'} invoice ${credit ?? ''}` : `Due: ${dueOn}`,
    `Month: ${month}`,
    placeOfSupply === null ? null : `Place of supply: ${placeOfSupply}`,
    serviceCode === null ? null : `SAC/HSN: ${serviceCode}`,
  ];
  doc.y = block(doc, facts, PAGE.left) + 14;
  const { y } = doc;
  doc.font(FONTS.bold).text('From', PAGE.left, y).text('To', 310, y);
  doc.y = y + 13;
  const taxName = seller.country === 'IN' ? 'GSTIN' : 'Tax ID';
  const buyerTaxName = buyerDetails.country === 'IN' ? 'GSTIN' : 'Tax ID';
  doc.y = Math.max(block(doc, partyLines(seller, taxName), PAGE.left), block(doc, partyLines(buyerDetails, buyerTaxName), 310)) + 18;
}

function rule(doc: Doc): void {
  doc.moveTo(PAGE.left, doc.y).lineTo(PAGE.right, doc.y).lineWidth(0.5).stroke('#999999');
  doc.y += 5;
}

const right = (text: string, x: number, width: number): Cell => ({ text, x, width, isRight: true });

function table(doc: Doc, { lines, currency, net, taxes, total }: InvoiceView): void {
  const { title, days, price, surcharge, amount } = COLUMNS;
  // A payment's lines have no days of a month.
  const hasDays = lines.some((line) => line.days > 0);
  const cells = (each: readonly [string, string, string, string, string]): Cell[] => [
    { text: each[0], x: title, width: hasDays ? 185 : 400 },
    ...(hasDays ? [right(each[1], days, 50), right(each[2], price, 85), right(each[3], surcharge, 70)] : []),
    right(each[4], amount, 90),
  ];
  row(doc, cells(['Description', 'Days', 'A month', 'Surcharge', `Amount ${currency}`]), 'bold');
  rule(doc);
  for (const line of lines) {
    const month =
      line.days > 0 ? ([`${line.days} of ${line.daysInMonth}`, line.price, line.surcharge] as const) : (['–', '–', '–'] as const);
    row(doc, cells([line.title, ...month, line.amount]));
  }
  rule(doc);
  const sum = (name: string, value: string, font: keyof typeof FONTS = 'plain'): void =>
    row(doc, [{ text: name, x: 310, width: 140 }, right(value, amount, 90)], font);
  sum('Net', net);
  for (const tax of taxes) sum(`${tax.name} ${tax.percent} %`, tax.amount);
  sum(`Total ${currency}`, total, 'bold');
}

/** An invoice or credit note as a searchable A4 document. The same invoice always gives the same text. */
export async function invoicePdf(invoice: InvoiceView): Promise<Uint8Array> {
  // Fonts and tables are an eighth of the dashboard's start-up time.
  const { default: Document } = await import('pdfkit');
  const { number, issuedOn, seller, notes, payment, reason, kind } = invoice;
  const created = new Date(`${issuedOn}T00:00:00Z`);
  const info = { Title: number, Author: seller.name, CreationDate: created, ModDate: created };
  const doc = new Document({ size: 'A4', margin: PAGE.margin, font: FONTS.plain, info });
  const chunks: Uint8Array[] = [];
  return new Promise((resolve, reject) => {
    doc.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    doc.on('error', reject);
    doc.on('end', () => resolve(Buffer.concat(chunks)));
    head(doc, invoice);
    table(doc, invoice);
    doc.y += 14;
    const asides = [...notes, kind === 'credit_note' ? `Reason: ${reason}` : null, payment === null ? null : `Payment: ${payment}`];
    for (const text of asides) if (text !== null) row(doc, [{ text, x: PAGE.left, width: 480 }]);
    doc.end();
  });
}
