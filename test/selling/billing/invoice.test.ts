import { billingTerms, type BillingDetails, type InvoicingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { composeInvoices } from '../../../services/selling/billing/invoice';
import { computeStatement, type SubscriptionTerm } from '../../../services/selling/statements/statement';
import { parseCatalogue } from '../../../plugins/core/catalogue/parse-catalogue';
import { checkTaxId } from '../../../plugins/core/catalogue/tax-ids';
import { taxOn } from '../../../services/selling/billing/tax';
import { fc } from '../../support/fast-check';

const KARNATAKA = '29AAGCB7383J1Z4';
const MAHARASHTRA = '27AAPFU0939F1ZV';
const LADAKH = '38AAGCB7383J1Z5';
const seller = { name: 'Acme Data', address: ['12 MG Road', 'Bengaluru'], country: 'IN', tax_id: KARNATAKA };
const terms = (changes: object = {}): InvoicingTerms =>
  billingTerms.parse({
    provider: 'invoice',
    seller,
    invoices: { from: '2026-01' },
    tax: { gst: { rate: 18 } },
    ...changes,
  }) as InvoicingTerms;
const german = (vat: object): InvoicingTerms => terms({ seller: { ...seller, country: 'DE', tax_id: 'DE136695976' }, tax: { vat } });
const buyer = (country: string, taxId: string | null = null, state: string | null = null): BillingDetails => ({
  name: 'Buyer',
  address: ['Street 1'],
  country,
  state,
  taxId,
  email: null,
});
const linesOf = (net: bigint, details: BillingDetails | undefined, by: InvoicingTerms) =>
  taxOn(net, details, by).lines.map(({ name, percent, amount }) => `${name} ${percent} ${amount}`);

/** One of each country whose numbers are checked, as its tax office publishes examples. */
const VAT_NUMBERS = (
  'ATU13585627 BE0403019261 BG175074752 CY10259033P CZ25123891 DE136695976 DK13585628 EE100931558 EL094259216 ESB64717838 FI20774740 ' +
  'FR40303265045 GB980780684 HR33392005961 HU12892312 IE6433435F IT00743110157 LT119511515 LU15027442 LV40003521600 MT11679112 ' +
  'NL004495445B01 PL8567346215 PT501964843 RO18547290 SE123456789701 SI50223054 SK2022749619'
).split(' ');

describe('a tax number', () => {
  it.each(VAT_NUMBERS)('for VAT is known with its prefix and without, and no more once a digit differs: %s', (number) => {
    const country = number.startsWith('EL') ? 'GR' : number.slice(0, 2);
    for (const given of [number, number.slice(2)]) expect(checkTaxId(country, given)).toEqual({ value: number, kind: 'vat' });
    const place = number.search(/\d/);
    const changed = number.slice(0, place) + ((Number(number[place]) + 1) % 10) + number.slice(place + 1);
    expect(checkTaxId(country, changed).problem).toEqual(expect.any(String));
  });

  it.each(VAT_NUMBERS)('for VAT has one form, however it is typed: %s', (number) => {
    const country = number.startsWith('EL') ? 'GR' : number.slice(0, 2);
    const bare = number.slice(2);
    const typed = [' ', '.', ',', '-', '/'].map((sign) => `${bare.slice(0, 3)}${sign}${bare.slice(3, 6)}${sign}${bare.slice(6)}`);
    for (const given of [...typed, ...typed.map((each) => `${country} ${each}`), `${number.slice(0, 2)}-${bare}`.toLowerCase()])
      expect(checkTaxId(country, given)).toEqual({ value: number, kind: 'vat' });
    expect(checkTaxId(country, number.slice(0, 2) + number).problem).toEqual(expect.any(String));
  });

  it('of the seller is read from the catalogue in that form', () => {
    const catalogue = {
      provider: 'invoice',
      seller: { name: 'A', address: ['B'], country: 'GR', tax_id: 'GR 094.259.216' },
      invoices: { from: '2027-01' },
    };
    expect(billingTerms.parse(catalogue).seller?.tax_id).toBe('EL094259216');
  });

  it.each([
    ['IN', ' 27aapfu0939f1zv ', MAHARASHTRA, 'gstin'],
    ['IN', KARNATAKA, KARNATAKA, 'gstin'],
    ['DE', '136695976', 'DE136695976', 'vat'],
    ['GR', 'EL 094259216', 'EL094259216', 'vat'],
    ['US', '12-3456789', '12-3456789', 'other'],
  ])('of %s is read as it is printed: %s', (country, given, value, kind) => {
    expect(checkTaxId(country, given)).toEqual({ value, kind });
  });

  it.each([
    ['IN', '27AAPFU0939F1ZW'],
    ['IN', '27AAPFU0939F1Z'],
    ['DE', 'DE136695977'],
    ['US', '<script>'],
  ])('of %s with a wrong format or check digit is refused: %s', (country, given) => {
    expect(checkTaxId(country, given).problem).toEqual(expect.any(String));
  });

  it('is no GSTIN once any one of its characters differs', () => {
    fc.assert(
      fc.property(fc.nat(14), fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'), (place, character) => {
        fc.pre(MAHARASHTRA[place] !== character);
        const changed = MAHARASHTRA.slice(0, place) + character + MAHARASHTRA.slice(place + 1);
        expect(checkTaxId('IN', changed).problem).toEqual(expect.any(String));
      }),
    );
  });
});

describe('GST', () => {
  it.each([
    ['a buyer in the same state', buyer('IN', KARNATAKA), ['CGST 9 899', 'SGST 9 899']],
    ['a buyer of the same state without a GSTIN', buyer('IN', null, '29'), ['CGST 9 899', 'SGST 9 899']],
    ['a buyer in another state', buyer('IN', MAHARASHTRA), ['IGST 18 1798']],
    ['a buyer whose place is not known', undefined, ['CGST 9 899', 'SGST 9 899']],
    ['a buyer abroad', buyer('US'), ['IGST 18 1798']],
  ])('is by the place of supply: %s', (_what, details, lines) => {
    expect(linesOf(9_990n, details, terms())).toEqual(lines);
  });

  it('is not charged on exports under a letter of undertaking, which the invoice names', () => {
    const tax = taxOn(9_990n, buyer('US'), terms({ tax: { gst: { rate: 18, lut: 'AD290321000000X' } } }));
    expect(tax.lines.map(({ name, amount }) => [name, amount])).toEqual([['IGST', 0n]]);
    expect([tax.notes[0], tax.placeOfSupply]).toEqual([expect.stringContaining('AD290321000000X'), 'Outside India (US)']);
  });

  it('of a union territory without a legislature has its own name', () => {
    const ladakh = terms({ seller: { ...seller, tax_id: LADAKH } });
    expect(linesOf(100n, undefined, ladakh)).toEqual(['CGST 9 9', 'UTGST 9 9']);
  });
});

describe('VAT', () => {
  it.each([
    ['at home', buyer('DE', 'DE136695976'), ['VAT 19 1898']],
    ['where nothing is known', undefined, ['VAT 19 1898']],
    ['of a business in the Union', buyer('FR', 'FR40303265045'), ['VAT 0 0']],
    ['of anybody else where the table has a rate', buyer('FR'), ['VAT 20 1998']],
    ['of anybody else in the Union', buyer('IT'), ['VAT 19 1898']],
    ['outside the Union', buyer('US'), ['VAT 0 0']],
  ])('is by place and kind of the buyer: %s', (_what, details, lines) => {
    expect(linesOf(9_990n, details, german({ DE: 19, FR: '20' }))).toEqual(lines);
  });

  it('names the reverse charge, and what is outside its scope', () => {
    expect(taxOn(1n, buyer('FR', 'FR40303265045'), german({ DE: 19 })).notes[0]).toContain('Reverse charge');
    expect(taxOn(1n, buyer('US'), german({ DE: 19 })).notes[0]).toContain('Outside the scope');
  });
});

const term: SubscriptionTerm = {
  subscriptionId: 'one',
  product: 'api-ip',
  plan: 'Star',
  price: '499.00',
  currency: 'INR',
  daily: 10,
  monthly: 100,
  overage: null,
  isActive: true,
  isPaidInAdvance: false,
  fromDay: '2026-04-01',
  toDay: '2026-04-30',
};
const facts = { customer: 'asha@example.com', details: undefined, issuedOn: '2026-05-03', titleOf: (id: string) => id.toUpperCase() };

describe('the invoices of a statement', () => {
  it('are one for each currency in which something costs, and add up', () => {
    const free = { ...term, subscriptionId: 'free', plan: null, price: '0.00', currency: null };
    const yen = { ...term, subscriptionId: 'two', price: '4990', currency: 'JPY', toDay: '2026-04-10' };
    const made = composeInvoices(computeStatement('2026-04', [term, yen, free], []), { ...facts, terms: terms() });
    expect(made.map(({ currency, decimals, net, total, lines }) => [currency, decimals, net, total, lines.length])).toEqual([
      ['INR', 2, 49_900, 58_882, 1],
      ['JPY', 0, 1_663, 1_963, 1],
    ]);
    expect(made[0]).toMatchObject({
      dueOn: '2026-05-17',
      placeOfSupply: 'Karnataka (29)',
      buyer: { name: 'asha@example.com' },
      lines: [{ title: 'API-IP, plan Star', days: 30, daysInMonth: 30, amount: 49_900 }],
    });
  });

  it('have a line of their own for use above the limits, and nothing twice', () => {
    const overage = { per: 100, price: '20.00', cap: { daily: 100, monthly: 1_000 } };
    const use = [{ subscriptionId: 'one', day: '2026-04-01', charged: 47, refunded: 0, test: 0, requests: 47 }];
    const [made] = composeInvoices(computeStatement('2026-04', [{ ...term, overage }], use), { ...facts, terms: terms() });
    expect(made).toMatchObject({
      lines: [
        { title: 'API-IP, plan Star', days: 30, used: 10, amount: 49_900 },
        { title: 'API-IP, plan Star: 37 above the limits at 20.00 for 100', days: 0, used: 37, price: 0, amount: 740 },
      ],
      net: 50_640,
    });
  });

  it('have nothing that a payment provider charges', () => {
    const overage = { per: 100, price: '20.00', cap: { daily: 100, monthly: 1_000 } };
    const use = [{ subscriptionId: 'one', day: '2026-04-20', charged: 47, refunded: 0, test: 0, requests: 47 }];
    const paid = { ...term, overage, isPaidInAdvance: true, fromDay: '2026-04-11' };
    const compose = (terms_: (typeof term)[]) => composeInvoices(computeStatement('2026-04', terms_, use), { ...facts, terms: terms() });
    expect(compose([paid])).toEqual([]);
    expect(compose([{ ...term, toDay: '2026-04-10' }, paid])).toMatchObject([{ lines: [{ days: 10, amount: 16_633 }], net: 16_633 }]);
  });

  it('are none where nothing costs', () => {
    expect(composeInvoices(computeStatement('2026-04', [], []), { ...facts, terms: terms() })).toEqual([]);
  });
});

describe('billing in a catalogue', () => {
  const problemsOf = (billing: string): string[] =>
    (parseCatalogue(`version: 1\nproducts: []\nbilling:\n${billing}`).problems ?? []).map(({ place, message }) => `${place} ${message}`);
  const yaml = (changes: Readonly<Record<string, string>> = {}): string =>
    Object.entries({
      provider: 'invoice',
      seller: `{ name: Acme, address: [Street], country: IN, tax_id: ${KARNATAKA} }`,
      invoices: '{ from: 2026-04 }',
      tax: '{ gst: { rate: 18 } }',
      ...changes,
    })
      .map(([name, value]) => `  ${name}: ${value}\n`)
      .join('');

  it('is read with its defaults', () => {
    const { catalogue } = parseCatalogue(`version: 1\nproducts: []\nbilling:\n${yaml()}`);
    expect(catalogue?.billing?.invoices).toEqual({ for: 'monthly', from: '2026-04', series: 'INV', credit_series: 'CN', due_days: 14 });
  });

  it.each([
    [{ provider: 'paypal' }, 'billing.provider'],
    [{ seller: '{ name: Acme, address: [Street], country: IN, tax_id: 29AAGCB7383J1Z5 }' }, 'billing.seller.tax_id'],
    [{ invoices: '{ from: 2026-04, series: A, credit_series: A }' }, 'billing.invoices.credit_series'],
    [{ tax: '{ gst: { rate: 18 }, vat: { IN: 18 } }' }, 'billing.tax'],
    [{ tax: '{ vat: { DE: 19 } }' }, 'billing.tax.vat'],
    [{ invoices: '{ from: 2026-04, for: each_payment }' }, 'billing.invoices.for must be monthly with invoice'],
    [{ provider: 'stripe' }, 'billing.invoices.for must be each_payment or provider with stripe'],
    [{ provider: 'razorpay', invoices: '{ for: each_payment }' }, 'billing.invoices.from'],
  ])('is refused with what is wrong: %j', (changes, place) => {
    expect(problemsOf(yaml(changes))).toEqual([expect.stringContaining(place)]);
  });

  it.each(['stripe', 'razorpay'])('may have invoices for each payment with %s, by a seller and tax that are checked alike', (provider) => {
    const invoices = '{ from: 2026-04, for: each_payment }';
    expect(problemsOf(yaml({ provider, invoices }))).toEqual([]);
    expect(problemsOf(yaml({ provider, invoices: invoices.replace('each_payment', 'provider') }))).toEqual([]);
    expect(problemsOf(yaml({ provider, invoices, tax: '{ vat: { DE: 19 } }' }))).toEqual([expect.stringContaining('billing.tax.vat')]);
    expect(problemsOf(`  provider: ${provider}\n  tax: { gst: { rate: 18 } }\n`)).toEqual([
      expect.stringContaining(`billing.tax is for invoices of Tollgate: add invoices, or set it up at ${provider}`),
    ]);
  });
});
