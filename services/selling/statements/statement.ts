import { type Overage, type QuotaLimits } from '../../../plugins/core/catalogue/catalogue';
import { fromMinor, shareOf, toMinor } from '../../../plugins/core/catalogue/money';
import { lowestStep } from '../catalogue/overage';
import { MonthUse } from './month-use';

/** The terms of a subscription from a time on, until the next ones. The limits are those that the price includes. */
export interface SubscriptionTerm extends QuotaLimits {
  readonly subscriptionId: string;
  readonly product: string;
  /** Null: the product's base limits. */
  readonly plan: string | null;
  /** A month, with the currency's decimals; `0.00` for the base limits. */
  readonly price: string;
  /** ISO 4217; null for the base limits. */
  readonly currency: string | null;
  /** Use that was sold above the limits; null: none. */
  readonly overage: Overage | null;
  /** Paused and cancelled subscriptions cost nothing. */
  readonly isActive: boolean;
  /** A payment provider charged the price: its days cost nothing here, only use above the limits. */
  readonly isPaidInAdvance: boolean;
  /** First and last day on which it held, even for a part of the day, `YYYY-MM-DD` in the quota time zone. */
  readonly fromDay: string;
  readonly toDay: string;
}

/** Use of one subscription on one day. Counts are units. */
export interface StatementUse {
  readonly subscriptionId: string;
  readonly day: string;
  /** Units of live keys: taken, and given back. */
  readonly charged: number;
  readonly refunded: number;
  /** Units of test keys that were not given back. They cost nothing. */
  readonly test: number;
  /** Admitted requests with live keys. */
  readonly requests: number;
}

/** Use above the limits, at the price for it. */
export interface LineOverage extends Overage {
  /** Units of the line's use that no plan of their day included, and that this plan admitted. */
  readonly units: number;
  /** Part of the line's amount, as `shareOverage` rounds it. */
  readonly amount: string;
}

/** One subscription on one plan at one price. */
export interface StatementLine extends QuotaLimits {
  readonly subscriptionId: string;
  readonly product: string;
  readonly plan: string | null;
  readonly price: string;
  readonly currency: string | null;
  /** Days of the month that are charged their share of the price; 0 while it was paused or cancelled. */
  readonly days: number;
  /**
   * Units on these days: charged, given back, and their difference, of which `monthly` were included. They include units that the line sold
   * above the limits, even on a day that is charged to a more expensive line.
   */
  readonly charged: number;
  readonly refunded: number;
  readonly used: number;
  readonly test: number;
  /** Admitted with live keys on these days. Null: it was closed before these were counted. */
  readonly requests: number | null;
  /** A payment provider charged the price, and charges the overage; the amount is the overage alone. */
  readonly isPaidInAdvance: boolean;
  /** `price × days ÷ days of the month`, as `shareDays` rounds it, the surcharge and the overage. With the currency's decimals. */
  readonly amount: string;
  /** Part of the amount for units beyond those that the days paid for; see `surchargeOf`. */
  readonly surcharge: string;
  /** Null if the plan sold nothing above its limits. */
  readonly overage: LineOverage | null;
}

export interface Statement {
  /** `YYYY-MM`. */
  readonly month: string;
  readonly daysInMonth: number;
  readonly lines: readonly StatementLine[];
  /** Sums of the lines that cost something, by currency, without what a payment provider charges. */
  readonly totals: readonly { readonly currency: string; readonly amount: string }[];
}

/** A line or a term, whose currency its amounts have. */
type Priced = Pick<SubscriptionTerm, 'price' | 'currency'>;

const priceOf = ({ price, currency }: Priced): bigint => toMinor(price, currency);

/** `price × days ÷ daysInMonth`, rounded half up to the currency's smallest unit. */
export function shareOfPrice({ price, currency }: Priced, days: number, daysInMonth: number): string {
  return fromMinor(shareOf(toMinor(price, currency), BigInt(days), BigInt(daysInMonth)), currency);
}

/** @param day `YYYY-MM-DD` */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}

export function daysOfMonth(month: string): string[] {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const count = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return Array.from({ length: count }, (_, index) => `${month}-${String(index + 1).padStart(2, '0')}`);
}

/**
 * The terms that count on a day: the active ones, the most expensive first, the last of equal ones before the others. The day is charged to
 * the first. If none is active it is the last one, which costs nothing.
 */
export function termsOfDay(terms: readonly SubscriptionTerm[], day: string): SubscriptionTerm[] {
  const held = terms.filter(({ fromDay, toDay }) => fromDay <= day && day <= toDay);
  const active = held.filter(({ isActive }) => isActive);
  if (active.length === 0) return held.slice(-1);
  return active.toReversed().toSorted((a, b) => Number(priceOf(b) - priceOf(a)));
}

type Growing = { -readonly [Member in keyof StatementLine]: StatementLine[Member] } & { requests: number };

function newLine({ subscriptionId, product, plan, price, currency, daily, monthly, overage, isPaidInAdvance }: SubscriptionTerm): Growing {
  const nothing = fromMinor(0n, currency);
  const none = { days: 0, charged: 0, refunded: 0, used: 0, test: 0, requests: 0, amount: nothing, surcharge: nothing };
  const above = overage && { ...overage, units: 0, amount: nothing };
  const inDecimals = fromMinor(toMinor(price, currency), currency);
  return { subscriptionId, product, plan, price: inDecimals, currency, daily, monthly, isPaidInAdvance, ...none, overage: above };
}

/**
 * What a customer used in a month, and what that costs. Every unit of a day on which the subscription is known is in exactly one line.
 * @param terms of the customer's subscriptions, each subscription's in their order; of equal ones on a day, the last is enough
 * @param use days without use may be left out; days before the first term of their subscription are
 */
export function computeStatement(month: string, terms: readonly SubscriptionTerm[], use: readonly StatementUse[]): Statement {
  const days = daysOfMonth(month);
  const lines = new Map<string, Growing>();
  const useOf = new Map(use.map((each) => [`${each.subscriptionId} ${each.day}`, each]));
  for (const subscriptionId of new Set(terms.map((each) => each.subscriptionId))) {
    const own = terms.filter((each) => each.subscriptionId === subscriptionId);
    const soFar = new MonthUse();
    for (const day of days) addDay(lines, { held: termsOfDay(own, day), soFar }, useOf.get(`${subscriptionId} ${day}`));
  }
  const shown = [...lines.values()].filter(({ days: cost, charged, refunded, test }) => cost + charged + refunded + test > 0);
  for (const own of bySubscription(shown)) shareDays(own, days.length);
  for (const line of shown) addSurcharge(line, { lines: shown, daysInMonth: days.length });
  for (const own of bySubscription(shown)) shareOverage(own);
  return { month, daysInMonth: days.length, lines: shown, totals: totalsOf(shown) };
}

/** Lines of one subscription in one currency. */
function bySubscription(lines: readonly Growing[]): Growing[][] {
  const groups = new Map<string, Growing[]>();
  for (const line of lines) {
    const key = JSON.stringify([line.subscriptionId, line.currency]);
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return [...groups.values()];
}

/** An amount before rounding, in fractions of the smallest payable unit. */
interface Exact {
  readonly line: Growing;
  readonly parts: bigint;
}

/**
 * What a subscription's lines cost. Their sum is rounded once, half up, and the difference goes to the lines with the largest remainders:
 * if each line were rounded, many plans of one price could cost more, or less, than one of them.
 */
function roundTogether(costs: readonly Exact[], partsInUnit: bigint): { readonly line: Growing; readonly units: bigint }[] {
  const whole = costs.reduce((sum, { parts }) => sum + parts / partsInUnit, 0n);
  const total = costs.reduce((sum, { parts }) => sum + parts, 0n);
  const left = Number(shareOf(total, 1n, partsInUnit) - whole);
  const first = new Set(costs.toSorted((a, b) => Number((b.parts % partsInUnit) - (a.parts % partsInUnit))).slice(0, left));
  return costs.map((cost) => ({ line: cost.line, units: cost.parts / partsInUnit + (first.has(cost) ? 1n : 0n) }));
}

function shareDays(own: readonly Growing[], daysInMonth: number): void {
  const costs = own.map((line) => ({ line, parts: line.isPaidInAdvance ? 0n : priceOf(line) * BigInt(line.days) }));
  for (const { line, units } of roundTogether(costs, BigInt(daysInMonth))) line.amount = fromMinor(units, line.currency);
}

/** `units × price ÷ per` of each line, in payable amounts of the currency. */
function shareOverage(own: readonly Growing[]): void {
  const sold = own.flatMap((line) => (line.overage ? [{ line, overage: line.overage }] : []));
  const per = [...new Set(sold.map(({ overage }) => overage.per))].reduce((product, each) => product * BigInt(each), 1n);
  const step = lowestStep(own[0]?.currency ?? null);
  const costs = sold.map(({ line, overage }) => {
    const price = toMinor(overage.price, line.currency);
    return { line, parts: (price * BigInt(overage.units) * per) / BigInt(overage.per) };
  });
  for (const { line, units } of roundTogether(costs, per * step)) addOverage(line, units * step);
}

/** Finds the line of a term's days and units: one for each plan, price and limits of a subscription. */
function lineOf(lines: Map<string, Growing>, term: SubscriptionTerm): Growing {
  const { subscriptionId, plan, price, currency, daily, monthly, overage, isPaidInAdvance } = term;
  const place = JSON.stringify([subscriptionId, plan, price, currency, daily, monthly, overage, isPaidInAdvance]);
  const line = lines.get(place) ?? newLine(term);
  lines.set(place, line);
  return line;
}

interface Day {
  /** See `termsOfDay`. */
  readonly held: readonly SubscriptionTerm[];
  /** The month before the day. */
  readonly soFar: MonthUse;
}

function addDay(lines: Map<string, Growing>, { held, soFar }: Day, use: StatementUse | undefined): void {
  const [term] = held;
  if (!term) return;
  const line = lineOf(lines, term);
  if (term.isActive) line.days += 1;
  if (!use) return;
  addUse(line, use);
  for (const sold of soFar.addDay(use.charged - use.refunded, held)) moveSold(sold.units, line, lineOf(lines, sold.term));
}

function addUse(line: Growing, use: StatementUse): void {
  line.charged += use.charged;
  line.refunded += use.refunded;
  line.used += use.charged - use.refunded;
  line.test += use.test;
  line.requests += use.requests;
}

/** Moves units above the limits to the line that sold them. On the line of their day they would be surcharged as well. */
function moveSold(units: number, ofDay: Growing, seller: Growing): void {
  ofDay.charged -= units;
  ofDay.used -= units;
  seller.charged += units;
  seller.used += units;
  if (seller.overage) seller.overage = { ...seller.overage, units: seller.overage.units + units };
}

function addOverage(line: Growing, minor: bigint): void {
  const { overage, currency } = line;
  if (!overage) return;
  line.overage = { ...overage, amount: fromMinor(minor, currency) };
  line.amount = fromMinor(toMinor(line.amount, currency) + minor, currency);
}

/** Plans are published for months of 30 days: a monthly limit of 30 daily limits is never surcharged. */
const SHARES_OF_MONTHLY = 30n;

/**
 * The cost of a line beyond its days: each paid day pays for a thirtieth of the monthly limit, and use beyond that costs as many further
 * days, up to the whole price. Otherwise a customer could use up a month in ten days, pause, and pay a third.
 */
function surchargeOf(line: StatementLine, daysInMonth: number): bigint {
  const { days, monthly, currency } = line;
  // Units charged as overage are not surcharged too.
  const used = line.used - (line.overage?.units ?? 0);
  if (used <= 0 || monthly <= 0) return 0n;
  const needed = (BigInt(used) * SHARES_OF_MONTHLY + BigInt(monthly) - 1n) / BigInt(monthly);
  const paid = needed > BigInt(daysInMonth) ? daysInMonth : Math.max(days, Number(needed));
  const costOf = (count: number): bigint => toMinor(shareOfPrice(line, count, daysInMonth), currency);
  return costOf(paid) - costOf(days);
}

/** All lines of a subscription together that no provider charged cost at most a month of its most expensive plan. */
function addSurcharge(line: Growing, { lines, daysInMonth }: { lines: readonly StatementLine[]; daysInMonth: number }): void {
  if (line.isPaidInAdvance) return;
  const isOwn = (each: StatementLine): boolean => each.subscriptionId === line.subscriptionId && each.currency === line.currency;
  const own = lines.filter((each) => isOwn(each) && !each.isPaidInAdvance);
  const dearest = own.map(priceOf).reduce((most, price) => (price > most ? price : most), 0n);
  const room = own.reduce((left, { amount }) => left - toMinor(amount, line.currency), dearest);
  const wanted = surchargeOf(line, daysInMonth);
  const surcharge = wanted < room ? wanted : room;
  if (surcharge <= 0n) return;
  line.surcharge = fromMinor(surcharge, line.currency);
  line.amount = fromMinor(toMinor(line.amount, line.currency) + surcharge, line.currency);
}

function totalsOf(lines: readonly StatementLine[]): Statement['totals'] {
  const sums = new Map<string, bigint>();
  for (const { currency, amount, isPaidInAdvance } of lines) {
    if (currency !== null && !isPaidInAdvance) sums.set(currency, (sums.get(currency) ?? 0n) + toMinor(amount, currency));
  }
  return [...sums].map(([currency, amount]) => ({ currency, amount: fromMinor(amount, currency) }));
}
