// SQL expressions for statements that name a subscription `s`, its plan, if it has one, `l` and its product `p`.

/** Requests or units a day without the customer's own cap. */
export const DAILY_BEFORE_CAP = 'COALESCE(s.daily_override, l.daily, p.daily)';

/** Requests or units a day above which the gateway refuses. */
export const DAILY_IN_FORCE = `LEAST(${DAILY_BEFORE_CAP}, s.daily_cap)`;

/** Requests or units a month above which the gateway refuses. */
export const MONTHLY_IN_FORCE = 'COALESCE(s.monthly_override, l.monthly, p.monthly)';

/** The rate at which requests may come. A plan without a rate has none, whatever the base limits say. NULL: no rate limit. */
export const RATE_IN_FORCE = 'COALESCE(s.rate_override, CASE WHEN s.plan_name IS NULL THEN p.rate ELSE l.rate END)';

/** The requests that the price includes, as JSON; NULL if the plan sells nothing above its limits. */
export const OVERAGE_IN_FORCE = 'overage_of(l.overage, s.daily_override, s.monthly_override)';
