import { ANSWER_TIME_BOUNDS_MS } from '../../../../plugins/core/catalogue/answer-times';
import { fromMinor, toMinor } from '../../../../plugins/core/catalogue/money';
import { countWaitingPlans, readBusinessFigures } from '../../../selling/operators/business-figures';
import { type CustomerOrder, findCustomers, type ListedCustomer } from '../../../selling/operators/find-customers';
import { countNodes } from '../../../selling/operators/read-nodes';
import { updateChangedCustomers } from '../../../selling/operators/update-listing';
import { listOutages } from '../../../selling/outages/list-outages';
import { type homeEndpoints } from '../../contract/operator-home';
import { type Handlers } from '../../http/bind-endpoint';
import { type DashboardDeps, todayOf } from '../../http/dashboard-deps';
import { readAnswered } from './read-answered';

const TOP = 10;
const NOBODY = { active: 0, idle: 0, leaving: 0, suspended: 0 };

/** With the decimals of their currencies. */
export const toRates = (rates: ListedCustomer['rates']): { currency: string; price: string }[] =>
  rates.map(({ currency, amount }) => ({ currency, price: fromMinor(toMinor(amount, currency), currency) }));

/** Customers with the most use or growth, without those that have none. */
async function top(db: DashboardDeps['db'], order: CustomerOrder & ('used' | 'growth')): Promise<ListedCustomer[]> {
  const { customers } = await findCustomers(db, { limit: TOP, order, isDescending: true });
  return customers.filter((each) => each[order] > 0);
}

/** The console's first page. */
export const homeHandlers: Handlers<typeof homeEndpoints> = {
  'GET /operator/home': async (_call, deps) => {
    const { db } = deps;
    const day = todayOf(deps);
    await updateChangedCustomers(db, day);
    const [products, business, topByUse, topByGrowth, outages, plansWaiting, nodes] = await Promise.all([
      readAnswered(db, day),
      readBusinessFigures(db),
      top(db, 'used'),
      top(db, 'growth'),
      listOutages(db),
      countWaitingPlans(db),
      countNodes(db),
    ]);
    return {
      products,
      answerTimesMs: ANSWER_TIME_BOUNDS_MS,
      business: business ? { ...business, rates: toRates(business.rates), customers: { ...NOBODY, ...business.customers } } : null,
      topByUse,
      topByGrowth,
      outages: outages.filter(({ endedAt }) => endedAt === null),
      plansWaiting,
      nodes,
    };
  },
};
